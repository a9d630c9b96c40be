// SPDX-License-Identifier: MIT
//
// The set that most blocks have where little changes: one run of plain leaves.
#pragma once

#include <replayout/rep_layout.h>

#include "small_set.h"

#include <bit>
#include <cstdint>

namespace replayout {

/// Plain leaves whose bits stand side by side in the set, and in the shadow.
struct PlainLeafRun {
    std::uint32_t begin_bit = 0;
    std::uint32_t end_bit = 0;

    [[nodiscard]] std::uint32_t value_count() const noexcept { return end_bit - begin_bit; }
    /// As a set over so many handles.
    [[nodiscard]] BitRegister code(std::uint32_t bit_count) const noexcept {
        return single_run_code(begin_bit, value_count(), bit_count);
    }
};

/// Whether this set, not empty and of at most 64 handles, is such a run.
[[nodiscard]] inline bool find_plain_run(const RepLayout& layout, std::uint64_t set,
                                         PlainLeafRun& leaves) noexcept {
    leaves.begin_bit = static_cast<std::uint32_t>(std::countr_zero(set));
    const std::uint64_t run = set >> leaves.begin_bit;
    leaves.end_bit = leaves.begin_bit + static_cast<std::uint32_t>(std::countr_one(run));
    return (run & (run + 1)) == 0 &&
           layout.plain_leaf(layout.root(), RepHandle{leaves.begin_bit + 1}).run_end >
               leaves.end_bit;
}

}  // namespace replayout
