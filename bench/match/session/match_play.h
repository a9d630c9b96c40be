// SPDX-License-Identifier: MIT
//
// A match from options to result: played once, and with --report once more to be
// counted; then what the calls took is measured. Or one side of it, where the other is elsewhere.
#pragma once

#include "match/battle/match_world.h"
#include "match/guests/guests_result.h"
#include "match/recording/recording.h"
#include "match/session/match_result.h"

#include <vector>

namespace replayout::match {

/// Within this process. Errors are those of make_network().
[[nodiscard]] Result<MatchResult> play_match(const MatchOptions& options,
                                             const std::vector<Recording>& recordings,
                                             const MatchSchema& schema);

/// The server alone (--serve). Errors are those of listen_at().
[[nodiscard]] Result<MatchResult> serve_match(const MatchOptions& options,
                                              const std::vector<Recording>& recordings,
                                              const MatchSchema& schema);
/// The clients alone (--connect). Errors are those of connect_to().
[[nodiscard]] Result<GuestsResult> join_match(const MatchOptions& options,
                                              const std::vector<Recording>& recordings,
                                              const MatchSchema& schema);

}  // namespace replayout::match
