// SPDX-License-Identifier: MIT
//
// A run and its twin: the same seed and work, with nothing shared between connections, with
// workers, and compared instead of pushed. Every packet, callback and value must be the same (I12).
#pragma once

#include "simulation/simulation.h"

namespace replayout::test {

[[nodiscard]] RunResult run_with_twin(const SwarmConfig& config);

/// What is wrong with `run`, or with its twin, or where they part.
[[nodiscard]] Finding compare_runs(const RunResult& run, const RunResult& twin);

}  // namespace replayout::test
