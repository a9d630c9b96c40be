// SPDX-License-Identifier: MIT
//
// What a counted run came to, for count.py.
#pragma once

#include "instructions/counted_run.h"

#include <string>

namespace replayout::bench {

/// What the server counted in each phase, and what the instructions depend on besides the source.
[[nodiscard]] std::string to_json(const CountedRunSettings& settings,
                                  const CountedRunResult& result);

}  // namespace replayout::bench
