// SPDX-License-Identifier: MIT
//
// What all drivers of a match have in common: servers, clients, and players of what was recorded.
#pragma once

#include "match/battle/match_world.h"
#include "match/session/match_options.h"

#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <memory_resource>

namespace replayout::match {

/// How long a tick of the match is, in microseconds: 1/30 s.
inline constexpr std::int64_t match_tick_us = 33'333;

/// For recordings that hold whatever their format can.
[[nodiscard]] NetConfig match_config();
/// With that config, and names for the judge.
[[nodiscard]] NetDriverSettings match_driver_settings(
    std::uint64_t seed = 1, SharingLevel sharing = SharingLevel::Bundles,
    MemoryResource* resource = std::pmr::get_default_resource());
/// Between processes: an end that is silent for as long as the options let it wait is given up, if
/// that is less than match_timeout_s_max.
void set_timeout(const MatchOptions& options, NetConfig& config);
inline constexpr double match_timeout_s_max = 10;
/// All classes of the match, to a driver that has not started.
[[nodiscard]] Status add_match_layouts(const MatchSchema& schema, NetDriver& driver);
/// Set-up that only a mistake of ours can make fail.
void require(const Status& status);
/// The same of what a file says. Throws std::runtime_error.
void check(const Status& status);

}  // namespace replayout::match
