// SPDX-License-Identifier: MIT
//
// Dynamic arrays, and elements of any array, on the wire, see docs/wire_format.md, "Values".
#include "property_writer.h"

#include <algorithm>

namespace replayout {

OwedAt PropertyWriter::owed_at(const ArrayFrame& frame, std::uint32_t index) noexcept {
    if (frame.depth > 0) {
        return {frame.position.sent_version, frame.position.lost, 0, {}, frame.handle};
    }
    return frame.keyed == nullptr
               ? frame.position.at(frame.handle, index)
               : frame.keyed->owed_at(frame.position, frame.handle, frame.keyed->items[index].key);
}

bool PropertyWriter::owes_leaf(const ArrayFrame& frame, RepHandle leaf, std::uint32_t index,
                               const OwedAt& owed) const {
    const RepScope& element = frame.element;
    const Version last_changed =
        frame.array.versions[std::size_t{index} * element.handle_count + leaf.value - 1];
    if (owed.owes(last_changed) || owed.lost.is_empty()) {
        return owed.owes(last_changed);
    }
    const CmdIndex cmd_index = layout_.cmd_of(element, leaf);
    const RepLayoutCmd& cmd = layout_.cmd(cmd_index);
    if (cmd.type != RepLayoutCmdType::DynamicArray) {
        return false;
    }
    const ConstShadowBuffer memory(frame.array.elements + std::size_t{index} * element.shadow_size);
    return owes_array(layout_, cmd_index, shadow_value<ShadowArray>(memory + cmd.shadow_offset),
                      owed);
}

void PropertyWriter::collect_elements(const ArrayFrame& frame, ElementSpan span,
                                      ChangeMask& changed) const {
    const std::uint32_t handle_count = frame.element.handle_count;
    changed.reset(frame.array.count * handle_count);
    const std::uint32_t end = std::min(span.end, frame.array.count);
    for (std::uint32_t i = span.begin; i < end; ++i) {
        const OwedAt owed = owed_at(frame, i);
        for (RepHandle leaf{1}; leaf.value <= handle_count; ++leaf.value) {
            if (owes_leaf(frame, leaf, i, owed)) {
                changed.set(i * handle_count + leaf.value - 1);
            }
        }
        complete_groups(frame, i, 0, changed);
    }
}

void PropertyWriter::complete_groups(const ArrayFrame& frame, std::uint32_t index,
                                     std::uint32_t first, ChangeMask& changed) const {
    const std::uint32_t handle_count = frame.element.handle_count;
    const Version* versions = frame.array.versions + std::size_t{index} * handle_count;
    const std::uint32_t offset = (index - first) * handle_count;
    for (const RepGroup& group : layout_.groups(frame.element)) {
        const std::uint32_t end = group.handle_end - 1u;
        std::uint32_t leaf = group.handle_begin - 1u;
        if (changed.next(offset + leaf) >= offset + end) {
            continue;
        }
        for (; leaf < end; ++leaf) {
            if (versions[leaf] > frame.position.held_version) {
                changed.set(offset + leaf);
            }
        }
    }
}

void PropertyWriter::encode_elements(const ArrayFrame& frame, std::uint32_t begin,
                                     std::uint32_t end, BitWriter& writer) {
    const RepScope& element = frame.element;
    std::uint32_t i = begin / element.handle_count;
    std::uint32_t leaf = begin % element.handle_count;
    for (std::uint32_t bit = begin; bit < end && !writer.overflowed();) {
        const ConstShadowBuffer memory(frame.array.elements + std::size_t{i} * element.shadow_size);
        const RepHandle handle{leaf + 1};
        const RepHandle row_end{std::min(std::uint32_t{layout_.plain_leaf(element, handle).row_end},
                                         handle.value + (end - bit))};
        if (row_end > handle) {
            write_row(element, memory, handle, row_end, writer);
            bit += row_end.value - handle.value;
            leaf = row_end.value - 1;
        } else {
            encode_element_leaf(frame, i, handle, writer);
            ++bit;
            ++leaf;
        }
        if (leaf == element.handle_count) {
            leaf = 0;
            ++i;
        }
    }
}

void PropertyWriter::encode_element_leaf(const ArrayFrame& frame, std::uint32_t index,
                                         RepHandle handle, BitWriter& writer) {
    const CmdIndex cmd_index = layout_.cmd_of(frame.element, handle);
    const RepLayoutCmd& cmd = layout_.cmd(cmd_index);
    const ConstShadowBuffer memory(frame.array.elements +
                                   std::size_t{index} * frame.element.shadow_size);
    const ConstShadowBuffer leaf = memory + cmd.shadow_offset;
    if (cmd.type == RepLayoutCmdType::DynamicArray) {
        const bool is_in_group = layout_.find_group(frame.element, handle) != nullptr;
        const OwedVersions position = frame.position.with_lost(owed_at(frame, index).lost);
        encode_array(cmd_index, shadow_value<ShadowArray>(leaf), ElementSpan(),
                     is_in_group ? group_position() : position, frame.depth + 1, writer);
    } else {
        encode_leaf(cmd, leaf, writer);
    }
}

void PropertyWriter::encode_array(CmdIndex index, const ShadowArray& array, ElementSpan span,
                                  const OwedVersions& position, std::uint32_t depth,
                                  BitWriter& writer) {
    const bool is_optional = layout_.cmd(index).property->kind == PropertyKind::Optional;
    if (is_optional) {
        writer.write_bool(array.count != 0);
    } else {
        writer.write_packed_uint(array.count);
    }
    if (array.count == 0) {
        return;
    }
    const ArrayFrame frame{array, layout_.element_scope(index), position, depth,
                           RepHandle{layout_.cmd(index).relative_handle}};
    ChangeMask& changed = context_.scratch.elements[depth];
    collect_elements(frame, span, changed);
    if (is_optional && frame.element.handle_count == 1) {
        changed.set(0);  // a set would cost more than the value does
    } else {
        write_change_mask(writer, changed, EmptySet::Possible);
    }
    std::uint32_t run_end = 0;
    for (std::uint32_t bit = changed.next(0); bit < changed.bit_count() && !writer.overflowed();
         bit = changed.next(run_end)) {
        run_end = changed.next_clear(bit);
        encode_elements(frame, bit, run_end, writer);
    }
}

}  // namespace replayout
