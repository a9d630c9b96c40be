// SPDX-License-Identifier: MIT
#include "w1/w1_limits.h"

#include "support/pair_limit.h"
#include "support/report/report_text.h"
#include "support/server_session.h"
#include "support/workloads/pawn.h"

namespace replayout::bench {

namespace {

constexpr std::uint32_t objects_to_try_first = 10'000;

}  // namespace

std::string refusal_of(const W1Options& options) {
    if (options.objects % PawnScene::period_ticks != 0) {
        return "--objects: " + std::to_string(options.objects) + " is not a multiple of " +
               std::to_string(PawnScene::period_ticks);
    }
    if (std::uint64_t{options.objects} * options.connections > pairs_max) {
        return grouped(options.objects) + " objects and " + grouped(options.connections) +
               " connections need too much memory: " + grouped(pairs_max) +
               " pairs of them at most";
    }
    return {};
}

std::string refusal_of(const W1Options& options, const ServerSession& session) {
    const std::uint32_t packets = session.packets_of_tick_max();
    return packets <= options.packets_per_tick_max
               ? std::string()
               : grouped(options.objects) + " objects take " + grouped(packets) +
                     " packets a tick for each connection, and W1 is defined for " +
                     grouped(options.packets_per_tick_max) + ": take fewer objects";
}

bool is_tried_first(const W1Options& options) noexcept {
    return options.objects > objects_to_try_first && options.connections > 1;
}

}  // namespace replayout::bench
