// SPDX-License-Identifier: MIT
#include <replayout/previous_values.h>

#include <replayout/reflection/type.h>

#include "change_words.h"
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

using detail::are_equal;
using detail::bits_of;
using detail::change_all;
using detail::ComparedWords;
using detail::KnownWords;
using detail::load;
using detail::splat;
using detail::store;
using detail::word_bytes;
using detail::WordRows;
using detail::Words;
using detail::words_at_once;

/// Bit i for word i.
struct ChangedWords {
    std::uint64_t differing = 0;
    std::uint64_t back = 0;  ///< of these, those that are again what they were two values ago
};

/// The same where some stay as they are.
template <typename Word>
[[nodiscard]] std::uint64_t change_some(const WordRows& rows, std::uint32_t index,
                                        const ComparedWords<Word>& words,
                                        const KnownWords<Word>& known) noexcept {
    const Word same = words.same;
    const auto blend = [same](Word kept, Word changing) {
        return static_cast<Word>((kept & same) | (changing & ~same));
    };
    store(rows.two_ago, index, blend(load<Word>(rows.two_ago, index), known.before));
    store(rows.before, index, blend(known.before, words.row));
    store(rows.row, index, words.object);
    store(rows.starts_two_ago, index,
          blend(load<Word>(rows.starts_two_ago, index), known.starts_before));
    store(rows.starts_before, index, blend(known.starts_before, known.last_changed));
    store(rows.last_changed, index, blend(known.last_changed, splat<Word>(rows.version)));
    return bits_of(static_cast<Word>(
        ~same & are_equal(known.before, words.object) &
        ~are_equal(known.starts_before, splat<Word>(PreviousValues::unknown_version))));
}

/// One word or four, from word `index` on. Words that are equal already stay as they are, so that
/// the last four may lie over those before.
template <typename Word>
void change_at(const WordRows& rows, std::uint32_t index, ChangedWords& changed) noexcept {
    constexpr std::uint64_t all = detail::low_mask(sizeof(Word) / word_bytes);
    const ComparedWords<Word> words(rows.object, rows.row, index);
    const std::uint64_t differing = words.differing();
    if (differing == 0) {
        return;
    }
    const KnownWords<Word> known(rows, index);
    const std::uint64_t back = differing == all ? change_all(rows, index, words, known)
                                                : change_some(rows, index, words, known);
    changed.differing |= differing << index;
    changed.back |= back << index;
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

PreviousValues::PreviousValues(const RepLayout& layout, MemoryResource* resource) noexcept
    : layout_(&layout),
      resource_(resource),
      handle_count_(static_cast<std::uint16_t>(layout.handle_count())) {
    REPLAYOUT_ASSERT(handle_count_ == layout.handle_count());
    const auto step = static_cast<std::uint32_t>(alignment());
    value_bytes_ = (layout.root().shadow_size + step - 1) / step * step;
}

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
    return 2 * std::size_t{value_bytes_} + 2 * sizeof(Version) * handle_count_ +
           (handle_count_ + 63u) / 64 * sizeof(std::uint64_t);
}

void PreviousValues::allocate() {
    memory_ = static_cast<std::byte*>(resource_->allocate(memory_bytes(), alignment()));
    const ShadowMemory shadows(*layout_, resource_);
    for (std::size_t age = 0; age < 2; ++age) {
        shadows.construct(layout_->root(), values(age));
        std::uninitialized_fill_n(starts(age), handle_count_, unknown_version);
    }
    std::uninitialized_fill_n(returned(), (handle_count_ + 63u) / 64, 0);
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
    const ChangedWords changed =
        change_word_rows(word_rows(begin, offset, row, object, last_changed, version), count);
    set_returned(begin.value - 1, changed.differing, changed.back);
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
    for (std::uint32_t begin = 0; begin < handle_count_; begin += 64) {
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
