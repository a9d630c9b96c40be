// SPDX-License-Identifier: MIT
//
// Bytes as text and back, so that a failing test shows what a reader can compare.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace replayout {

using Bytes = std::vector<std::byte>;

/// Two lower-case digits a byte, one space between bytes.
[[nodiscard]] inline std::string to_hex(std::span<const std::byte> bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const std::byte byte : bytes) {
        if (!text.empty()) {
            text += ' ';
        }
        text += digits[std::to_integer<std::size_t>(byte >> 4)];
        text += digits[std::to_integer<std::size_t>(byte & std::byte{15})];
    }
    return text;
}

[[nodiscard]] inline Bytes to_bytes(std::span<const std::byte> bytes) {
    return Bytes(bytes.begin(), bytes.end());
}

/// `make_bytes(0x01, 0xff)`.
template <typename... Values>
[[nodiscard]] Bytes make_bytes(Values... values) {
    return Bytes{static_cast<std::byte>(values)...};
}

[[nodiscard]] inline bool get_bit(std::span<const std::byte> bytes, std::size_t bit) {
    return ((std::to_integer<unsigned>(bytes[bit / 8]) >> (bit % 8)) & 1U) != 0;
}

inline void flip_bit(std::span<std::byte> bytes, std::size_t bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
}

}  // namespace replayout
