// SPDX-License-Identifier: MIT
//
// A row of bits over object indices that grows with the store and is walked word by word; and the
// same over other numbers, which none takes for an object's.
#pragma once

#include <replayout/reflection/memory.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

#include "object_index.h"
#include "table_growth.h"

namespace replayout {

/// How many bits of a word are set. Where the processor has no instruction for that, as the x86-64
/// that every compiler assumes, std::popcount() is a call.
[[nodiscard]] constexpr std::uint32_t count_bits(std::uint64_t word) noexcept {
#if defined(__x86_64__) && !defined(__POPCNT__)
    word -= word >> 1 & 0x5555'5555'5555'5555u;
    word = (word & 0x3333'3333'3333'3333u) + (word >> 2 & 0x3333'3333'3333'3333u);
    word = (word + (word >> 4)) & 0x0F0F'0F0F'0F0F'0F0Fu;
    return static_cast<std::uint32_t>(word * 0x0101'0101'0101'0101u >> 56);
#else
    return static_cast<std::uint32_t>(std::popcount(word));
#endif
}

template <typename Index>
class BitRowOf {
  public:
    explicit BitRowOf(MemoryResource* resource)
        : words_(Words::allocator_type(Allocator<std::uint64_t>(resource))) {}

    void grow(std::uint32_t bit_count) {
        const std::size_t word_count = (std::size_t{bit_count} + 63) / 64;
        grow_table(words_, word_count, std::uint64_t{0});
    }
    void grow_to(Index bit) { grow(number_of(bit) + 1); }
    void set(Index bit) noexcept { words_[word_of(bit)] |= mask_of(bit); }
    void clear(Index bit) noexcept { words_[word_of(bit)] &= ~mask_of(bit); }
    void clear_all() noexcept { std::fill(words_.begin(), words_.end(), 0); }
    /// Likewise, and gives its memory back.
    void release() noexcept {
        words_.clear();
        words_.shrink_to_fit();
    }
    /// Beyond its end nothing is set.
    [[nodiscard]] bool test(Index bit) const noexcept {
        return word_of(bit) < words_.size() &&
               ((words_[word_of(bit)] >> (number_of(bit) & 63)) & 1) != 0;
    }

    /// set() and clear() for a row that need not have grown to the bit.
    void insert(Index bit) {
        grow_to(bit);
        set(bit);
    }
    void erase(Index bit) noexcept {
        if (test(bit)) {
            clear(bit);
        }
    }
    [[nodiscard]] bool is_empty() const noexcept {
        // All of them, as most often it is; by four, which do not wait for each other.
        const std::uint64_t* const words = words_.data();
        const std::size_t count = words_.size();
        std::uint64_t any = 0;
        std::size_t i = 0;
        for (; i + 4 <= count; i += 4) {
            any |= (words[i] | words[i + 1]) | (words[i + 2] | words[i + 3]);
        }
        for (; i < count; ++i) {
            any |= words[i];
        }
        return any == 0;
    }

    /// What is set in `other`, but for what is set in any of the three. This row must be as long
    /// as `other`.
    void merge_without(const BitRowOf& other, const BitRowOf& first, const BitRowOf& second,
                       const BitRowOf& third) noexcept {
        for (std::size_t i = 0; i < other.words_.size(); ++i) {
            if (other.words_[i] != 0) {
                words_[i] |= other.words_[i] & ~(first.word(i) | second.word(i) | third.word(i));
            }
        }
    }
    /// Grows, if `other` is longer.
    void merge(const BitRowOf& other) {
        grow_table(words_, other.words_.size(), std::uint64_t{0});
        for (std::size_t i = 0; i < other.words_.size(); ++i) {
            words_[i] |= other.words_[i];
        }
    }
    /// Keeps only what is set in `left` or in `right` too.
    void retain(const BitRowOf& left, const BitRowOf& right) noexcept {
        for (std::size_t i = 0; i < words_.size(); ++i) {
            words_[i] &= left.word(i) | right.word(i);
        }
    }
    /// Anything is set in both.
    [[nodiscard]] bool intersects(const BitRowOf& other) const noexcept {
        for (std::size_t i = 0; i < words_.size(); ++i) {
            if ((words_[i] & other.word(i)) != 0) {
                return true;
            }
        }
        return false;
    }
    /// Takes away what is set in `other`.
    void remove(const BitRowOf& other) noexcept {
        for (std::size_t i = 0; i < std::min(words_.size(), other.words_.size()); ++i) {
            words_[i] &= ~other.words_[i];
        }
    }

    /// Calls `visit(bit)` for each bit that is set in such a word, bits 64 * index and on.
    template <typename Visitor>
    static void for_each_in_word(std::size_t index, std::uint64_t bits, Visitor&& visit) {
        for (; bits != 0; bits &= bits - 1) {
            visit(lowest_of(index, bits));
        }
    }
    /// Calls `visit(bit)` for each bit that is set; it may clear that one.
    template <typename Visitor>
    void for_each(Visitor visit) const {
        for (std::size_t i = 0; i < words_.size(); ++i) {
            for_each_in_word(i, words_[i], visit);
        }
    }
    /// First set bit at or after `from`, or `no_bit`.
    [[nodiscard]] Index next(Index from) const noexcept {
        std::size_t index = word_of(from);
        if (index >= words_.size()) {
            return no_bit;
        }
        std::uint64_t word = words_[index] & (~std::uint64_t{0} << (number_of(from) & 63));
        while (word == 0) {
            if (++index == words_.size()) {
                return no_bit;
            }
            word = words_[index];
        }
        return lowest_of(index, word);
    }
    [[nodiscard]] Index first() const noexcept { return next(Index{0}); }
    [[nodiscard]] Index after(Index bit) const noexcept { return next(Index{number_of(bit) + 1}); }

    /// Bits 64 * index and on; beyond its end nothing is set.
    [[nodiscard]] std::uint64_t word(std::size_t index) const noexcept {
        return index < words_.size() ? words_[index] : 0;
    }

    [[nodiscard]] std::span<const std::uint64_t> words() const noexcept {
        return {words_.data(), words_.size()};
    }
    /// Words that word() may find something in, and set_word() may write.
    [[nodiscard]] std::size_t word_count() const noexcept { return words_.size(); }
    void set_word(std::size_t index, std::uint64_t bits) noexcept { words_[index] = bits; }
    void merge_word(std::size_t index, std::uint64_t bits) noexcept { words_[index] |= bits; }
    [[nodiscard]] std::uint32_t count() const noexcept {
        std::uint32_t bits = 0;
        for (const std::uint64_t word : words_) {
            bits += static_cast<std::uint32_t>(std::popcount(word));
        }
        return bits;
    }

    static constexpr Index no_bit{0xFFFF'FFFFu};

    /// Which word a bit is in, and where.
    [[nodiscard]] static constexpr std::uint32_t word_of(Index bit) noexcept {
        return number_of(bit) >> 6;
    }
    [[nodiscard]] static constexpr std::uint64_t mask_of(Index bit) noexcept {
        return std::uint64_t{1} << (number_of(bit) & 63);
    }
    /// The lowest of these bits of a word.
    [[nodiscard]] static Index lowest_of(std::size_t index, std::uint64_t bits) noexcept {
        return Index{static_cast<std::uint32_t>(index << 6) +
                     static_cast<std::uint32_t>(std::countr_zero(bits))};
    }

  private:
    [[nodiscard]] static constexpr std::uint32_t number_of(Index bit) noexcept {
        return static_cast<std::uint32_t>(bit);
    }

    using Words = SmallVector<std::uint64_t, 1>;  // of few objects without memory of their own

    Words words_;
};

using BitRow = BitRowOf<ObjectIndex>;
/// Over layouts, viewers, or words of another row.
using NumberBitRow = BitRowOf<std::uint32_t>;

}  // namespace replayout
