// SPDX-License-Identifier: MIT
#include "array_elements.h"

#include "dynamic_array_writer.h"
#include "write_leaf.h"

#include <algorithm>

namespace replayout {

bool ArrayElements::owes_inner_array(std::uint32_t index, RepHandle leaf,
                                     const OwedAt& owed) const {
    const RepLayout& layout = context_.layout();
    const CmdIndex cmd_index = layout.cmd_of(scope_, leaf);
    const RepLayoutCmd& cmd = layout.cmd(cmd_index);
    return cmd.type == RepLayoutCmdType::DynamicArray &&
           owes_array(layout, cmd_index,
                      shadow_value<ShadowArray>(memory_of(index) + cmd.shadow_offset), owed);
}

void ArrayElements::complete_groups(std::uint32_t index, std::uint32_t offset,
                                    ChangeMask& leaves) const {
    const Version* versions = array_.versions + std::size_t{index} * scope_.handle_count;
    for (const RepGroup& group : context_.layout().groups(scope_)) {
        const std::uint32_t end = group.handle_end - 1u;
        std::uint32_t leaf = group.handle_begin - 1u;
        if (leaves.next(offset + leaf) >= offset + end) {
            continue;
        }
        for (; leaf < end; ++leaf) {
            if (versions[leaf] > position_->held_version) {
                leaves.set(offset + leaf);
            }
        }
    }
}

void ArrayElements::write_leaves(std::uint32_t offset, const ChangeMask& leaves,
                                 BitWriter& writer) const {
    std::uint32_t run_end = 0;
    for (std::uint32_t bit = leaves.next(0); bit < leaves.bit_count() && !writer.overflowed();
         bit = leaves.next(run_end)) {
        run_end = leaves.next_clear(bit);
        write_run(offset + bit, offset + run_end, writer);
    }
}

void ArrayElements::write_run(std::uint32_t begin, std::uint32_t end, BitWriter& writer) const {
    const RepLayout& layout = context_.layout();
    std::uint32_t i = begin / scope_.handle_count;
    std::uint32_t leaf = begin % scope_.handle_count;
    for (std::uint32_t bit = begin; bit < end && !writer.overflowed();) {
        const RepHandle handle{leaf + 1};
        const RepHandle run_end{std::min(std::uint32_t{layout.plain_leaf(scope_, handle).run_end},
                                         handle.value + (end - bit))};
        if (run_end > handle) {
            write_plain_leaves(layout, scope_, memory_of(i), handle, run_end, writer);
            bit += run_end.value - handle.value;
            leaf = run_end.value - 1;
        } else {
            write_one(i, handle, writer);
            ++bit;
            ++leaf;
        }
        if (leaf == scope_.handle_count) {
            leaf = 0;
            ++i;
        }
    }
}

void ArrayElements::write_one(std::uint32_t index, RepHandle handle, BitWriter& writer) const {
    const RepLayout& layout = context_.layout();
    const CmdIndex cmd_index = layout.cmd_of(scope_, handle);
    const RepLayoutCmd& cmd = layout.cmd(cmd_index);
    const ConstShadowBuffer leaf = memory_of(index) + cmd.shadow_offset;
    if (cmd.type == RepLayoutCmdType::DynamicArray) {
        const bool is_in_group = layout.find_group(scope_, handle) != nullptr;
        const OwedVersions position = position_->with_lost(owed_at(index).lost);
        write_dynamic_array(context_, cmd_index, shadow_value<ShadowArray>(leaf),
                            is_in_group ? context_.group_position() : position, depth_ + 1, {},
                            writer);
    } else {
        write_leaf(context_, cmd, leaf, writer);
    }
}

}  // namespace replayout
