// SPDX-License-Identifier: MIT
//
// How old what a client shows may be, in ticks, in a world that never settles
// (SwarmConfig::is_busy). Every craft changes in every tick, so all is owed for ever, and what
// counts is that all of it goes in turns. The bounds are functions of what is pending, the budget,
// and what is lost:
//
//     rounds = pending bytes / budget of a tick          to send everything once
//     bound  = factor x rounds / arriving share / priority share + round trips
//
// The factors are generous. They are the only numbers to change where the driver promises more.
#pragma once

#include <cstdint>

namespace replayout::test {

/// What stands between a write of the game and the client that is to show it.
struct BusyLoad {
    std::uint64_t pending_bytes = 0;     ///< of all objects of the client, sent whole
    std::uint64_t bytes_per_second = 1;  ///< the cap
    std::int64_t tick_us = 1;
    std::int64_t round_trip_us = 0;
    std::uint32_t lost_per_mille = 0;  ///< of the packets either way
    float priority_share = 1;          ///< its priority, divided by the largest that any object has
};

struct BusyBounds {
    // Factors of the time in which all goes out once.
    double shown_factor = 1.5;
    double opened_factor = 1.5;
    /// Round trips, with the losses and timers in them.
    double round_trips = 12;
    /// For what the budget saves up and lends, and the turn of a packet of the largest size.
    double grace_seconds = 2;
};

namespace busy_bounds {

/// Ticks in which all that is pending goes out and arrives once.
[[nodiscard]] inline double rounds(const BusyLoad& load) noexcept {
    const double budget =
        static_cast<double>(load.bytes_per_second) * static_cast<double>(load.tick_us) / 1e6;
    const double arriving = 1 - static_cast<double>(load.lost_per_mille) / 1'000;
    return (static_cast<double>(load.pending_bytes) / budget + 1) / (arriving * arriving) /
           static_cast<double>(load.priority_share);
}

[[nodiscard]] inline std::uint64_t ticks(const BusyLoad& load, double factor,
                                         const BusyBounds& bounds) noexcept {
    const double waits_us =
        bounds.round_trips * static_cast<double>(load.round_trip_us) + bounds.grace_seconds * 1e6;
    return static_cast<std::uint64_t>(factor * rounds(load) +
                                      waits_us / static_cast<double>(load.tick_us));
}

/// From a write until an object that is open shows it, or a later one.
[[nodiscard]] inline std::uint64_t shown_ticks(const BusyLoad& load,
                                               const BusyBounds& bounds = {}) noexcept {
    return ticks(load, bounds.shown_factor, bounds);
}

/// From when an object is there and its client has joined until it is open.
[[nodiscard]] inline std::uint64_t opened_ticks(const BusyLoad& load,
                                                const BusyBounds& bounds = {}) noexcept {
    return ticks(load, bounds.opened_factor, bounds);
}

}  // namespace busy_bounds

}  // namespace replayout::test
