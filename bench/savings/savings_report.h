// SPDX-License-Identifier: MIT
//
// The table of ./run savings, for people and for programs.
#pragma once

#include "savings/counted_ticks.h"
#include "savings/savings_cell.h"

#include <span>
#include <string>
#include <vector>

namespace replayout::bench {

struct SavingsResult {
    std::string row;
    std::string changes;
    std::vector<SavingsCell> cells;  ///< by connections, ascending
};

/// From so many connections on, of those that were measured, sharing saves a twentieth or more of
/// the time, and with more of them too. 0: it does not.
[[nodiscard]] std::uint32_t pays_from(const SavingsResult& result) noexcept;

/// Two tables: the times with `connections`, and what sharing saves by connections.
[[nodiscard]] std::string savings_tables(std::span<const SavingsResult> results,
                                         std::uint32_t connections);
[[nodiscard]] std::string savings_json(std::span<const SavingsResult> results);
[[nodiscard]] std::string counted_json(const CountedTicks& counted);
/// row, connections, subject, median_ns, p10_ns, p90_ns, bytes_per_connection
[[nodiscard]] std::string savings_csv(std::span<const SavingsResult> results);

}  // namespace replayout::bench
