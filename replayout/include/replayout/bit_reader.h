// SPDX-License-Identifier: MIT
//
// The mirror of BitWriter. All bytes from a peer are decoded through it, save the packet header,
// whose fields have fixed offsets (netdriver/src/wire/packet_notify.cpp).
//
// A read past the end, a packed integer that is too long, a decode budget that is spent: each makes
// the reader fail, and it stays failed; reads then give zero and move nothing. It never asserts on
// what it reads.
#pragma once

#include <replayout/bit_writer.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

/// What the decoding of one packet may cost. Spent by whoever loops or allocates on behalf of bytes
/// from a peer; when it is gone the reader fails. All of it is counted in 64 bits, wherever it
/// runs: what a peer asks for is a product of two counts, and may be 2^32 or more.
struct DecodeBudget {
    /// Memory that values may ask for, bytes. Text counts in full; an array by what it grows, so in
    /// full where there is none yet: in a new element, or in a block that is thrown away. The
    /// default is 32 new arrays of 2,048 elements of 64 bytes in one packet.
    std::uint64_t allocation_bytes = 4 * 1024 * 1024;
    std::uint64_t steps = 1'000'000;  ///< values, elements, runs: turns of a loop
    /// What blocks make a receiver do with the elements of keyed arrays that it has, which their
    /// bytes do not bound: steps of some 45 instructions, so two million in all. The array, or the
    /// atomic group of arrays, with which they are spent is still taken, since one alone may cost
    /// more. A sender keeps to it (SendContext::array_steps_left).
    std::uint64_t array_steps = array_steps_default;
    /// The reader failed because memory was refused.
    bool is_allocation_refused = false;

    static constexpr std::uint64_t array_steps_default = 40'000;
};

class BitReader {
  public:
    /// Reads `bytes`, which must outlive the reader. `budget` may be null: then nothing is bounded
    /// but by the bytes themselves, which is right only for bytes of our own.
    explicit BitReader(std::span<const std::byte> bytes, DecodeBudget* budget = nullptr) noexcept
        : BitReader(bytes, 0, bytes.size() * 8, budget) {}

    /// Reads `bit_count` bits that start `bit_offset` bits into `bytes`.
    BitReader(std::span<const std::byte> bytes, std::size_t bit_offset, std::size_t bit_count,
              DecodeBudget* budget) noexcept
        : bytes_(bytes),
          position_bits_(bit_offset),
          end_bits_(bit_offset + bit_count),
          budget_(budget) {
        REPLAYOUT_ASSERT(end_bits_ <= bytes.size() * 8);
    }

    /// The next `bit_count` (0 to 64) bits, or 0 after a failure.
    [[nodiscard]] std::uint64_t read_bits(std::uint32_t bit_count) noexcept {
        REPLAYOUT_ASSERT(bit_count <= 64);
        if (bit_count > end_bits_ - position_bits_ || failed_) {
            failed_ = true;
            return 0;
        }
        if (bit_count == 0) {
            return 0;
        }
        const std::size_t byte_index = position_bits_ >> 3;
        const auto shift = static_cast<std::uint32_t>(position_bits_ & 7);
        position_bits_ += bit_count;
        if (byte_index + 9 > bytes_.size()) {
            return load_tail(byte_index, shift) & detail::low_mask(bit_count);
        }
        std::uint64_t word = detail::load_little_endian(bytes_.data() + byte_index) >> shift;
        if (shift + bit_count > 64) {
            word |= std::to_integer<std::uint64_t>(bytes_[byte_index + 8]) << (64 - shift);
        }
        return word & detail::low_mask(bit_count);
    }

    [[nodiscard]] bool read_bool() noexcept { return read_bits(1) != 0; }
    [[nodiscard]] std::uint64_t read_packed_uint() noexcept;

    /// A packed integer of at most 32 bits; fails beyond.
    [[nodiscard]] std::uint32_t read_packed_uint32() noexcept;

    [[nodiscard]] std::uint32_t read_exp_golomb(std::uint32_t order) noexcept;

    /// Fills `bytes`, or with zeros on failure.
    void read_bytes(std::span<std::byte> bytes) noexcept;

    /// The next `count` bytes where they lie; the reader must be at a byte boundary. Empty on
    /// failure.
    [[nodiscard]] std::span<const std::byte> take_bytes(std::uint64_t count) noexcept;

    /// A reader of the next `count` bytes alone, on the same budget; this one goes on behind them.
    /// The reader must be at a byte boundary. Where there are not that many, both have failed.
    [[nodiscard]] BitReader take_reader(std::uint64_t count) noexcept;

    void skip_bits(std::uint64_t bit_count) noexcept {
        if (bit_count > end_bits_ - position_bits_ || failed_) {
            failed_ = true;
            return;
        }
        position_bits_ += static_cast<std::size_t>(bit_count);
    }

    /// Goes on at the next byte boundary. Fails unless the bits passed over are zero.
    void finish_byte() noexcept;

    /// Takes from the budget; false, and failed, when it is spent.
    bool spend_steps(std::uint64_t count) noexcept;
    bool spend_allocation(std::uint64_t bytes) noexcept;
    /// Whether a keyed array, or a group of them, may begin: false, and failed, when nothing is
    /// left for it.
    [[nodiscard]] bool begin_keyed_array() noexcept;
    /// Takes what is left at most.
    void spend_array_steps(std::uint64_t count) noexcept;

    /// Null: it has none.
    [[nodiscard]] DecodeBudget* budget() const noexcept { return budget_; }

    /// The caller found what it read to be wrong.
    void fail() noexcept { failed_ = true; }

    [[nodiscard]] bool failed() const noexcept { return failed_; }
    [[nodiscard]] std::size_t position_bits() const noexcept { return position_bits_; }
    [[nodiscard]] std::size_t bits_left() const noexcept { return end_bits_ - position_bits_; }

    /// The same position, for bits that were checked before and must not be charged again.
    [[nodiscard]] BitReader without_budget() const noexcept {
        BitReader copy = *this;
        copy.budget_ = nullptr;
        return copy;
    }

  private:
    [[nodiscard]] std::uint64_t load_tail(std::size_t byte_index,
                                          std::uint32_t shift) const noexcept;

    std::span<const std::byte> bytes_;
    std::size_t position_bits_;
    std::size_t end_bits_;
    DecodeBudget* budget_;
    bool failed_ = false;
};

}  // namespace replayout
