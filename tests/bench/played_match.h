// SPDX-License-Identifier: MIT
//
// Small matches that tests play.
#pragma once

#include "match/battle/battle.h"
#include "match/session/match_play.h"
#include "support/checks/catch.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace replayout::test {

/// A battle of six players.
[[nodiscard]] inline match::Recording battle_of(std::uint32_t ticks, std::uint64_t seed = 1) {
    return match::make_battle({.seed = seed, .tick_count = ticks, .player_count = 6});
}

[[nodiscard]] inline std::unique_ptr<match::MatchSchema> schema_of(
    const std::vector<match::Recording>& recordings, const match::MatchOptions& options) {
    auto schema =
        match::MatchSchema::create(recordings, {options.is_push_based, options.is_quantised});
    REQUIRE(schema);
    return *std::move(schema);
}

/// Within this process, without a word.
[[nodiscard]] inline match::MatchResult played(match::MatchOptions options,
                                               const std::vector<match::Recording>& recordings) {
    options.is_quiet = true;
    auto result = match::play_match(options, recordings, *schema_of(recordings, options));
    REQUIRE(result);
    return *std::move(result);
}

}  // namespace replayout::test
