// SPDX-License-Identifier: MIT
//
// Who goes first on a connection whose cap is reached, and why a client lacks something.
#include "interest_manager.h"
#include "replication_sender.h"

namespace replayout {

std::uint32_t ReplicationSender::band_of(std::uint32_t index,
                                         const PriorityInputs& inputs) const noexcept {
    const NetworkObjectInfo& info = *objects_.at(objects_.root_of(index));  // with all its parts
    std::uint32_t band = info.band();
    if (inputs.distance == 0 || !info.location().has_value()) {
        return band;
    }
    const std::optional<float> squared =
        inputs.interest.distance_squared_to(inputs.client, *info.location());
    float limit = inputs.distance * inputs.distance;
    while (squared.value_or(0) > limit && band + 1 < SendOrder::band_count) {
        ++band;
        limit *= 4;
    }
    return band;
}

std::uint32_t ReplicationSender::step_down(std::uint32_t index,
                                           const PriorityInputs& inputs) const noexcept {
    return packets_.is_capped()
               ? order_.exponent_of(band_of(index, inputs), inputs.calendar.ticks_of(index))
               : 0;
}

void ReplicationSender::add_candidate(std::uint32_t index, const PriorityInputs& inputs) {
    const std::uint32_t band = band_of(index, inputs);
    if (channel_state(pairs_[index]) == ChannelState::Closed) {
        const NetworkObjectInfo& info = *objects_.at(objects_.root_of(index));
        const std::optional<float> squared =
            info.location().has_value()
                ? inputs.interest.distance_squared_to(inputs.client, *info.location())
                : std::nullopt;
        order_.add_new(index, band, squared.value_or(0));
    } else if (is_initial(pairs_[index])) {
        order_.add(index, band, SendOrder::unfinished_rank);
    } else {
        order_.add(index, band, order_.rank_of(index, band, inputs.calendar.ticks_of(index)));
    }
}

bool ReplicationSender::replicate_by_priority(const PriorityInputs& inputs) {
    BitRow& pending = pairs_.pending();
    order_.begin(pending);
    for (std::uint32_t index = pending.next(0); index != BitRow::no_bit;
         index = pending.next(index + 1)) {
        if (objects_.at(index) == nullptr) {
            pending.clear(index);
            continue;
        }
        add_candidate(index, inputs);
    }
    order_.order();
    return replicate_candidates();
}

bool ReplicationSender::replicate_candidates() {
    while (order_.has_candidate()) {
        const std::uint32_t index = order_.first();
        // Some went out with what was taken before.
        const SendOutcome outcome =
            pairs_.pending().test(index) ? replicate_actor(index) : SendOutcome::Done;
        if (outcome == SendOutcome::NoRoom) {
            return false;
        }
        order_.take();
        if (outcome == SendOutcome::HeldBack) {
            order_.hold_back(index);
        } else {
            order_.sent(index);
        }
    }
    return true;
}

OwedReason ReplicationSender::owed_reason(std::uint32_t index,
                                          const PriorityInputs& inputs) const noexcept {
    if (pairs_.dormancy().irrelevant.test(index)) {
        return OwedReason::NotRelevant;
    }
    if (pairs_.dormancy().dormant.test(index)) {
        return OwedReason::Dormant;
    }
    if (!pairs_.contains(index)) {
        return OwedReason::NotDue;  // it is new, and waits for its first look
    }
    if (initial_batch_.state() == InitialBatch::State::Before ||
        initial_batch_.waiting().test(index)) {
        return OwedReason::Joining;
    }
    if (values_.has_unmapped(index)) {
        return OwedReason::WaitsForObject;
    }
    if (pairs_.pending().test(index)) {
        return pending_reason(index, inputs);
    }
    if (values_.turns().is_waiting(index)) {
        // Where there would be room for it, the other end lets no more wait.
        const bool is_window_open =
            packets_.has_window_for(Share::Values) && packets_.value_room() == 0;
        return packets_.is_capped() && is_window_open ? OwedReason::NoBudget
                                                      : OwedReason::WindowFull;
    }
    const bool is_marked = objects_.at(index)->changelist_state().is_marked();
    return is_marked && inputs.calendar.is_waiting(index) ? OwedReason::NotDue
                                                          : OwedReason::Nothing;
}

OwedReason ReplicationSender::pending_reason(std::uint32_t index,
                                             const PriorityInputs& inputs) const noexcept {
    const ChannelState state = channel_state(pairs_[index]);
    const bool is_new = state == ChannelState::Closed;
    if (state == ChannelState::Closing || (is_new && !channels_.may_open(index))) {
        return OwedReason::WaitsForObject;
    }
    if (is_new && channels_.is_held_back(index)) {
        return OwedReason::WindowFull;
    }
    const OwedReason no_room =
        was_stopped_by_window_ ? OwedReason::WindowFull : OwedReason::NoBudget;
    if (flush_end_ == FlushEnd::BeforeObjects) {
        return no_room;
    }
    // What was due then, and was not missed, has become pending since.
    const bool is_capped = packets_.is_capped();
    if (flush_end_ == FlushEnd::AmongObjects && (!is_capped || order_.is_missed(index))) {
        return no_room;
    }
    const bool steps_down =
        is_capped && !is_new && !is_initial(pairs_[index]) && step_down(index, inputs) > 0;
    return steps_down ? OwedReason::SteppedDown : OwedReason::NotDue;
}

}  // namespace replayout
