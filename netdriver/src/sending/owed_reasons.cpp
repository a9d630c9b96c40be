// SPDX-License-Identifier: MIT
#include "owed_reasons.h"

namespace replayout {

OwedReason OwedReasons::reason_of(ObjectIndex index, const PriorityInputs& inputs) const noexcept {
    if (parts_.pairs.dormancy().irrelevant.test(index)) {
        return OwedReason::NotRelevant;
    }
    if (parts_.pairs.dormancy().dormant.test(index)) {
        return OwedReason::Dormant;
    }
    if (!parts_.pairs.contains(index)) {
        return OwedReason::NotDue;  // it is new, and waits for its first look
    }
    if (parts_.initial_batch.state() == InitialBatch::State::Before ||
        parts_.initial_batch.waiting().test(index)) {
        return OwedReason::Joining;
    }
    if (parts_.values.has_unmapped(index)) {
        return OwedReason::WaitsForObject;
    }
    if (parts_.pairs.pending().test(index)) {
        return pending_reason(index, inputs);
    }
    if (channel_state(parts_.pairs[index]) == ChannelState::Closing) {
        return OwedReason::WaitsForObject;  // pending once the channel is free
    }
    if (parts_.values.turns().is_waiting(index)) {
        // Packets are left, but the other end keeps no further values waiting.
        const bool is_window_open = parts_.packets.sent().packets_for(PacketUse::Values) > 0 &&
                                    parts_.packets.value_room() == 0;
        return parts_.packets.bandwidth().is_capped() && is_window_open ? OwedReason::NoBudget
                                                                        : OwedReason::WindowFull;
    }
    const bool is_marked = parts_.objects.at(index)->changelist_state().is_marked();
    return is_marked && inputs.calendar.is_waiting(index) ? OwedReason::NotDue
                                                          : OwedReason::Nothing;
}

OwedReason OwedReasons::pending_reason(ObjectIndex index,
                                       const PriorityInputs& inputs) const noexcept {
    const ChannelState state = channel_state(parts_.pairs[index]);
    const bool is_new = state == ChannelState::Closed;
    if (state == ChannelState::Closing || (is_new && !parts_.channels.may_open(index))) {
        return OwedReason::WaitsForObject;
    }
    if (is_new && parts_.channels.is_held_back(index)) {
        return OwedReason::WindowFull;
    }
    if (const PairExtra* const extra = parts_.pairs.find_extra(index);
        extra != nullptr && !extra->ahead.may_begin_values()) {
        return OwedReason::WaitsForObject;
    }
    const FlushProgress& last_flush = parts_.last_flush;
    const OwedReason no_room =
        last_flush.was_stopped_by_window() ? OwedReason::WindowFull : OwedReason::NoBudget;
    if (last_flush.end() == FlushProgress::End::BeforeObjects) {
        return no_room;
    }
    // What was due then, and was not missed, has become pending since.
    const bool is_capped = parts_.packets.bandwidth().is_capped();
    if (last_flush.end() == FlushProgress::End::AmongObjects &&
        (!is_capped || parts_.pending.order().is_missed(index))) {
        return no_room;
    }
    const bool steps_down = is_capped && !is_new && !is_initial(parts_.pairs[index]) &&
                            parts_.pending.step_down(index, inputs) > 0;
    return steps_down ? OwedReason::SteppedDown : OwedReason::NotDue;
}

}  // namespace replayout
