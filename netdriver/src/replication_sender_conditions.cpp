// SPDX-License-Identifier: MIT
//
// What a connection is to an object, and what happens when it becomes something else.
#include "replication_sender.h"

namespace replayout {

ReplicationFlags ReplicationSender::flags_of(std::uint32_t index,
                                             const ObjectFacts& facts) const noexcept {
    ReplicationFlags flags;
    flags.is_initial = is_initial(pairs_[index]);
    flags.is_owner = facts.has_owner && facts.owner == settings_.peer;
    flags.is_simulated = !(flags.is_owner && facts.is_autonomous);
    flags.is_replay = is_replay_;
    flags.has_physics = facts.has_physics;
    return flags;
}

ObjectConditions::Receiver ReplicationSender::receiver_of(std::uint32_t index) const {
    const ReplicationFlags flags = flags_of(index, objects_.at(index)->facts());
    ObjectConditions::Receiver receiver = ObjectConditions::make_receiver(flags);
    const auto extra = extras_.find(index);
    if (extra != extras_.end()) {
        receiver.turned_on = extra->second.turned_on;
    }
    return receiver;
}

OwedVersions ReplicationSender::block_position_of(std::uint32_t index,
                                                  const OwedVersions& position) const {
    const ChangelistState& state = objects_.at(index)->changelist_state();
    return state.layout().conditions().is_trivial()
               ? position
               : state.conditions().block_position(receiver_of(index), position);
}

void ReplicationSender::facts_changed(std::uint32_t index, const ObjectFacts& before,
                                      const ObjectFacts& after) {
    grow();
    const LifetimeConditionSet was = passing_conditions(flags_of(index, before));
    const LifetimeConditionSet is = passing_conditions(flags_of(index, after));
    turn_on(index, is.without(was));
}

void ReplicationSender::dynamic_condition_changed(std::uint32_t index, LifetimeCondition before,
                                                  LifetimeCondition after) {
    grow();
    const ReplicationFlags flags = flags_of(index, objects_.at(index)->facts());
    // What was sent only at first may be old by now.
    if (passes(after, flags) && (!passes(before, flags) || is_initial_condition(before))) {
        LifetimeConditionSet turned_on;
        turned_on.insert(LifetimeCondition::Dynamic);
        turn_on(index, turned_on);
    }
}

void ReplicationSender::set_is_replay(bool is_replay) {
    grow();
    for (std::uint32_t index = 0; index < objects_.slot_count(); ++index) {
        if (objects_.at(index) != nullptr) {
            ReplicationFlags flags = flags_of(index, objects_.at(index)->facts());
            const LifetimeConditionSet was = passing_conditions(flags);
            flags.is_replay = is_replay;
            turn_on(index, passing_conditions(flags).without(was));
        }
    }
    is_replay_ = is_replay;
}

void ReplicationSender::turn_on(std::uint32_t index, LifetimeConditionSet turned_on) {
    const ChannelState state = channel_state(pairs_[index]);
    if (state != ChannelState::OpenSent && state != ChannelState::Open &&
        !dormancy_.kept.test(index)) {
        return;  // it will be sent everything that it may see
    }
    turned_on = objects_.at(index)->changelist_state().conditions().turned_on(turned_on);
    if (!turned_on.is_empty()) {
        PairExtra& extra = extra_of(index);
        extra.turned_on = extra.turned_on | turned_on;
        extra.complete.began_to_see_more();
        if (!dormancy_.dormant.test(index)) {
            pending_.set(index);
        }
    }
}

}  // namespace replayout
