// SPDX-License-Identifier: MIT
//
// Values that can be told in a packet wherever they lie in it, aligned or not: eight bytes, which
// are text as well. Three say whose value it is, two more are of a hash of these, and three are
// always the same. The number lies between the others: of a text that is cut where a packet ends,
// with something else behind it, no other value is made up.
//
//     vault.secret = MarkedValue{object, kind, tick}.bits();
//     for_each_marked(datagram, [&](const MarkedValue& value) { ... });
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace replayout::test {

struct MarkedValue {
    static constexpr std::uint32_t object_max = 15;
    static constexpr std::uint32_t kind_max = 7;
    static constexpr std::uint32_t tick_max = 2'047;

    std::uint32_t object = 0;
    std::uint32_t kind = 0;
    std::uint32_t tick = 0;

    /// In the order of the wire: the lowest byte first.
    [[nodiscard]] constexpr std::uint64_t bits() const noexcept {
        const std::uint64_t number = object | kind << 4 | tick << 7;
        const std::uint64_t hash = number * 0x9E37'79B9'7F4A'7C15 >> 52;
        return first_byte | sextet(hash, 0) << 8 | sextet(number, 0) << 16 |
               sextet(number, 1) << 24 | sextet(number, 2) << 32 | sextet(hash, 1) << 40 |
               last_bytes << 48;
    }
    /// It, over and over.
    [[nodiscard]] std::string text(std::size_t count) const {
        std::string result;
        for (std::size_t i = 0; i < 8 * count; ++i) {
            result += static_cast<char>(bits() >> (8 * (i % 8)) & 0xFF);
        }
        return result;
    }

    [[nodiscard]] static constexpr bool is_marked(std::uint64_t value) noexcept {
        return (value & 0xFF) == first_byte && value >> 48 == last_bytes &&
               of(value).bits() == value;
    }
    [[nodiscard]] static constexpr MarkedValue of(std::uint64_t value) noexcept {
        std::uint32_t number = 0;
        for (std::uint32_t i = 0; i < 3; ++i) {
            number |= static_cast<std::uint32_t>(value >> (16 + 8 * i) & 0x3F) << (6 * i);
        }
        return {number & 15, number >> 4 & 7, number >> 7};
    }

  private:
    static constexpr std::uint64_t first_byte = 0x51;    // "Q"
    static constexpr std::uint64_t last_bytes = 0x586B;  // "kX"

    /// Six bits of it as a letter.
    [[nodiscard]] static constexpr std::uint64_t sextet(std::uint64_t value,
                                                        std::uint32_t place) noexcept {
        return 0x40 | (value >> (6 * place) & 0x3F);
    }
};

/// Calls `visit(MarkedValue)` for each in the bytes, at any bit.
template <typename Visitor>
void for_each_marked(std::span<const std::byte> bytes, Visitor visit) {
    std::uint64_t low = 0;  // the eight bytes before the last one that was read
    for (std::size_t i = 0; i <= bytes.size(); ++i) {
        const std::uint64_t next = i < bytes.size() ? std::to_integer<std::uint64_t>(bytes[i]) : 0;
        for (std::uint32_t shift = 0; shift < 8 && i >= 8; ++shift) {
            const std::uint64_t value = shift == 0 ? low : low >> shift | next << (64 - shift);
            if (MarkedValue::is_marked(value)) {
                visit(MarkedValue::of(value));
            }
        }
        low = low >> 8 | next << 56;
    }
}

}  // namespace replayout::test
