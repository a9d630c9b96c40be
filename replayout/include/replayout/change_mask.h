// SPDX-License-Identifier: MIT
//
// A set of handles as bits, and how such a set goes on the wire.
//
// Bit i stands for handle i + 1. The set is over a universe both ends know: the handles of the
// layout, or, inside a dynamic array, element count x handles per element. On the wire it is the
// shorter of two forms, behind one bit that says which (a tie goes to the dense form):
//
//     0 dense   one bit per handle of the universe
//     1 runs    run count (less one where the set cannot be empty), then per run the gap
//               before it and its length less one; exponential Golomb codes, gaps of an order
//               that grows with the universe, the gap between two runs less one
//
// So a position and rotation that changed in a struct of fourteen leaves cost one byte, and five
// properties out of a thousand about eight.
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/bit_writer.h>
#include <replayout/reflection/memory.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

namespace replayout {

/// A resizable bit set with word-wise access. Keeps its memory when it is reset.
class ChangeMask {
  public:
    explicit ChangeMask(MemoryResource* resource = std::pmr::get_default_resource())
        : words_(Words::allocator_type(resource)) {}

    /// Empties the set; bits 0 to `bit_count` - 1 may be set then.
    void reset(std::uint32_t bit_count) {
        if (bit_count > 0 && bit_count <= 64 && words_.size() == 1) {
            words_.front() = 0;  // most classes
        } else {
            words_.resize((std::size_t{bit_count} + 63) / 64);
            std::fill(words_.begin(), words_.end(), std::uint64_t{0});
        }
        bit_count_ = bit_count;
    }

    void set(std::uint32_t bit) noexcept {
        REPLAYOUT_ASSERT(bit < bit_count_);
        words_[bit >> 6] |= std::uint64_t{1} << (bit & 63);
    }
    void set_range(std::uint32_t first, std::uint32_t count) noexcept {
        REPLAYOUT_ASSERT(count <= bit_count_ && first <= bit_count_ - count);
        std::uint32_t bit = first;
        const std::uint32_t end = first + count;
        while (bit < end) {
            const std::uint32_t step = std::min(64 - (bit & 63), end - bit);
            words_[bit >> 6] |= detail::low_mask(step) << (bit & 63);
            bit += step;
        }
    }
    /// Of `bits`, bit i is that at `first` + i; those beyond bit_count() must be clear.
    void set_bits(std::uint32_t first, std::uint64_t bits) noexcept {
        REPLAYOUT_ASSERT(first < bit_count_);
        REPLAYOUT_ASSERT(std::uint64_t{first} + static_cast<std::uint32_t>(std::bit_width(bits)) <=
                         bit_count_);
        const std::uint32_t shift = first & 63;
        words_[first >> 6] |= bits << shift;
        if (shift > 0 && bits >> (64 - shift) != 0) {
            words_[(first >> 6) + 1] |= bits >> (64 - shift);
        }
    }
    /// Becomes a copy of one over as many bits.
    void assign(const ChangeMask& other) noexcept {
        REPLAYOUT_ASSERT(bit_count_ == other.bit_count_);
        // Of one word mostly, for which to call a function takes longer.
        for (std::size_t i = 0; i < words_.size(); ++i) {
            words_[i] = other.words_[i];
        }
    }
    void clear(std::uint32_t bit) noexcept {
        REPLAYOUT_ASSERT(bit < bit_count_);
        words_[bit >> 6] &= ~(std::uint64_t{1} << (bit & 63));
    }
    [[nodiscard]] bool test(std::uint32_t bit) const noexcept {
        REPLAYOUT_ASSERT(bit < bit_count_);
        return ((words_[bit >> 6] >> (bit & 63)) & 1) != 0;
    }

    [[nodiscard]] bool any() const noexcept {
        std::uint64_t sum = 0;
        for (const std::uint64_t word : words_) {
            sum |= word;
        }
        return sum != 0;
    }
    [[nodiscard]] std::uint32_t count() const noexcept;
    [[nodiscard]] std::uint32_t bit_count() const noexcept { return bit_count_; }

    /// The first set bit at or after `from`; bit_count() when there is none.
    [[nodiscard]] std::uint32_t next(std::uint32_t from) const noexcept {
        std::size_t index = from >> 6;
        if (index >= words_.size()) {
            return bit_count_;
        }
        std::uint64_t word = words_[index] & (~std::uint64_t{0} << (from & 63));
        while (word == 0) {
            if (++index == words_.size()) {
                return bit_count_;
            }
            word = words_[index];
        }
        return static_cast<std::uint32_t>(index << 6) +
               static_cast<std::uint32_t>(std::countr_zero(word));
    }
    /// The first clear bit at or after `from`; bit_count() when there is none.
    [[nodiscard]] std::uint32_t next_clear(std::uint32_t from) const noexcept {
        std::size_t index = from >> 6;
        if (index >= words_.size()) {
            return bit_count_;
        }
        std::uint64_t word = ~words_[index] & (~std::uint64_t{0} << (from & 63));
        while (word == 0) {
            if (++index == words_.size()) {
                return bit_count_;
            }
            word = ~words_[index];
        }
        return std::min(bit_count_, static_cast<std::uint32_t>(index << 6) +
                                        static_cast<std::uint32_t>(std::countr_zero(word)));
    }

    [[nodiscard]] std::span<std::uint64_t> words() noexcept {
        return {words_.data(), words_.size()};
    }
    [[nodiscard]] std::span<const std::uint64_t> words() const noexcept {
        return {words_.data(), words_.size()};
    }

    friend bool operator==(const ChangeMask&, const ChangeMask&) noexcept = default;

  private:
    using Words = SmallVector<std::uint64_t, 1>;  // of most classes without memory of its own

    Words words_;
    std::uint32_t bit_count_ = 0;
};

enum class EmptySet : std::uint8_t { Impossible, Possible };

/// Length in bits of what write_change_mask() writes.
[[nodiscard]] std::uint32_t change_mask_bits(const ChangeMask& mask, EmptySet empty) noexcept;

/// `mask` must not be empty when `empty` is Impossible.
void write_change_mask(BitWriter& writer, const ChangeMask& mask, EmptySet empty) noexcept;

/// Reads a set over `bit_count` handles. The reader fails on a run outside of it, and on an empty
/// set where none can be.
void read_change_mask(BitReader& reader, ChangeMask& mask, std::uint32_t bit_count, EmptySet empty);

/// Length of the form "runs" as it grows handle by handle; for cutting an object into parts.
class RunLengthMeter {
  public:
    explicit RunLengthMeter(std::uint32_t bit_count) noexcept;

    /// Adds a bit beyond all bits so far.
    void add(std::uint32_t bit) noexcept;

    /// Bits of the shorter form for the bits added so far, as change_mask_bits() counts them.
    [[nodiscard]] std::uint32_t bits(EmptySet empty) const noexcept;

  private:
    std::uint32_t bit_count_;
    std::uint32_t order_;
    std::uint32_t run_count_ = 0;
    std::uint32_t run_length_ = 0;
    std::uint32_t end_ = 0;
    std::uint64_t closed_bits_ = 0;
};

}  // namespace replayout
