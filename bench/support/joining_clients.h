// SPDX-License-Identifier: MIT
//
// A world that is there, and real clients that join it one after the other: how long a server's
// ticks take meanwhile, how soon everybody has everything, and what that is encoded for.
//
//     const JoinResult result = join_clients({.clients = 100, .objects = 20'000});
#pragma once

#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <string>
#include <vector>

namespace replayout::bench {

struct JoinSettings {
    std::uint32_t clients = 100;
    std::uint32_t objects = 20'000;
    std::uint32_t changes_per_tick = 0;  ///< of objects, in turn, while they join
    std::uint32_t ticks_per_second = 60;
    /// The first client comes with the first tick, the last one this much later.
    double join_seconds = 1.0;
    std::uint32_t latency_ms = 40;  ///< each way
    std::uint32_t opens_per_flush_max = NetConfig().initial_opens_per_flush_max;
};

struct JoinResult {
    std::string error;  ///< empty: all of the below is so
    /// Of tick_dispatch and tick_flush of the server alone, in order of ticks: time of the
    /// processor, so that the worst is not that of the machine's other work.
    std::vector<double> tick_ms;
    std::uint32_t clients = 0;
    std::uint32_t objects = 0;
    std::uint32_t batches_started = 0;   ///< clients whose world was told so
    std::uint32_t batches_finished = 0;  ///< likewise
    std::uint64_t opens_in_flush_max = 0;
    std::uint64_t objects_equal = 0;     ///< over all clients: there, and with the server's values
    std::uint64_t values_to_encode = 0;  ///< that differ from the archetype when it began
    std::uint64_t values_changed = 0;    ///< since
    double seconds = 0;                  ///< of the game's time, until all had all
    NetStats stats;                      ///< of the server
    MemoryReport memory;                 ///< likewise
};

/// Until every client has been told that it has all; an error where that takes a minute.
[[nodiscard]] JoinResult join_clients(const JoinSettings& settings);

}  // namespace replayout::bench
