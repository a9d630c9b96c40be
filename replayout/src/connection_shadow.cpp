// SPDX-License-Identifier: MIT
#include <replayout/connection_shadow.h>

namespace replayout {

bool ConnectionShadow::owes(RepHandle handle) const noexcept {
    const RepLayout& layout = object_->layout();
    const ParentIndex parent = layout.cmd(layout.cmd_of(layout.root(), handle)).parent_index;
    switch (object_->conditions().answer(parent, receiver_)) {
        case ObjectConditions::Answer::Hidden:
            return false;
        case ObjectConditions::Answer::Whole:
            return object_->last_changed(handle) != 0;
        case ObjectConditions::Answer::Owed:
            break;
    }
    return object_->owes(position_, handle);
}

ConstShadowBuffer ConnectionShadow::held(RepHandle handle) const noexcept {
    const RepLayout& layout = object_->layout();
    const RepLayoutCmd& cmd = layout.cmd(layout.cmd_of(layout.root(), handle));
    if (!is_exact() || object_->conditions().is_hidden(cmd.parent_index, receiver_.passing)) {
        return {};
    }
    if (object_->last_changed(handle) <= position_.sent_version) {
        return object_->shadow() + cmd.shadow_offset;
    }
    return object_->previous().value_at(cmd, position_.sent_version);
}

}  // namespace replayout
