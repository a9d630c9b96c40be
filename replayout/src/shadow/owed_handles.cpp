// SPDX-License-Identifier: MIT
#include "owed_handles.h"

#include <replayout/keyed_array.h>

namespace replayout {

bool owes_element(const RepLayout& layout, CmdIndex array_cmd, const ShadowArray& array,
                  std::uint32_t index, const OwedAt& owed) noexcept {
    const RepScope& element = layout.element_scope(array_cmd);
    const Version* versions = array.versions + std::size_t{index} * element.handle_count;
    const ConstShadowBuffer memory(array.elements + std::size_t{index} * element.shadow_size);
    for (std::uint32_t leaf = 0; leaf < element.handle_count; ++leaf) {
        if (owed.owes(versions[leaf])) {
            return true;
        }
        // What is new below shows in the version of this leaf; what was lost below need not.
        const CmdIndex cmd_index = layout.cmd_of(element, RepHandle{leaf + 1});
        const RepLayoutCmd& cmd = layout.cmd(cmd_index);
        if (!owed.lost.is_empty() && cmd.type == RepLayoutCmdType::DynamicArray &&
            owes_array(layout, cmd_index, shadow_value<ShadowArray>(memory + cmd.shadow_offset),
                       owed)) {
            return true;
        }
    }
    return false;
}

bool owes_array(const RepLayout& layout, CmdIndex array_cmd, const ShadowArray& array,
                const OwedAt& owed) noexcept {
    if (owed.owes(array.count_version)) {
        return true;
    }
    for (std::uint32_t i = 0; i < array.count; ++i) {
        if (owes_element(layout, array_cmd, array, i, owed)) {
            return true;
        }
    }
    return false;
}

bool OwedHandles::is_lost(const ChangelistState& state, const OwedVersions& position,
                          RepHandle handle, const OwedAt& anywhere) noexcept {
    const RepLayout& layout = state.layout();
    const CmdIndex index = layout.cmd_of(layout.root(), handle);
    const RepLayoutCmd& cmd = layout.cmd(index);
    if (!is_array(cmd.type)) {
        return anywhere.owes(state.last_changed(handle));
    }
    const ConstShadowBuffer leaf = state.shadow() + cmd.shadow_offset;
    if (cmd.type == RepLayoutCmdType::KeyedArray) {
        return owes_keyed_array(layout, index, shadow_value<ShadowKeyedArray>(leaf), position);
    }
    // An array's last change may lie elsewhere than the change that was lost.
    const auto& array = shadow_value<ShadowArray>(leaf);
    if (anywhere.owes(array.count_version)) {
        return true;
    }
    for (std::uint32_t i = 0; i < array.count; ++i) {
        if (owes_element(layout, index, array, i, position.at(handle, i))) {
            return true;
        }
    }
    return false;
}

}  // namespace replayout
