// SPDX-License-Identifier: MIT
#include <replayout/connection_shadow.h>

namespace replayout {

bool ConnectionShadow::owes(RepHandle handle) const noexcept {
    const RepLayout& layout = object_->layout();
    const ParentIndex parent = layout.cmd(layout.cmd_of(layout.root(), handle)).parent_index;
    return object_->conditions().passes(parent, passing_) && object_->owes(position_, handle);
}

ConstShadowBuffer ConnectionShadow::held(RepHandle handle) const noexcept {
    const RepLayout& layout = object_->layout();
    const RepLayoutCmd& cmd = layout.cmd(layout.cmd_of(layout.root(), handle));
    if (!is_exact() || object_->conditions().is_hidden(cmd.parent_index, passing_)) {
        return {};
    }
    if (object_->last_changed(handle) <= position_.sent_version) {
        return object_->shadow() + cmd.shadow_offset;
    }
    return object_->previous().value_at(cmd, position_.sent_version);
}

}  // namespace replayout
