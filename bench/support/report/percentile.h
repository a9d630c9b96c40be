// SPDX-License-Identifier: MIT
//
// What a share of all ticks stays below.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace replayout::bench {

/// Of so many in ascending order the one that stands for `percent`: 50 is the median, of an even
/// number the larger one in the middle; 100 the greatest. Requires one.
[[nodiscard]] constexpr std::uint64_t percentile_place(std::uint64_t count,
                                                       std::uint32_t percent) noexcept {
    return std::min(count * percent / 100, count - 1);
}

/// Of an empty row 0. Leaves the values in another order.
template <typename T>
[[nodiscard]] T percentile(std::vector<T>& values, std::uint32_t percent) {
    if (values.empty()) {
        return T{};
    }
    const auto place =
        values.begin() + static_cast<std::ptrdiff_t>(percentile_place(values.size(), percent));
    std::nth_element(values.begin(), place, values.end());
    return *place;
}

}  // namespace replayout::bench
