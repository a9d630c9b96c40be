// SPDX-License-Identifier: MIT
//
// The measurements for people: a table for each benchmark, with bars; one for the fan-out, with a
// row for each cell and a column for each subject; and what was left out.
#pragma once

#include "report/fan_out.h"
#include "report/measurements.h"

#include <string>
#include <vector>

namespace replayout::bench {

/// All but those of the fan-out, in the order in which the benchmarks come first; rows by their
/// arguments. Beside the time that of the floor, where it was measured, and the ratio; then the
/// counters that are not 0 throughout. Each bar is of the longest time of its table.
[[nodiscard]] std::string tables(const std::vector<Measurement>& measurements);

/// Microseconds. The bar is what the time with bundles is of that without sharing, and no longer
/// than the whole; the ratio beside it may be. Below the table, what failed. Empty where nothing of
/// it was tried.
[[nodiscard]] std::string fan_out_table(const FanOut& fan_out);

/// What was not tried, and why. Empty where that is nothing.
[[nodiscard]] std::string left_out_list(const std::vector<Measurement>& measurements);

}  // namespace replayout::bench
