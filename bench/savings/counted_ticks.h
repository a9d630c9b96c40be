// SPDX-License-Identifier: MIT
//
// Some ticks of a row that Callgrind counts (./run savings --instructions). What they do is decided
// by the row, the connections and the level of sharing, so each process counts the same.
#pragma once

#include "savings/savings_row.h"

#include <replayout/sharing_level.h>

#include <cstdint>
#include <string>

namespace replayout::bench {

struct CountedTicks {
    std::string error;        ///< empty: all else is there
    std::uint32_t ticks = 0;  ///< counted; 1 for a row of joins, where all of them are one
    std::uint64_t bytes = 0;  ///< sent in them
};

/// Calls replayout_phase_ends() before and after what is counted.
[[nodiscard]] CountedTicks play_counted_ticks(const SavingsRow& row, std::uint32_t connections,
                                              SharingLevel sharing);

}  // namespace replayout::bench
