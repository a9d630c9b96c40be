// SPDX-License-Identifier: MIT
//
// A match from options to result: played once, and with --report once more to be
// counted; then what the calls took is measured.
#pragma once

#include "match/match_result.h"
#include "match/match_world.h"
#include "match/recording.h"

#include <vector>

namespace replayout::match {

[[nodiscard]] MatchResult play_match(const MatchOptions& options,
                                     const std::vector<Recording>& recordings,
                                     const MatchSchema& schema);

}  // namespace replayout::match
