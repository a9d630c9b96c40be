// SPDX-License-Identifier: MIT
//
// Comparison of plain bytes, for the loop over all objects, where most are equal.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace replayout {

namespace detail {

[[nodiscard]] inline std::uint64_t load_native(const std::byte* bytes) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof(word));
    return word;
}

}  // namespace detail

/// Short runs in place, because the call of memcmp would cost more than the comparison; long ones
/// by memcmp, which knows the vector instructions of the machine.
[[nodiscard]] inline bool equal_bytes(const std::byte* left, const std::byte* right,
                                      std::size_t size) noexcept {
    constexpr std::size_t in_place_bytes_max = 128;
    if (size < 8 || size > in_place_bytes_max) {
        return std::memcmp(left, right, size) == 0;
    }
    std::uint64_t difference = 0;
    for (std::size_t i = 0; i + 8 <= size; i += 8) {
        difference |= detail::load_native(left + i) ^ detail::load_native(right + i);
    }
    // The last word overlaps what was compared already.
    difference |= detail::load_native(left + size - 8) ^ detail::load_native(right + size - 8);
    return difference == 0;
}

/// The first byte from `from` on that differs, or `size`.
[[nodiscard]] inline std::size_t next_difference(const std::byte* left, const std::byte* right,
                                                 std::size_t from, std::size_t size) noexcept {
    std::size_t i = from;
    for (; i + 8 <= size; i += 8) {
        if (detail::load_native(left + i) != detail::load_native(right + i)) {
            break;
        }
    }
    const std::size_t end = std::min(i + 8, size);
    while (i < end && left[i] == right[i]) {
        ++i;
    }
    return i;
}

}  // namespace replayout
