// SPDX-License-Identifier: MIT
//
// Which options of replayout_match go together.
#pragma once

#include "match/session/match_options.h"

#include <CLI/CLI.hpp>

#include <string>

namespace replayout::match {

/// A sentence about options that were said and do not go together; empty: all do. `options` are
/// what the app has parsed.
[[nodiscard]] std::string option_fault(const CLI::App& app, const MatchOptions& options);

}  // namespace replayout::match
