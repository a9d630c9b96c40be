// SPDX-License-Identifier: MIT
//
// What a receiver is owed of an object, from what it was sent and what was lost.
#include <replayout/changelist_state.h>

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

void ChangelistState::collect_owed(const OwedVersions& position, ChangeMask& owed) const {
    owed.reset(layout_->handle_count());
    history_.collect(position.sent_version, position.lost, owed);
    const bool is_exact_history =
        position.lost.is_empty() && position.sent_version >= history_.exact_from();
    // Else every entry collected holds only what changed after sent_version.
    if (!is_exact_history || position.is_exact) {
        for (std::uint32_t bit = owed.next(0); bit < owed.bit_count(); bit = owed.next(bit + 1)) {
            if (!owes_alone(position, RepHandle{bit + 1})) {
                owed.clear(bit);
            }
        }
    }
    complete_groups(position, owed);
}

void ChangelistState::collect_owed(const OwedVersions& position, LifetimeConditionSet passing,
                                   ChangeMask& owed) const {
    collect_owed(position, owed);
    conditions_.filter(passing, owed);
}

void ChangelistState::collect_newest(ChangeMask& owed) const {
    owed.reset(layout_->handle_count());
    history_.collect_newest(owed);
}

void ChangelistState::complete_groups(const OwedVersions& position,
                                      ChangeMask& owed) const noexcept {
    for (const RepGroup& group : layout_->groups(layout_->root())) {
        const std::uint32_t end = group.handle_end - 1u;
        if (owed.next(group.handle_begin - 1u) >= end) {
            continue;
        }
        for (std::uint32_t bit = group.handle_begin - 1u; bit < end; ++bit) {
            if (last_changed_[bit] > position.held_version) {
                owed.set(bit);
            }
        }
    }
}

bool ChangelistState::owes(const OwedVersions& position, RepHandle handle) const noexcept {
    if (owes_alone(position, handle)) {
        return true;
    }
    const RepGroup* group = layout_->find_group(layout_->root(), handle);
    if (group == nullptr || last_changed(handle) <= position.held_version) {
        return false;
    }
    for (std::uint32_t other = group->handle_begin; other < group->handle_end; ++other) {
        if (owes_alone(position, RepHandle{other})) {
            return true;
        }
    }
    return false;
}

bool ChangelistState::owes_alone(const OwedVersions& position, RepHandle handle) const noexcept {
    const Version last_changed = last_changed_[handle.value - 1];
    if (last_changed > position.sent_version) {
        return !position.is_exact || !previous_.is_back(handle, position.sent_version);
    }
    const OwedAt anywhere = position.at(handle);
    if (anywhere.lost.is_empty()) {
        return false;
    }
    const CmdIndex index = layout_->cmd_of(layout_->root(), handle);
    const RepLayoutCmd& cmd = layout_->cmd(index);
    if (!is_array(cmd.type)) {
        return anywhere.owes(last_changed);
    }
    const ConstShadowBuffer leaf = shadow() + cmd.shadow_offset;
    if (cmd.type == RepLayoutCmdType::KeyedArray) {
        return owes_keyed_array(*layout_, index, shadow_value<ShadowKeyedArray>(leaf), position);
    }
    // An array's last change may lie elsewhere than the change that was lost.
    const auto& array = shadow_value<ShadowArray>(leaf);
    if (anywhere.owes(array.count_version)) {
        return true;
    }
    for (std::uint32_t i = 0; i < array.count; ++i) {
        if (owes_element(*layout_, index, array, i, position.at(handle, i))) {
            return true;
        }
    }
    return false;
}

VersionInterval ChangelistState::versions_to_repeat(RepHandle handle,
                                                    Version sent_version) const noexcept {
    const Version last_changed = this->last_changed(handle);
    if (is_array(layout_->cmd(layout_->cmd_of(layout_->root(), handle)).type)) {
        return {0, sent_version};
    }
    if (last_changed > sent_version) {
        // It may be back at what was sent, and is to go all the same: with a loss no pair is exact.
        return sent_version == 0 ? VersionInterval()
                                 : VersionInterval{sent_version - 1, sent_version};
    }
    return {last_changed - 1, last_changed};
}

ChangelistState::Pivots ChangelistState::pivots() const noexcept {
    Pivots pivots;
    const auto add = [&pivots](Version version) {
        if (version > pivots.newest) {
            pivots.before = std::exchange(pivots.newest, version);
        } else if (version < pivots.newest) {
            pivots.before = std::max(pivots.before, version);
        }
    };
    for (const RepHandle handle : layout_->keyed_handles()) {
        const RepLayoutCmd& cmd = layout_->cmd(layout_->cmd_of(layout_->root(), handle));
        const auto& array = shadow_value<ShadowKeyedArray>(shadow() + cmd.shadow_offset);
        add(array.membership_version_before);
        add(array.membership_version);
    }
    for (const RepGroup& group : layout_->groups(layout_->root())) {
        std::for_each(last_changed_.begin() + (group.handle_begin - 1),
                      last_changed_.begin() + (group.handle_end - 1), add);
    }
    return pivots;
}

bool ChangelistState::must_restart_arrays(const OwedVersions& position,
                                          const ChangeMask& handles) const noexcept {
    if (!layout_->has_keyed_arrays()) {
        return false;
    }
    for (std::uint32_t bit = handles.next(0); bit < handles.bit_count();
         bit = handles.next(bit + 1)) {
        const RepHandle handle{bit + 1};
        if (!is_keyed(handle)) {
            continue;
        }
        const RepLayoutCmd& cmd = layout_->cmd(layout_->cmd_of(layout_->root(), handle));
        if (must_restart(shadow_value<ShadowKeyedArray>(shadow() + cmd.shadow_offset), position,
                         layout_->limits().array_count_max)) {
            return true;
        }
    }
    return false;
}

}  // namespace replayout
