// SPDX-License-Identifier: MIT
//
// What a match leaves in its recording as game data: enough to make its classes again, and the
// built-in battle, without the traces. The first byte is its version.
#pragma once

#include "match/recording/recording.h"
#include "match/session/match_options.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace replayout::match {

struct RecordedMatch {
    bool is_battle = false;
    bool is_push_based = false;
    bool is_quantised = false;
    std::uint64_t seed = 0;
    std::uint64_t ticks = 0;            ///< that were played
    std::vector<Recording> recordings;  ///< names, classes and counts of objects alone
};

[[nodiscard]] std::vector<std::byte> encode_recorded_match(const MatchOptions& options,
                                                           std::span<const Recording> recordings,
                                                           std::uint64_t ticks);
/// False: it is not what the above wrote.
[[nodiscard]] bool decode_recorded_match(std::span<const std::byte> bytes, RecordedMatch& match);

}  // namespace replayout::match
