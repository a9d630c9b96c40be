// SPDX-License-Identifier: MIT
//
// All rows of ./run savings, in the order of the table. To measure a class of your own, write a row
// for it (docs/performance.md, "Measure a class of your own") and add it here.
#pragma once

#include "savings/savings_row.h"

#include <span>
#include <string>
#include <vector>

namespace replayout::bench {

/// `traces`: recordings (trace_reader.h), a row each. `error` is set where one cannot be read.
[[nodiscard]] std::vector<SavingsRow> savings_rows(std::span<const std::string> traces,
                                                   std::string& error);

}  // namespace replayout::bench
