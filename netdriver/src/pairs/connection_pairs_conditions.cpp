// SPDX-License-Identifier: MIT
//
// What a connection is to an object, and what happens when it becomes something else.
#include "connection_pairs.h"

namespace replayout {

ReplicationFlags ConnectionPairs::flags_of(std::uint32_t index,
                                           const ObjectFacts& facts) const noexcept {
    ReplicationFlags flags = flags_for(facts);
    flags.is_initial = is_initial(pairs_[index]);
    return flags;
}

ReplicationFlags ConnectionPairs::flags_for(const ObjectFacts& facts) const noexcept {
    ReplicationFlags flags;
    flags.is_owner = facts.has_owner && facts.owner == peer_;
    flags.is_simulated = !(flags.is_owner && facts.is_autonomous);
    flags.is_replay = is_replay_;
    flags.has_physics = facts.has_physics;
    return flags;
}

LifetimeConditionSet ConnectionPairs::passing_of(std::uint32_t index) const {
    return passing_conditions(flags_of(index, objects_.at(index)->facts()));
}

void ConnectionPairs::facts_changed(std::uint32_t index, const ObjectFacts& before,
                                    const ObjectFacts& after) {
    grow();
    // As if nothing were initial: what was sent only at first may be old by now, though a client
    // that is to be sent some of it again meets its condition.
    owe_turned_on(index, passing_conditions(flags_for(before)),
                  passing_conditions(flags_for(after)));
    if (!objects_.at(index)->changelist_state().layout().conditions().is_trivial()) {
        (void)edit(index);  // it may meet others than most from now on
    }
}

void ConnectionPairs::dynamic_condition_changed(std::uint32_t index, ParentIndex parent,
                                                LifetimeCondition after) {
    grow();
    const ChangelistState& state = objects_.at(index)->changelist_state();
    const LifetimeCondition before = state.conditions().condition_of(parent);
    const ReplicationFlags flags = flags_of(index, objects_.at(index)->facts());
    // What was sent only at first may be old by now.
    if (passes(after, flags) && (!passes(before, flags) || is_initial_condition(before))) {
        const RepParentCmd& cmd = state.layout().parents()[parent.value];
        owe_from_start(index, {cmd.first_handle, cmd.first_handle + cmd.handle_count});
    }
}

void ConnectionPairs::set_is_replay(bool is_replay) {
    grow();
    for (std::uint32_t index = 0; index < objects_.slot_count(); ++index) {
        if (objects_.at(index) != nullptr) {
            ReplicationFlags flags = flags_for(objects_.at(index)->facts());
            const LifetimeConditionSet was = passing_conditions(flags);
            flags.is_replay = is_replay;
            owe_turned_on(index, was, passing_conditions(flags));
            (void)edit(index);
        }
    }
    is_replay_ = is_replay;
}

void ConnectionPairs::owe_turned_on(std::uint32_t index, LifetimeConditionSet before,
                                    LifetimeConditionSet after) {
    objects_.at(index)->changelist_state().conditions().for_each_turned_on(
        before, after, [&](const RepRange& handles) { owe_from_start(index, handles); });
}

void ConnectionPairs::owe_what_is_initial(std::uint32_t index) {
    set_initial(edit(index), true);
    if (PairExtra* extra = find_extra(index)) {
        extra->is_initial_lost = true;
    }
}

void ConnectionPairs::owe_initial(std::uint32_t index, const RepRange& range) {
    // What changed of it since was passed over.
    ReplicationFlags flags = flags_of(index, objects_.at(index)->facts());
    flags.is_initial = false;
    const LifetimeConditionSet before = passing_conditions(flags);
    flags.is_initial = true;
    owe_what_is_initial(index);
    placed_.erase(index);
    objects_.at(index)->changelist_state().conditions().for_each_turned_on(
        before, passing_conditions(flags), range,
        [&](const RepRange& handles) { owe_from_start(index, handles); });
}

void ConnectionPairs::owe_from_start(std::uint32_t index, const RepRange& handles) {
    const VersionInterval all{0, (*this)[index].sent_version};
    if (!has_object(index) || all.is_empty()) {
        return;  // it will be sent everything that it may see
    }
    note_lost_while_paused(index, handles, all);
    owe_part(index, {all, handles});
    if (CompleteVersions* complete = tracked(index)) {
        complete->began_to_see_more();
        find_extra(index)->ahead.stop();
    }
    if (!dormancy_.is_resting(index)) {
        pending().set(index);
    }
}

}  // namespace replayout
