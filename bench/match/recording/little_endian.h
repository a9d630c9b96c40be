// SPDX-License-Identifier: MIT
//
// Numbers as a trace file stores them: little-endian, unaligned, floats by their IEEE bits. The
// only place of the match program that knows it; everything else speaks through these calls.
//
// load_le reads the first bytes of a span that is known to be long enough (the trace reader checks
// that first, against the file), append_le adds to the end of a byte vector.
#pragma once

#include <replayout/reflection/diagnostics.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace replayout::match {

/// Unsigned integer with the bits of T.
template <typename T>
using BitsOf = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

/// The number at the front of `bytes`, which must hold at least sizeof(T).
template <typename T>
[[nodiscard]] T load_le(std::span<const std::byte> bytes) noexcept {
    REPLAYOUT_ASSERT(bytes.size() >= sizeof(T));
    std::uint64_t bits = 0;
    for (std::size_t i = sizeof(T); i-- > 0;) {
        bits = (bits << 8) | std::to_integer<std::uint64_t>(bytes[i]);
    }
    return std::bit_cast<T>(static_cast<BitsOf<T>>(bits));
}

/// Adds the sizeof(T) bytes of `value` to the end of `bytes`.
template <typename T>
void append_le(std::vector<std::byte>& bytes, T value) {
    const std::uint64_t bits = std::bit_cast<BitsOf<T>>(value);
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        bytes.push_back(static_cast<std::byte>((bits >> (8 * i)) & 0xFF));
    }
}

}  // namespace replayout::match
