// SPDX-License-Identifier: MIT
//
// Packs bits into bytes, least significant bit first: the first bit written is bit 0 of byte 0, and
// the low bit of a number comes before its high bit. The same on every machine.
//
//     write_bits(0b101, 3); write_bits(0x3F, 6);      byte 0: 11111'101   byte 1: -------1
//
// Overflow is sticky: a write that does not fit writes nothing, and from then on nothing is written
// until rewind(). One check at the end is enough.
//
// Bits above the position in the last byte are zero after finish_byte() and unspecified before.
#pragma once

#include <replayout/reflection/diagnostics.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace replayout {

namespace detail {

[[nodiscard]] inline std::uint64_t load_little_endian(const std::byte* bytes) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof(word));
    if constexpr (std::endian::native == std::endian::big) {
        word = __builtin_bswap64(word);
    }
    return word;
}

/// The `size` (0 to 7) bytes as the low ones of a word. No byte behind them is read.
[[nodiscard]] inline std::uint64_t load_short(const std::byte* bytes, std::size_t size) noexcept {
    if constexpr (std::endian::native == std::endian::little) {
        // Two loads that overlap, in bits that are the same.
        if (size >= 4) {
            std::uint32_t low = 0;
            std::uint32_t high = 0;
            std::memcpy(&low, bytes, sizeof(low));
            std::memcpy(&high, bytes + size - 4, sizeof(high));
            return low | (std::uint64_t{high} << (8 * (size - 4)));
        }
        if (size >= 2) {
            std::uint16_t low = 0;
            std::uint16_t high = 0;
            std::memcpy(&low, bytes, sizeof(low));
            std::memcpy(&high, bytes + size - 2, sizeof(high));
            return low | (std::uint64_t{high} << (8 * (size - 2)));
        }
        return size == 0 ? 0 : std::to_integer<std::uint64_t>(*bytes);
    } else {
        std::uint64_t word = 0;
        for (std::size_t i = 0; i < size; ++i) {
            word |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
        }
        return word;
    }
}

inline void store_little_endian(std::byte* bytes, std::uint64_t word) noexcept {
    if constexpr (std::endian::native == std::endian::big) {
        word = __builtin_bswap64(word);
    }
    std::memcpy(bytes, &word, sizeof(word));
}

[[nodiscard]] constexpr std::uint64_t low_mask(std::uint32_t bit_count) noexcept {
    return bit_count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bit_count) - 1;
}

}  // namespace detail

/// Bytes that write_packed_uint(value) takes.
[[nodiscard]] constexpr std::size_t packed_uint_bytes(std::uint64_t value) noexcept {
    return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}

/// Bits that write_exp_golomb(value, order) takes.
[[nodiscard]] constexpr std::uint32_t exp_golomb_bits(std::uint32_t value,
                                                      std::uint32_t order) noexcept {
    const std::uint64_t quotient = (static_cast<std::uint64_t>(value) >> order) + 1;
    const auto width = static_cast<std::uint32_t>(std::bit_width(quotient));
    return 2 * width - 1 + order;
}

/// These bits, first one lowest. There must be at most 64, which only the value 2^32 - 1 exceeds.
[[nodiscard]] constexpr std::uint64_t exp_golomb_code(std::uint32_t value,
                                                      std::uint32_t order) noexcept {
    const std::uint64_t quotient = (static_cast<std::uint64_t>(value) >> order) + 1;
    const auto width = static_cast<std::uint32_t>(std::bit_width(quotient));
    // width - 1 zeros, then a one, then the bits of the quotient below its leading one.
    const std::uint64_t below = quotient & detail::low_mask(width - 1);
    const std::uint64_t gamma = (below << width) | (std::uint64_t{1} << (width - 1));
    return (value & detail::low_mask(order)) | (gamma << order);
}

class BitWriter {
  public:
    /// Where a writer stood; see rewind().
    struct Mark {
        std::size_t position_bits;
    };

    /// Writes into `buffer`, which must outlive the writer and is not cleared first.
    explicit BitWriter(std::span<std::byte> buffer) noexcept
        : bytes_(buffer.data()), capacity_bits_(buffer.size() * 8) {}

    /// The low `bit_count` (0 to 64) bits of `value`; higher bits are ignored.
    void write_bits(std::uint64_t value, std::uint32_t bit_count) noexcept {
        REPLAYOUT_ASSERT(bit_count <= 64);
        if (bit_count > capacity_bits_ - position_bits_ || overflowed_) {
            overflowed_ = overflowed_ || bit_count > 0;
            return;
        }
        if (bit_count == 0) {
            return;
        }
        value &= detail::low_mask(bit_count);
        const std::size_t byte_index = position_bits_ >> 3;
        const auto shift = static_cast<std::uint32_t>(position_bits_ & 7);
        const std::uint64_t kept =
            std::to_integer<std::uint64_t>(bytes_[byte_index]) & detail::low_mask(shift);
        const std::uint64_t word = kept | (value << shift);
        if (byte_index + 9 <= capacity_bits_ >> 3) {
            detail::store_little_endian(bytes_ + byte_index, word);
            if (shift + bit_count > 64) {
                bytes_[byte_index + 8] = static_cast<std::byte>(value >> (64 - shift));
            }
        } else {
            store_tail(byte_index, (shift + bit_count + 7) >> 3, word);
        }
        position_bits_ += bit_count;
    }

    void write_bool(bool value) noexcept { write_bits(value ? 1 : 0, 1); }

    /// 7 bits a group, each behind a bit that says whether another follows; at most 10 groups.
    void write_packed_uint(std::uint64_t value) noexcept {
        while (value >= 0x80) {
            write_bits(((value & 0x7F) << 1) | 1, 8);
            value >>= 7;
        }
        write_bits(value << 1, 8);
    }

    /// Elias gamma code of `value` + 1, remainder of `order` bits first (exponential Golomb).
    void write_exp_golomb(std::uint32_t value, std::uint32_t order) noexcept {
        const std::uint32_t bit_count = exp_golomb_bits(value, order);
        if (bit_count <= 64) {
            write_bits(exp_golomb_code(value, order), bit_count);
        } else {
            // Only here does the quotient have 33 bits, and the order is 0.
            write_bits(std::uint64_t{1} << 32, 33);
            write_bits(0, 32);
        }
    }

    /// `bytes` at the current bit position, aligned or not.
    void write_bytes(std::span<const std::byte> bytes) noexcept;

    /// `bit_count` bits that start `bit_offset` bits into `source`.
    void write_bits_from(std::span<const std::byte> source, std::size_t bit_offset,
                         std::size_t bit_count) noexcept;

    /// Zero bits up to the next byte boundary.
    void finish_byte() noexcept {
        const auto used = static_cast<std::uint32_t>(position_bits_ & 7);
        if (used != 0) {
            write_bits(0, 8 - used);
        }
    }

    [[nodiscard]] bool overflowed() const noexcept { return overflowed_; }
    [[nodiscard]] std::size_t bit_count() const noexcept { return position_bits_; }
    [[nodiscard]] std::size_t byte_count() const noexcept { return (position_bits_ + 7) >> 3; }
    [[nodiscard]] std::size_t bits_left() const noexcept { return capacity_bits_ - position_bits_; }

    [[nodiscard]] Mark mark() const noexcept { return {position_bits_}; }

    /// Forgets what was written since `mark`, and an overflow with it.
    void rewind(Mark mark) noexcept {
        REPLAYOUT_ASSERT(mark.position_bits <= position_bits_);
        position_bits_ = mark.position_bits;
        overflowed_ = false;
    }

    /// What was written, whole bytes.
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
        return {bytes_, byte_count()};
    }

  private:
    void store_tail(std::size_t byte_index, std::size_t byte_count, std::uint64_t word) noexcept;

    std::byte* bytes_;
    std::size_t capacity_bits_;
    std::size_t position_bits_ = 0;
    bool overflowed_ = false;
};

}  // namespace replayout
