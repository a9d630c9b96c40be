// SPDX-License-Identifier: MIT
#include "actor_replicator.h"

#include <optional>

namespace replayout {

ActorReplicator::ActorReplicator(const Parts& parts, std::span<TypeCounters> type_counters,
                                 MemoryResource* scratch)
    : parts_(parts),
      shared_opens_({parts.objects, parts.pairs, parts.channels, parts.properties, parts.packets,
                     parts.context, parts.open_runs}),
      type_counters_(type_counters),
      to_settle_(scratch) {}

void ActorReplicator::write_lost_opens() {
    while (const std::optional<ObjectIndex> index = parts_.packets.write_lost_open()) {
        const bool is_shown = channel_state(parts_.pairs[*index]) == ChannelState::OpenSent;
        if (is_shown) {
            owe_early_parts(*index);
        }
        if (is_shown && is_frozen(*index) &&
            parts_.hidden_states.write_with_open(*index) == SendOutcome::NoRoom) {
            return;  // as any other open
        }
        if (is_shown && parts_.pairs.pending().test(*index) &&
            replicate_after_opens(*index) == SendOutcome::NoRoom) {
            return;  // the open waits with its block
        }
        parts_.packets.opens().followed(*index);
        if (is_shown) {
            write_early_parts(*index);
        }
    }
}

void ActorReplicator::owe_early_parts(ObjectIndex outer) {
    parts_.objects.for_each_there_is(outer, [&](ObjectIndex part) {
        if (part != outer && channel_state(parts_.pairs[part]) == ChannelState::OpenSent &&
            !parts_.packets.opens().contains(part)) {
            parts_.pairs.owe_everything(part);
        }
    });
}

void ActorReplicator::write_early_parts(ObjectIndex outer) {
    bool has_room = true;
    parts_.objects.for_each_there_is(outer, [&](ObjectIndex part) {
        if (has_room && parts_.pairs.dormancy().awaits_outer.test(part) &&
            parts_.pairs.pending().test(part)) {
            has_room = replicate_after_opens(part) != SendOutcome::NoRoom;
        }
    });
}

SendOutcome ActorReplicator::write_missing_blocks() {
    while (const std::optional<ObjectIndex> index = parts_.packets.opens().first_unfollowed()) {
        count_type_of(*parts_.objects.at(*index), type_counters_, parts_.context);
        // A hidden object was opened for calls alone, and they carry its state.
        if (!is_frozen(*index) &&
            parts_.properties.replicate_properties(*index) == SendOutcome::NoRoom) {
            return SendOutcome::NoRoom;
        }
        // Also where there is nothing to send of it yet.
        parts_.packets.opens().followed(*index);
        settle_if_regular(*index);
    }
    write_lost_opens();  // those of parts that were in the way of their outer's block
    return parts_.packets.has_lost_opens() ? SendOutcome::NoRoom : SendOutcome::Done;
}

SendOutcome ActorReplicator::replicate_after_opens(ObjectIndex index) {
    if (is_frozen(index)) {
        parts_.pairs.pending().clear(index);
        return SendOutcome::Done;
    }
    count_type_of(*parts_.objects.at(index), type_counters_, parts_.context);
    switch (channel_state(parts_.pairs[index])) {
        case ChannelState::Closing:
            // It is pending again once the close is delivered, and the channel free. With a cap it
            // keeps its place in the order, and one that woke again stays what it is.
            if (!parts_.packets.bandwidth().is_capped() &&
                !parts_.pairs.dormancy().kept.test(index)) {
                parts_.pairs.pending().clear(index);
            }
            return SendOutcome::Done;
        case ChannelState::Closed:
            if (shared_opens_.open(index)) {
                if (may_have_regular_pairs(parts_.initial_batch, parts_.packets, parts_.order) &&
                    !parts_.pairs.settle_opened(index,
                                                may_be_regular(parts_.pairs.ref(index).layout()))) {
                    to_settle_.push_back(index);
                }
                return SendOutcome::Done;
            }
            if (const SendOutcome outcome = parts_.channels.open_channel(index);
                outcome != SendOutcome::Done) {
                return outcome;
            }
            // Otherwise it stays pending: the client must have its outer first.
            return write_first_blocks();
        default:
            break;
    }
    const SendOutcome outcome = parts_.properties.replicate_properties(index);
    if (outcome == SendOutcome::Done) {
        settle_if_regular(index);
    }
    return outcome;
}

std::uint32_t ActorReplicator::open_as_laid_down(ObjectIndex index,
                                                 const SharedOpens::Order& order) {
    const bool may_settle =
        may_have_regular_pairs(parts_.initial_batch, parts_.packets, parts_.order);
    return shared_opens_.open_several(index, order, [&](const OpenRuns::Entry& entry) {
        if (may_settle) {
            settle_opened(entry);
        }
    });
}

void ActorReplicator::settle(ObjectIndex index) {
    if (!parts_.pairs.settle(index)) {
        to_settle_.push_back(index);
    }
}

void ActorReplicator::settle_waiting() {
    for (const ObjectIndex index : to_settle_) {
        settle(index);
    }
    to_settle_.clear();
}

}  // namespace replayout
