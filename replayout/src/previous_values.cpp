// SPDX-License-Identifier: MIT
#include <replayout/previous_values.h>

#include <replayout/prefetch.h>
#include <replayout/reflection/type.h>

#include "equal_bytes.h"
#include "rep_layout_builder.h"
#include "struct_value.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

namespace replayout {

namespace {

void copy_leaf(const RepLayoutCmd& cmd, ShadowBuffer target, ConstShadowBuffer source) {
    switch (cmd.type) {
        case RepLayoutCmdType::String:
            shadow_value<PmrString>(target) = shadow_value<PmrString>(source);
            return;
        case RepLayoutCmdType::Object:
            shadow_value<ShadowReference>(target) = shadow_value<ShadowReference>(source);
            return;
        case RepLayoutCmdType::NetSerializeStruct:
            copy_struct(*cmd.property->struct_type, target.data(), source.data());
            return;
        default:
            std::memcpy(target.data(), source.data(),
                        shadow_footprint(cmd.type, *cmd.property).size);
            return;
    }
}

[[nodiscard]] bool equal_leaves(const RepLayoutCmd& cmd, ConstShadowBuffer left,
                                ConstShadowBuffer right) {
    switch (cmd.type) {
        case RepLayoutCmdType::String:
            return shadow_value<PmrString>(left) == shadow_value<PmrString>(right);
        case RepLayoutCmdType::Object:
            return shadow_value<ShadowReference>(left).object ==
                       shadow_value<ShadowReference>(right).object &&
                   shadow_value<ShadowReference>(left).guid ==
                       shadow_value<ShadowReference>(right).guid;
        case RepLayoutCmdType::NetSerializeStruct:
            return structs_identical(*cmd.property->struct_type, left.data(), right.data());
        default:
            return std::memcmp(left.data(), right.data(),
                               shadow_footprint(cmd.type, *cmd.property).size) == 0;
    }
}

constexpr std::size_t word_bytes = sizeof(std::uint32_t);

/// Nothing was known before.
constexpr Version unknown_version = 0xFFFF'FFFFu;

/// Four words at once, by whatever instructions the machine has for that.
using Words [[gnu::vector_size(16)]] = std::uint32_t;
constexpr std::uint32_t words_at_once = 4;

/// Of leaves of four bytes each, side by side: what they are, what they are to be noted as, and
/// what they were.
struct WordRows {
    const std::byte* object;
    std::byte* row;
    std::byte* before;
    std::byte* two_ago;
    Version* last_changed;
    Version* starts_before;
    Version* starts_two_ago;
    Version version;
};

/// Bit i for word i.
struct ChangedWords {
    std::uint64_t differing = 0;
    std::uint64_t back = 0;  ///< of these, those that are again what they were two values ago
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
[[nodiscard]] std::uint64_t bits_of(std::uint32_t lanes) noexcept {
    return lanes & 1;
}
[[nodiscard]] std::uint64_t bits_of(Words lanes) noexcept {
#if defined(REPLAYOUT_EQUAL_BYTES_SSE2)
    __m128 sign_bits;
    std::memcpy(&sign_bits, &lanes, sizeof(sign_bits));
    return static_cast<std::uint64_t>(_mm_movemask_ps(sign_bits));
#else
    const Words bits = lanes & Words{1, 2, 4, 8};
    return (bits[0] | bits[1]) | (bits[2] | bits[3]);
#endif
}

[[nodiscard]] std::uint32_t are_equal(std::uint32_t left, std::uint32_t right) noexcept {
    return left == right ? ~0u : 0u;
}
[[nodiscard]] Words are_equal(Words left, Words right) noexcept {
    return static_cast<Words>(left == right);
}

/// One word or four, from word `index` on. Words that are equal already stay as they are, so that
/// the last four may lie over those before.
template <typename Word>
void change_at(const WordRows& rows, std::uint32_t index, ChangedWords& changed) noexcept {
    const auto object = load<Word>(rows.object, index);
    const auto row = load<Word>(rows.row, index);
    const auto before = load<Word>(rows.before, index);
    const auto last_changed = load<Word>(rows.last_changed, index);
    const auto starts_before = load<Word>(rows.starts_before, index);
    const Word same = are_equal(object, row);
    const Word back =
        ~same & are_equal(before, object) & ~are_equal(starts_before, Word{} + unknown_version);
    const auto blend = [same](Word kept, Word changing) {
        return static_cast<Word>((kept & same) | (changing & ~same));
    };
    store(rows.two_ago, index, blend(load<Word>(rows.two_ago, index), before));
    store(rows.before, index, blend(before, row));
    store(rows.row, index, object);
    store(rows.starts_two_ago, index, blend(load<Word>(rows.starts_two_ago, index), starts_before));
    store(rows.starts_before, index, blend(starts_before, last_changed));
    store(rows.last_changed, index, blend(last_changed, Word{} + rows.version));
    changed.differing |= bits_of(static_cast<Word>(~same)) << index;
    changed.back |= bits_of(back) << index;
}

[[nodiscard]] ChangedWords change_word_rows(const WordRows& rows, std::uint32_t count) noexcept {
    ChangedWords changed;
    std::uint32_t index = 0;
    if (count >= words_at_once) {
        for (; index + words_at_once <= count; index += words_at_once) {
            change_at<Words>(rows, index, changed);
        }
        if (index < count) {
            change_at<Words>(rows, count - words_at_once, changed);
        }
        return changed;
    }
    for (; index < count; ++index) {
        change_at<std::uint32_t>(rows, index, changed);
    }
    return changed;
}

}  // namespace

PreviousValues::~PreviousValues() {
    if (memory_ != nullptr) {
        const ShadowMemory shadows(*layout_, resource_);
        shadows.destroy(layout_->root(), values(0));
        shadows.destroy(layout_->root(), values(1));
        resource_->deallocate(memory_, memory_bytes(), alignment());
    }
}

std::size_t PreviousValues::alignment() const noexcept {
    return std::max<std::size_t>(layout_->root().shadow_alignment, alignof(std::uint64_t));
}

std::size_t PreviousValues::memory_bytes() const noexcept {
    const std::size_t handle_count = layout_->handle_count();
    return 2 * std::size_t{value_bytes_} + 2 * sizeof(Version) * handle_count +
           (handle_count + 63) / 64 * sizeof(std::uint64_t);
}

void PreviousValues::allocate() {
    const auto step = static_cast<std::uint32_t>(alignment());
    value_bytes_ = (layout_->root().shadow_size + step - 1) / step * step;
    memory_ = static_cast<std::byte*>(resource_->allocate(memory_bytes(), alignment()));
    const ShadowMemory shadows(*layout_, resource_);
    for (std::size_t age = 0; age < 2; ++age) {
        shadows.construct(layout_->root(), values(age));
        std::uninitialized_fill_n(starts(age), layout_->handle_count(), unknown_version);
    }
    std::uninitialized_fill_n(returned(), (layout_->handle_count() + 63) / 64, 0);
}

void PreviousValues::prefetch() const noexcept {
    if (memory_ != nullptr) {
        replayout::prefetch(memory_, memory_bytes());
    }
}

void PreviousValues::keep(const RepLayoutCmd& cmd, ConstShadowBuffer leaf, Version last_changed) {
    REPLAYOUT_ASSERT(!is_array(cmd.type));
    if (memory_ == nullptr) {
        allocate();
    }
    const ShadowBuffer before = values(0) + cmd.shadow_offset;
    copy_leaf(cmd, values(1) + cmd.shadow_offset, before);
    copy_leaf(cmd, before, leaf);
    const std::uint32_t bit = cmd.relative_handle - 1u;
    starts(1)[bit] = starts(0)[bit];
    starts(0)[bit] = last_changed;
    is_unfinished_ = true;
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

void PreviousValues::change_row(RepHandle begin, RepHandle end, std::byte* row,
                                const std::byte* object, Version* last_changed, Version version) {
    if (memory_ == nullptr) {
        allocate();
    }
    const PlainLeaf* const leaves = &layout_->plain_leaf(layout_->root(), begin);
    const ShadowOffset first = leaves[0].shadow_begin;
    std::byte* const before = (values(0) + first).data();
    std::byte* const two_ago = (values(1) + first).data();
    Version* const starts_before = starts(0);
    Version* const starts_two_ago = starts(1);
    for (std::uint32_t bit = begin.value - 1; bit + 1 < end.value; ++bit) {
        const PlainLeaf& leaf = leaves[bit + 1 - begin.value];
        const std::size_t offset = leaf.shadow_begin.value - first.value;
        const bool is_back = starts_before[bit] != unknown_version &&
                             equal_plain_leaves(before + offset, object + offset, leaf.size());
        set_returned(bit, 1, is_back ? 1 : 0);
        starts_two_ago[bit] = starts_before[bit];
        starts_before[bit] = last_changed[bit];
        last_changed[bit] = version;
    }
    const std::size_t size = leaves[end.value - 1 - begin.value].shadow_end.value - first.value;
    std::memcpy(two_ago, before, size);
    std::memcpy(before, row, size);
    std::memcpy(row, object, size);
}

std::uint64_t PreviousValues::change_words(RepHandle begin, std::uint32_t count,
                                           ShadowOffset offset, std::byte* row,
                                           const std::byte* object, Version* last_changed,
                                           Version version) {
    if (equal_bytes(row, object, count * word_bytes)) {
        return 0;  // and what is not touched stays out of the cache
    }
    if (memory_ == nullptr) {
        allocate();
    }
    const std::uint32_t first = begin.value - 1;
    const WordRows rows{object,
                        row,
                        (values(0) + offset).data(),
                        (values(1) + offset).data(),
                        last_changed + first,
                        starts(0) + first,
                        starts(1) + first,
                        version};
    const ChangedWords changed = change_word_rows(rows, count);
    if (changed.differing != 0) {
        set_returned(first, changed.differing, changed.back);
    }
    return changed.differing;
}

void PreviousValues::finish_change(const RepLayoutCmd& cmd, ConstShadowBuffer leaf) {
    const std::uint32_t bit = cmd.relative_handle - 1u;
    const ConstShadowBuffer two_ago = values(1) + cmd.shadow_offset;
    const bool is_back = starts(1)[bit] != unknown_version && equal_leaves(cmd, two_ago, leaf);
    set_returned(bit, 1, is_back ? 1 : 0);
}

bool PreviousValues::is_any_back(Version version) const noexcept {
    if (memory_ == nullptr) {
        return false;
    }
    for (std::uint32_t begin = 0; begin < layout_->handle_count(); begin += 64) {
        for (std::uint64_t left = returned()[begin >> 6]; left != 0; left &= left - 1) {
            const std::uint32_t bit = begin + static_cast<std::uint32_t>(std::countr_zero(left));
            if (is_back(RepHandle{bit + 1}, version)) {
                return true;
            }
        }
    }
    return false;
}

ConstShadowBuffer PreviousValues::value_at(const RepLayoutCmd& cmd,
                                           Version version) const noexcept {
    if (memory_ == nullptr) {
        return {};
    }
    for (std::size_t age = 0; age < 2; ++age) {
        const Version start = starts(age)[cmd.relative_handle - 1u];
        if (start != unknown_version && version >= start) {
            return values(age) + cmd.shadow_offset;
        }
    }
    return {};
}

}  // namespace replayout
