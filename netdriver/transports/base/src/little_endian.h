// SPDX-License-Identifier: MIT
//
// Numbers of 64 bits as the datagrams of addresses, and the text that a cookie is the hash of, have
// them: the lowest byte first, on every machine.
#pragma once

#include <replayout/reflection/diagnostics.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

inline constexpr std::size_t number_bytes = 8;

/// Into the first number_bytes of `to`, which must have so many.
inline void write_number(std::span<std::byte> to, std::uint64_t value) noexcept {
    REPLAYOUT_ASSERT(to.size() >= number_bytes);
    for (std::size_t i = 0; i < number_bytes; ++i) {
        to[i] = static_cast<std::byte>(value >> (8 * i) & 0xFF);
    }
}

/// Of the first number_bytes of `from`, which must have so many.
[[nodiscard]] inline std::uint64_t read_number(std::span<const std::byte> from) noexcept {
    REPLAYOUT_ASSERT(from.size() >= number_bytes);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < number_bytes; ++i) {
        value |= std::to_integer<std::uint64_t>(from[i]) << (8 * i);
    }
    return value;
}

}  // namespace replayout
