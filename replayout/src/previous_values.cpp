// SPDX-License-Identifier: MIT
#include <replayout/previous_values.h>

#include <replayout/prefetch.h>
#include <replayout/reflection/type.h>

#include "equal_bytes.h"
#include "rep_layout_builder.h"
#include "struct_value.h"

#include <algorithm>
#include <cstring>

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

}  // namespace

PreviousValues::PreviousValues(const RepLayout& layout, MemoryResource* resource)
    : layout_(&layout),
      resource_(resource),
      starts_(Allocator<std::array<Version, 2>>(resource)),
      returned_(resource) {}

void PreviousValues::allocate() {
    for (std::optional<ShadowState>& values : values_) {
        values.emplace(*layout_, resource_);
    }
    starts_.resize(layout_->handle_count(), {unknown, unknown});
    returned_.reset(layout_->handle_count());
}

void PreviousValues::prefetch() const noexcept {
    if (starts_.empty()) {
        return;
    }
    for (const std::optional<ShadowState>& values : values_) {
        replayout::prefetch(values->buffer().data(), layout_->root().shadow_size);
    }
    replayout::prefetch(starts_.data(), starts_.size() * sizeof(starts_.front()));
    replayout::prefetch(returned_.words().data(), 1);
}

void PreviousValues::keep(const RepLayoutCmd& cmd, ConstShadowBuffer leaf, Version last_changed) {
    REPLAYOUT_ASSERT(!is_array(cmd.type));
    if (starts_.empty()) {
        allocate();
    }
    const ShadowBuffer before = values_[0]->buffer() + cmd.shadow_offset;
    copy_leaf(cmd, values_[1]->buffer() + cmd.shadow_offset, before);
    copy_leaf(cmd, before, leaf);
    std::array<Version, 2>& starts = starts_[cmd.relative_handle - 1u];
    starts = {last_changed, starts[0]};
    is_unfinished_ = true;
}

void PreviousValues::change_row(RepHandle begin, RepHandle end, ConstShadowBuffer row,
                                const std::byte* object, const Version* last_changed) {
    if (starts_.empty()) {
        allocate();
    }
    const PlainLeaf* const leaves = &layout_->plain_leaf(layout_->root(), begin);
    const std::uint32_t count = end.value - begin.value;
    const ShadowOffset first = leaves[0].shadow_begin;
    const std::size_t size = leaves[count - 1].shadow_end.value - first.value;
    std::byte* const before = (values_[0]->buffer() + first).data();
    std::byte* const two_ago = (values_[1]->buffer() + first).data();
    std::memcpy(two_ago, before, size);
    std::memcpy(before, row.data(), size);
    std::array<Version, 2>* const starts = &starts_[begin.value - 1];
    std::uint32_t done = 0;
    while (done < count) {
        // As many as lie in one word of the set.
        const std::uint32_t bit = (begin.value - 1 + done) & 63;
        const std::uint32_t end_of_word = std::min(count, done + 64 - bit);
        const std::uint64_t changed = detail::low_mask(end_of_word - done) << bit;
        std::uint64_t back = 0;
        for (std::uint32_t i = end_of_word; i-- > done;) {
            const std::size_t offset = leaves[i].shadow_begin.value - first.value;
            const std::size_t leaf_size = leaves[i].shadow_end.value - leaves[i].shadow_begin.value;
            const bool is_known = starts[i][0] != unknown;
            starts[i] = {last_changed[i], starts[i][0]};
            const bool is_equal = equal_plain_leaves(two_ago + offset, object + offset, leaf_size);
            back = back << 1 | (std::uint64_t{is_known} & std::uint64_t{is_equal});
        }
        std::uint64_t& word = returned_.words()[(begin.value - 1 + done) >> 6];
        word = (word & ~changed) | back << bit;
        done = end_of_word;
    }
}

void PreviousValues::finish_change(const RepLayoutCmd& cmd, ConstShadowBuffer leaf) {
    const std::uint32_t bit = cmd.relative_handle - 1u;
    const ConstShadowBuffer two_ago = values_[1]->buffer() + cmd.shadow_offset;
    if (starts_[bit][1] != unknown && equal_leaves(cmd, two_ago, leaf)) {
        returned_.set(bit);
    } else {
        returned_.clear(bit);
    }
}

bool PreviousValues::is_any_back(Version version) const noexcept {
    for (std::uint32_t bit = returned_.next(0); bit < returned_.bit_count();
         bit = returned_.next(bit + 1)) {
        if (is_back(RepHandle{bit + 1}, version)) {
            return true;
        }
    }
    return false;
}

ConstShadowBuffer PreviousValues::value_at(const RepLayoutCmd& cmd,
                                           Version version) const noexcept {
    if (starts_.empty()) {
        return {};
    }
    const std::array<Version, 2>& starts = starts_[cmd.relative_handle - 1u];
    for (std::size_t i = 0; i < starts.size(); ++i) {
        if (starts[i] != unknown && version >= starts[i]) {
            return values_[i]->buffer() + cmd.shadow_offset;
        }
    }
    return {};
}

}  // namespace replayout
