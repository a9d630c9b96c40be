// SPDX-License-Identifier: MIT
//
// Workload W1, played through our server and through the yardsticks beside it, in turn, so that a
// ratio is of what the same machine did in the same moment. Each has a scene of its own with the
// same seed, and its clock runs when that has played the tick's changes.
//
// All of it is played twice, as memory that a subject has just used costs it less, and one subject
// more than the other:
//
//     warm    ours 0 to 49     naive, polling 0 to 49     ...     memcpy 0 to 49
//             ours 50 to 99    ...
//     cold    ours 0     naive, polling 0     naive, dirty list 0     shared once 0     memcpy 0
//             ours 1     naive, polling 1     ...
//
// Warm, all but the first of a turn's ticks (W1Options::turn) find what the subject's own last tick
// left in the caches: so are libraries measured that are measured alone. Cold, each tick finds them
// full of what four others went through, as behind the tick of a game.
#pragma once

#include "w1/w1_options.h"

#include <cstdint>
#include <string>

namespace replayout::bench {

/// Medians of ticks, in nanoseconds.
struct W1Times {
    double ours_ns = 0;                 ///< tick_dispatch, which takes the acks, and tick_flush
    double ours_compare_encode_ns = 0;  ///< of tick_flush until the first datagram is handed over
    double ours_assembly_ns = 0;        ///< the rest of both
    double ours_dispatch_ns = 0;        ///< tick_dispatch alone
    double marking_ns = 0;              ///< of the game, with push; in none of the others
    double naive_poll_ns = 0;
    double naive_dirty_ns = 0;
    double shared_once_ns = 0;
    double memcpy_ns = 0;
};

/// Each time by its name among the figures, in their order.
struct W1Figure {
    const char* name;
    double W1Times::*ns;
};
inline constexpr W1Figure w1_figures[] = {
    {"ours_ns", &W1Times::ours_ns},
    {"ours_compare_encode_ns", &W1Times::ours_compare_encode_ns},
    {"ours_assembly_ns", &W1Times::ours_assembly_ns},
    {"ours_dispatch_ns", &W1Times::ours_dispatch_ns},
    {"marking_ns", &W1Times::marking_ns},
    {"naive_poll_ns", &W1Times::naive_poll_ns},
    {"naive_dirty_ns", &W1Times::naive_dirty_ns},
    {"shared_once_ns", &W1Times::shared_once_ns},
    {"memcpy_ns", &W1Times::memcpy_ns},
};

/// What is no time is of all ticks, the warm ones and the cold ones.
struct W1Result {
    /// More than the workload is defined for: nothing was measured. Empty: it was.
    std::string refusal;
    /// What was sent is not exactly what changed. Empty: it is.
    std::string error;

    W1Times warm;  ///< each subject by turns of W1Options::turn ticks
    W1Times cold;  ///< by turns of one tick

    double bytes_per_connection = 0;        ///< of a tick, packet headers included
    double naive_bytes_per_connection = 0;  ///< of all yardsticks but memcpy, which has ours
    double packets_per_tick = 0;            ///< for one connection
    std::uint32_t packets_of_tick_max = 0;  ///< likewise
    double objects_per_tick = 0;            ///< that changed
    double values_per_tick = 0;             ///< likewise
    double values_encoded_per_tick = 0;
    /// Of operator new in all timed ticks; the driver's memory resource takes from there.
    std::uint64_t allocations = 0;
    double bytes_per_pair = 0;  ///< MemoryReport
    double hit_rate = 0;        ///< blocks that were copied from a payload or bundle, of all sent
};

[[nodiscard]] W1Result run_w1(const W1Options& options);

/// One screen for people.
[[nodiscard]] std::string report(const W1Options& options, const W1Result& result);
[[nodiscard]] std::string to_json(const W1Options& options, const W1Result& result);

}  // namespace replayout::bench
