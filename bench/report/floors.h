// SPDX-License-Identifier: MIT
//
// Which measurement is the floor of which: the row that bench/README.md names beside each
// benchmark.
#pragma once

#include "report/measurements.h"

#include <vector>

namespace replayout::bench {

/// What was measured in the same run, succeeded and took time; else null. Nothing is its own floor.
[[nodiscard]] const Measurement* floor_of(const Measurement& measurement,
                                          const std::vector<Measurement>& measurements) noexcept;

/// What it is called: "floor", or "yardstick" where somebody may be below it.
[[nodiscard]] const char* floor_name(const Measurement& measurement) noexcept;

}  // namespace replayout::bench
