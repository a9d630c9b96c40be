// SPDX-License-Identifier: MIT
//
// What sharing saved, for people and for programs.
#pragma once

#include "match/session/match_options.h"
#include "match/session/match_result.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace replayout::match {

/// Of the whole, then of the classes, then of the properties of those that were listed. What is not
/// known is left out, and said to be.
[[nodiscard]] std::string report_savings(const MatchOptions& options, const MatchResult& result);

/// `json`, with figures of blocks added.
[[nodiscard]] nlohmann::ordered_json with_blocks(nlohmann::ordered_json json,
                                                 const BlockSavings& blocks);
/// Of all classes and properties. Needs MatchResult::savings.
[[nodiscard]] nlohmann::ordered_json savings_json(const MatchOptions& options,
                                                  const MatchResult& result);

}  // namespace replayout::match
