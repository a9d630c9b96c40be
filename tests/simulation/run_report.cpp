// SPDX-License-Identifier: MIT
#include "simulation/run_report.h"

#include <algorithm>
#include <string>
#include <utility>

namespace replayout::test {

namespace {

void print_row(std::FILE* file, std::string_view name, std::uint64_t value) {
    std::fprintf(file, "  %-28.*s %14llu\n", static_cast<int>(name.size()), name.data(),
                 static_cast<unsigned long long>(value));
}

}  // namespace

void RunReport::add(const SwarmConfig& config, const RunResult& result) {
    ++run_count_;
    failure_count_ += result.is_good() ? 0u : 1u;
    tick_count_ += result.tick_digests.size();
    for (const Feature feature : config.features.list()) {
        ++features_[static_cast<std::size_t>(feature)];
    }
    sum_.faults.add(result.faults);
    sum_.clients.add(result.clients);
    sum_.game.add(result.game);
    for (std::size_t i = 0; i < close_reason_count; ++i) {
        sum_.closed[i] += result.closed[i];
    }
    sum_.partitions += result.partitions;
    sum_.rebinds += result.rebinds;
    sum_.crashes += result.crashes;
    sum_.hitches += result.hitches;
    sum_.clock_steps += result.clock_steps;
    sum_.tight_joins += result.tight_joins;
    sum_.tight_ends += result.tight_ends;
    sum_.secrets_seen += result.secrets_seen;
    sum_.seeks += result.seeks;
    healed_ms_max_ = std::max(healed_ms_max_, result.healed_ms);
    for (std::size_t i = 0; i < wait_kind_count; ++i) {
        sum_.waits[i] = std::max(sum_.waits[i], result.waits[i]);
    }
}

void RunReport::print(std::FILE* file, double seconds) const {
    std::fprintf(file, "%llu runs, %llu wrong, %.1f s, %.1f runs/s\n",
                 static_cast<unsigned long long>(run_count_),
                 static_cast<unsigned long long>(failure_count_), seconds,
                 static_cast<double>(run_count_) / std::max(seconds, 0.001));
    const FaultCounts& faults = sum_.faults;
    const auto wait = [this](WaitKind kind) { return sum_.waits[static_cast<std::size_t>(kind)]; };
    const std::pair<const char*, std::uint64_t> rows[] = {
        {"ticks", tick_count_},
        {"packets sent", faults.sent},
        {"bytes sent", faults.bytes},
        {"packets delivered", faults.delivered},
        {"lost", faults.lost},
        {"duplicated", faults.duplicated},
        {"delayed by a spike", faults.delayed},
        {"corrupt, dropped", faults.corrupt},
        {"parted", faults.parted},
        {"dropped by a bottleneck", faults.tail_dropped},
        {"replayed", faults.replayed},
        {"to nobody", faults.unreachable},
        {"receive queue full", faults.overrun},
        {"hostile", faults.hostile},
        {"partitions", sum_.partitions},
        {"addresses changed", sum_.rebinds},
        {"crashes", sum_.crashes},
        {"hitches", sum_.hitches},
        {"clock steps", sum_.clock_steps},
        {"joins with tight memory", sum_.tight_joins},
        {"ended by it", sum_.tight_ends},
        {"joins", sum_.clients.joins},
        {"crafts spawned", sum_.game.spawned},
        {"crafts removed", sum_.game.removed},
        {"writes", sum_.game.writes},
        {"calls of the server", sum_.game.calls},
        {"calls of clients", sum_.clients.calls_made},
        {"reactions to calls", sum_.game.reactions},
        {"values judged", sum_.clients.values_judged},
        {"notifies judged", sum_.clients.notifies_judged},
        {"calls judged", sum_.clients.calls_judged},
        {"crafts of a class lacked", sum_.clients.crafts_lacked},
        {"secrets seen by owners", sum_.secrets_seen},
        {"seeks in recordings", sum_.seeks},
        {"longest healing, ms", healed_ms_max_},
        {"longest wait of a new craft, % of the bound", wait(WaitKind::New)},
        {"of a shown one that changed", wait(WaitKind::Shown)},
        {"of what was lost", wait(WaitKind::Lost)},
        {"of a large value", wait(WaitKind::Value)},
        {"of a call", wait(WaitKind::Call)},
        {"of a join", wait(WaitKind::Join)},
    };
    for (const auto& [name, value] : rows) {
        print_row(file, name, value);
    }
    std::fprintf(file, "connections ended at the server\n");
    for (std::size_t i = 1; i < close_reason_count; ++i) {
        if (sum_.closed[i] != 0) {
            print_row(file, to_string(CloseReason(i)), sum_.closed[i]);
        }
    }
    std::fprintf(file, "runs with each feature\n");
    for (std::size_t i = 0; i < feature_count; ++i) {
        print_row(file, to_string(Feature(i)), features_[i]);
    }
    for (std::size_t i = 0; i < feature_count; ++i) {
        if (features_[i] == 0) {
            std::fprintf(file, "no run had %s\n", std::string(to_string(Feature(i))).c_str());
        }
    }
}

}  // namespace replayout::test
