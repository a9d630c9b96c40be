// SPDX-License-Identifier: MIT
//
// --play: a recorded match, shown again, and judged where there is something to judge it by.
#pragma once

#include "match/recording/recording.h"
#include "match/session/match_options.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace replayout::match {

struct ReplayVerdict {
    std::uint32_t crc32 = 0;         ///< as the end of a match has it, of what is shown
    std::uint32_t server_crc32 = 0;  ///< of what the server of the match had
    std::string difference;          ///< the first one; empty: none

    [[nodiscard]] bool is_equal() const noexcept {
        return difference.empty() && crc32 == server_crc32;
    }
};

struct ReplayResult {
    bool is_whole = false;
    double start_s = 0;
    double end_s = 0;
    double shown_s = 0;  ///< the place that is shown, from the start
    std::uint64_t checkpoints = 0;
    std::uint64_t objects = 0;
    std::uint32_t world_crc32 = 0;         ///< of all that is shown, by network id
    std::optional<ReplayVerdict> verdict;  ///< of that place; none where nobody knows
    std::uint64_t seeks = 0;
    std::uint64_t seeks_equal = 0;
    std::string first_difference;

    [[nodiscard]] bool is_good() const noexcept {
        return (!verdict.has_value() || verdict->is_equal()) && seeks_equal == seeks;
    }
};

/// `traces`: those that were played, if any were named. Throws std::runtime_error with a sentence
/// where the file cannot be played, is of another match, or ends before what is to be shown.
[[nodiscard]] ReplayResult play_replay(const MatchOptions& options,
                                       const std::vector<Recording>& traces);

[[nodiscard]] std::string report(const MatchOptions& options, const ReplayResult& result);
[[nodiscard]] std::string to_json(const MatchOptions& options, const ReplayResult& result);

}  // namespace replayout::match
