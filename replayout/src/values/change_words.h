// SPDX-License-Identifier: MIT
//
// Leaves of four bytes each, side by side, that change: positions, rotations, counts, and so most
// of what changes at all. Four at a time; and a few of which all change, as when something moves,
// in one step and in place, because to call somebody would cost as much as this does.
#pragma once

#include <replayout/bit_writer.h>
#include <replayout/previous_values.h>

#include "equal_bytes.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace replayout {

namespace detail {

inline constexpr std::size_t word_bytes = sizeof(std::uint32_t);

/// Four words at once, by whatever instructions the machine has for that.
using Words [[gnu::vector_size(16)]] = std::uint32_t;
inline constexpr std::uint32_t words_at_once = 4;

/// Of leaves of four bytes each, side by side: what they are, what they are to be noted as, and
/// what they were.
struct WordArrays {
    const std::byte* object;
    std::byte* shadow;
    std::byte* before;
    std::byte* two_ago;
    Version* last_changed;
    Version* starts_before;
    Version* starts_two_ago;
    Version version;
};

template <typename Word>
[[nodiscard]] Word load(const void* memory, std::uint32_t index) noexcept {
    Word word;
    std::memcpy(&word, static_cast<const std::byte*>(memory) + index * word_bytes, sizeof(word));
    return word;
}

template <typename Word>
void store(void* memory, std::uint32_t index, Word word) noexcept {
    std::memcpy(static_cast<std::byte*>(memory) + index * word_bytes, &word, sizeof(word));
}

/// All bits of a lane, or none, as one bit each.
[[nodiscard]] inline std::uint64_t bits_of(std::uint32_t lanes) noexcept {
    return lanes & 1;
}
[[nodiscard]] inline std::uint64_t bits_of(Words lanes) noexcept {
#if defined(REPLAYOUT_EQUAL_BYTES_SSE2)
    __m128 sign_bits;
    std::memcpy(&sign_bits, &lanes, sizeof(sign_bits));
    return static_cast<std::uint64_t>(_mm_movemask_ps(sign_bits));
#else
    const Words bits = lanes & Words{1, 2, 4, 8};
    return (bits[0] | bits[1]) | (bits[2] | bits[3]);
#endif
}

[[nodiscard]] inline std::uint32_t are_equal(std::uint32_t left, std::uint32_t right) noexcept {
    return left == right ? ~0u : 0u;
}
[[nodiscard]] inline Words are_equal(Words left, Words right) noexcept {
    return static_cast<Words>(left == right);
}

/// That version in each lane.
template <typename Word>
[[nodiscard]] Word splat(Version version) noexcept {
    return Word{} + version;
}

/// Words as the object has them, beside those of the shadow.
template <typename Word>
struct ComparedWords {
    ComparedWords(const std::byte* object_words, const std::byte* shadow_words,
                  std::uint32_t index) noexcept
        : object(load<Word>(object_words, index)),
          shadow(load<Word>(shadow_words, index)),
          same(are_equal(object, shadow)) {}

    [[nodiscard]] std::uint64_t differing() const noexcept {
        return bits_of(static_cast<Word>(~same));
    }

    Word object;
    Word shadow;
    Word same;
};

/// What is known of these words before they change.
template <typename Word>
struct KnownWords {
    KnownWords(const WordArrays& arrays, std::uint32_t index) noexcept
        : before(load<Word>(arrays.before, index)),
          starts_before(load<Word>(arrays.starts_before, index)),
          last_changed(load<Word>(arrays.last_changed, index)) {}

    Word before;
    Word starts_before;
    Word last_changed;
};

/// All of these words change, which most do that lie beside one that does. Returns those that are
/// back.
template <typename Word>
[[nodiscard]] std::uint64_t change_all(const WordArrays& arrays, std::uint32_t index,
                                       const ComparedWords<Word>& words,
                                       const KnownWords<Word>& known) noexcept {
    store(arrays.two_ago, index, known.before);
    store(arrays.before, index, words.shadow);
    store(arrays.shadow, index, words.object);
    store(arrays.starts_two_ago, index, known.starts_before);
    store(arrays.starts_before, index, known.last_changed);
    store(arrays.last_changed, index, splat<Word>(arrays.version));
    return bits_of(static_cast<Word>(
        are_equal(known.before, words.object) &
        ~are_equal(known.starts_before, splat<Word>(PreviousValues::unknown_version))));
}

/// Bit i for word i.
struct ChangedWords {
    std::uint64_t differing = 0;
    std::uint64_t back = 0;  ///< of these, those that are again what they were two values ago
};

/// The same where some stay as they are.
template <typename Word>
[[nodiscard]] std::uint64_t change_some(const WordArrays& arrays, std::uint32_t index,
                                        const ComparedWords<Word>& words,
                                        const KnownWords<Word>& known) noexcept {
    const Word same = words.same;
    const auto blend = [same](Word kept, Word changing) {
        return static_cast<Word>((kept & same) | (changing & ~same));
    };
    store(arrays.two_ago, index, blend(load<Word>(arrays.two_ago, index), known.before));
    store(arrays.before, index, blend(known.before, words.shadow));
    store(arrays.shadow, index, words.object);
    store(arrays.starts_two_ago, index,
          blend(load<Word>(arrays.starts_two_ago, index), known.starts_before));
    store(arrays.starts_before, index, blend(known.starts_before, known.last_changed));
    store(arrays.last_changed, index, blend(known.last_changed, splat<Word>(arrays.version)));
    return bits_of(static_cast<Word>(
        ~same & are_equal(known.before, words.object) &
        ~are_equal(known.starts_before, splat<Word>(PreviousValues::unknown_version))));
}

/// One word or four, from word `index` on. Words that are equal already stay as they are, so that
/// the last four may lie over those before.
template <typename Word>
void change_at(const WordArrays& arrays, std::uint32_t index, ChangedWords& changed) noexcept {
    constexpr std::uint64_t all = low_mask(sizeof(Word) / word_bytes);
    const ComparedWords<Word> words(arrays.object, arrays.shadow, index);
    const std::uint64_t differing = words.differing();
    if (differing == 0) {
        return;
    }
    const KnownWords<Word> known(arrays, index);
    const std::uint64_t back = differing == all ? change_all(arrays, index, words, known)
                                                : change_some(arrays, index, words, known);
    changed.differing |= differing << index;
    changed.back |= back << index;
}

[[nodiscard]] inline ChangedWords change_word_arrays(const WordArrays& arrays,
                                                     std::uint32_t count) noexcept {
    ChangedWords changed;
    std::uint32_t index = 0;
    if (count >= words_at_once) {
        for (; index + words_at_once <= count; index += words_at_once) {
            change_at<Words>(arrays, index, changed);
        }
        if (index < count) {
            change_at<Words>(arrays, count - words_at_once, changed);
        }
        return changed;
    }
    for (; index < count; ++index) {
        change_at<std::uint32_t>(arrays, index, changed);
    }
    return changed;
}

/// Which of at least four words differ; at most 64. Bit i for word i.
[[nodiscard]] inline std::uint64_t differing_words(const std::byte* object, const std::byte* shadow,
                                                   std::uint32_t count) noexcept {
    std::uint64_t differing = 0;
    for (std::uint32_t index = 0; index + words_at_once < count; index += words_at_once) {
        differing |= ComparedWords<Words>(object, shadow, index).differing() << index;
    }
    const std::uint32_t last = count - words_at_once;
    return differing | ComparedWords<Words>(object, shadow, last).differing() << last;
}

/// From four to eight words are the first four and the last four, which may lie over those.
[[nodiscard]] constexpr bool are_few_words(std::uint32_t count) noexcept {
    return count >= words_at_once && count <= 2 * words_at_once;
}

}  // namespace detail

inline detail::WordArrays PreviousValues::word_arrays(RepHandle begin, ShadowOffset offset,
                                                      std::byte* shadow, const std::byte* object,
                                                      Version* last_changed,
                                                      Version version) const noexcept {
    const std::uint32_t first = begin.value - 1;
    return {object,
            shadow,
            (values(0) + offset).data(),
            (values(1) + offset).data(),
            last_changed + first,
            starts(0) + first,
            starts(1) + first,
            version};
}

// Of the leaves at `bit` and behind that are in `among`, the bits of `back`.
inline void PreviousValues::set_returned(std::uint32_t bit, std::uint64_t among,
                                         std::uint64_t back) noexcept {
    std::uint64_t* const word = returned() + (bit >> 6);
    const std::uint32_t shift = bit & 63;
    word[0] = (word[0] & ~(among << shift)) | back << shift;
    if (shift > 0 && among >> (64 - shift) != 0) {
        word[1] = (word[1] & ~(among >> (64 - shift))) | back >> (64 - shift);
    }
}

inline std::uint64_t PreviousValues::change_differing_words(RepHandle begin, std::uint32_t count,
                                                            ShadowOffset offset, std::byte* shadow,
                                                            const std::byte* object,
                                                            Version* last_changed,
                                                            Version version) {
    if (memory_ == nullptr) {
        allocate();
    }
    const detail::ChangedWords changed = detail::change_word_arrays(
        word_arrays(begin, offset, shadow, object, last_changed, version), count);
    set_returned(begin.value - 1, changed.differing, changed.back);
    return changed.differing;
}

inline bool PreviousValues::change_few_words(RepHandle begin, std::uint32_t count,
                                             ShadowOffset offset, std::byte* shadow,
                                             const std::byte* object, Version* last_changed,
                                             Version version) noexcept {
    using detail::Words;
    REPLAYOUT_ASSERT(detail::are_few_words(count) && handle_count_ <= 64);
    const std::uint32_t last = count - detail::words_at_once;
    const detail::ComparedWords<Words> first_words(object, shadow, 0);
    const detail::ComparedWords<Words> last_words(object, shadow, last);
    if (memory_ == nullptr || detail::bits_of(first_words.same | last_words.same) != 0) {
        return false;
    }
    const detail::WordArrays arrays =
        word_arrays(begin, offset, shadow, object, last_changed, version);
    std::uint64_t& returned_bits = *returned();
    // All is read before anything is written, so what is in both is written twice as the same.
    const detail::KnownWords<Words> first_known(arrays, 0);
    const detail::KnownWords<Words> last_known(arrays, last);
    const std::uint64_t other_bits =
        returned_bits & ~(detail::low_mask(count) << (begin.value - 1));
    const std::uint64_t first_back = detail::change_all(arrays, 0, first_words, first_known);
    const std::uint64_t last_back = detail::change_all(arrays, last, last_words, last_known);
    returned_bits = other_bits | (first_back | last_back << last) << (begin.value - 1);
    return true;
}

}  // namespace replayout
