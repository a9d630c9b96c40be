// SPDX-License-Identifier: MIT
#include "send_block.h"

#include "keyed_array_steps.h"

#include <algorithm>

namespace replayout {

std::size_t array_steps_of(const ChangelistState& state, const OwedVersions& position,
                           RepHandle handle, std::size_t value_bits, bool is_cut) {
    const RepLayout& layout = state.layout();
    const CmdIndex index = layout.cmd_of(layout.root(), handle);
    const RepLayoutCmd& cmd = layout.cmd(index);
    if (cmd.type != RepLayoutCmdType::KeyedArray) {
        return 0;
    }
    const auto& array = shadow_value<ShadowKeyedArray>(state.shadow() + cmd.shadow_offset);
    return keyed_array_steps_max(layout, index, array, position, value_bits, is_cut);
}

void leave_out_groups(const RepLayout& layout, const ChangeMask& owed,
                      Vector<RepHandle>& left_out) {
    const std::size_t count = left_out.size();
    for (std::size_t i = 0; i < count; ++i) {
        const RepGroup* group = layout.find_group(layout.root(), left_out[i]);
        if (group == nullptr) {
            continue;
        }
        for (std::uint32_t bit = owed.next(group->handle_begin - 1u); bit + 1 < group->handle_end;
             bit = owed.next(bit + 1)) {
            if (std::find(left_out.begin(), left_out.end(), RepHandle{bit + 1}) == left_out.end()) {
                left_out.push_back(RepHandle{bit + 1});
            }
        }
    }
}

}  // namespace replayout
