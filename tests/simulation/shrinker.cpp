// SPDX-License-Identifier: MIT
#include "simulation/shrinker.h"

#include <algorithm>

namespace replayout::test {

SwarmConfig Shrinker::shrink(const SwarmConfig& wrong, std::uint32_t wrong_tick) {
    best_ = wrong;
    drop_ticks(wrong_tick);
    drop_features();
    drop_clients_and_objects();
    for (const RunPart part :
         {RunPart::Events, RunPart::Network, RunPart::Clients, RunPart::Game}) {
        cut_part(part);
    }
    drop_features();
    drop_ticks(best_.tick_count - 1);
    return best_;
}

bool Shrinker::try_out(const SwarmConfig& smaller) {
    if (runs_left_ == 0 || !is_wrong_(smaller)) {
        runs_left_ -= runs_left_ == 0 ? 0 : 1;
        return false;
    }
    --runs_left_;
    best_ = smaller;
    return true;
}

void Shrinker::drop_features() {
    for (const Feature feature : best_.features.list()) {
        SwarmConfig smaller = best_.redrawn();
        smaller.features.remove(feature);
        (void)try_out(smaller.redrawn());
    }
}

void Shrinker::drop_ticks(std::uint32_t wrong_tick) {
    if (wrong_tick + 1 < best_.tick_count) {
        SwarmConfig smaller = best_;
        smaller.tick_count = wrong_tick + 1;
        (void)try_out(smaller);
    }
    for (std::uint32_t step = best_.tick_count / 2; step > 0; step /= 2) {
        SwarmConfig smaller = best_;
        smaller.tick_count -= std::min(step, smaller.tick_count - 1);
        if (smaller.tick_count < best_.tick_count && try_out(smaller)) {
            step = best_.tick_count;  // begins anew with half of what is left
        }
    }
}

void Shrinker::drop_clients_and_objects() {
    for (std::uint32_t count = 1; count < best_.client_count; ++count) {
        SwarmConfig smaller = best_;
        smaller.client_count = count;
        if (try_out(smaller)) {
            break;
        }
    }
    for (std::uint32_t count = 2; count < best_.object_max; count += count / 2) {
        SwarmConfig smaller = best_;
        smaller.object_max = count;
        if (try_out(smaller)) {
            break;
        }
    }
}

void Shrinker::cut_part(RunPart part) {
    for (std::uint32_t length = best_.tick_count; length > 0; length /= 2) {
        for (std::uint32_t first = 0; first < best_.tick_count; first += length) {
            SwarmConfig smaller = best_;
            if (smaller.add_cut({part, first, std::min(first + length, best_.tick_count)})) {
                (void)try_out(smaller);
            }
            if (length == best_.tick_count || runs_left_ == 0) {
                break;
            }
        }
        if (best_.is_cut(part, 0, best_.tick_count)) {
            return;
        }
    }
}

}  // namespace replayout::test
