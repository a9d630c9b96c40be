// SPDX-License-Identifier: MIT
//
// The codes of sets that lie in one word, as those of most classes do; see
// docs/wire_format.md, "Sets of handles".
#pragma once

#include <replayout/bit_writer.h>

#include <array>
#include <bit>
#include <cstdint>

namespace replayout {

// A gap in a universe of n handles is about n / (runs + 1) long. Order 0 up to 31 handles keeps a
// gap of zero at one bit; beyond, each doubling of the universe adds one bit to every gap.
[[nodiscard]] constexpr std::uint32_t gap_order(std::uint32_t bit_count) noexcept {
    const auto width = static_cast<std::uint32_t>(std::bit_width(bit_count));
    return width > 5 ? width - 5 : 0;
}

/// At most 64 bits on their way to a writer, which takes them at once.
struct BitRegister {
    std::uint64_t bits = 0;
    std::uint32_t count = 0;

    constexpr void add(std::uint64_t value, std::uint32_t bit_count) noexcept {
        bits |= value << count;
        count += bit_count;
    }
};

/// Sets over so many handles are written in a register.
inline constexpr std::uint32_t small_set_bits_max = 64;

struct ExpGolombCode {
    std::uint16_t bits = 0;
    std::uint16_t count = 0;
};
using SmallCodes = std::array<ExpGolombCode, small_set_bits_max>;

[[nodiscard]] constexpr SmallCodes make_small_codes(std::uint32_t order) noexcept {
    SmallCodes codes;
    for (std::uint32_t value = 0; value < codes.size(); ++value) {
        codes[value] = {static_cast<std::uint16_t>(exp_golomb_code(value, order)),
                        static_cast<std::uint16_t>(exp_golomb_bits(value, order))};
    }
    return codes;
}

/// By order: every code that a small set can ask for.
inline constexpr std::array<SmallCodes, 3> small_codes{make_small_codes(0), make_small_codes(1),
                                                       make_small_codes(2)};

/// What write_change_mask() writes of a set over `bit_count` handles (1 to small_set_bits_max) that
/// cannot be empty and is one run: `length` handles (at least 1) from bit `first` on. At most 23
/// bits.
[[nodiscard]] inline BitRegister single_run_code(std::uint32_t first, std::uint32_t length,
                                                 std::uint32_t bit_count) noexcept {
    const ExpGolombCode gap = small_codes[gap_order(bit_count)][first];
    const ExpGolombCode within = small_codes[0][length - 1];
    BitRegister code{0b11, 2};  // the form in runs; one run, which is a count of none more
    code.add(gap.bits, gap.count);
    code.add(within.bits, within.count);
    if (code.count - 1 >= bit_count) {
        return {detail::low_mask(length) << (first + 1), bit_count + 1};
    }
    return code;
}

}  // namespace replayout
