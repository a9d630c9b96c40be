// SPDX-License-Identifier: MIT
#include "savings/counted_ticks.h"

#include "instructions/counted_tick.h"
#include "savings/warm_server.h"

#include <algorithm>

namespace replayout::bench {

namespace {

/// A multiple of the periods of all rows, so that each object changes as often as another one.
constexpr std::uint32_t ticks_max = 20;

}  // namespace

CountedTicks play_counted_ticks(const SavingsRow& row, std::uint32_t connections,
                                SharingLevel sharing) {
    CountedTicks counted;
    WarmServer server(row, connections, sharing);
    if (server.is_good() && !row.is_join) {
        (void)server.join();
    }
    if (!server.is_good()) {
        counted.error = server.error();
        return counted;
    }
    if (!row.is_join) {
        server.warm_up();
    }
    const std::uint64_t bytes_before = server.server().stats().bytes_sent;
    counted.ticks = row.is_join ? 1 : std::min(ticks_max, server.ticks_left());
    replayout_phase_ends();
    if (row.is_join) {
        (void)server.join();
    }
    for (std::uint32_t i = 0; !row.is_join && i < counted.ticks; ++i) {
        (void)server.tick();
    }
    replayout_phase_ends();
    counted.bytes = server.server().stats().bytes_sent - bytes_before;
    counted.error = server.error();
    return counted;
}

}  // namespace replayout::bench
