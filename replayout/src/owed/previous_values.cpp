// SPDX-License-Identifier: MIT
#include <replayout/previous_values.h>

#include <replayout/reflection/type.h>

#include "change_words.h"
#include "equal_bytes.h"
#include "rep_layout_builder.h"
#include "spare_room.h"
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
            assign_text(shadow_value<PmrString>(target), shadow_value<PmrString>(source));
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

[[nodiscard]] bool equal_leaves(const RepLayout& layout, const RepLayoutCmd& cmd,
                                ConstShadowBuffer left, ConstShadowBuffer right) {
    switch (cmd.type) {
        case RepLayoutCmdType::String:
            return shadow_value<PmrString>(left) == shadow_value<PmrString>(right);
        case RepLayoutCmdType::Object:
            return shadow_value<ShadowReference>(left).object ==
                       shadow_value<ShadowReference>(right).object &&
                   shadow_value<ShadowReference>(left).guid ==
                       shadow_value<ShadowReference>(right).guid;
        case RepLayoutCmdType::NetSerializeStruct:
            return structs_same(layout, cmd, left.data(), right.data());
        default:
            return std::memcmp(left.data(), right.data(),
                               shadow_footprint(cmd.type, *cmd.property).size) == 0;
    }
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

void PreviousValues::change_run(RepHandle begin, RepHandle end, std::byte* shadow,
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
    std::memcpy(before, shadow, size);
    std::memcpy(shadow, object, size);
}

std::uint64_t PreviousValues::change_words(RepHandle begin, std::uint32_t count,
                                           ShadowOffset offset, std::byte* shadow,
                                           const std::byte* object, Version* last_changed,
                                           Version version) {
    if (equal_bytes(shadow, object, count * detail::word_bytes)) {
        return 0;  // and what is not touched stays out of the cache
    }
    return change_differing_words(begin, count, offset, shadow, object, last_changed, version);
}

void PreviousValues::finish_change(const RepLayoutCmd& cmd, ConstShadowBuffer leaf) {
    const std::uint32_t bit = cmd.relative_handle - 1u;
    const ConstShadowBuffer two_ago = values(1) + cmd.shadow_offset;
    const bool is_back =
        starts(1)[bit] != unknown_version && equal_leaves(*layout_, cmd, two_ago, leaf);
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
