// SPDX-License-Identifier: MIT
//
// Who goes first on a connection whose cap is reached, and why a client lacks something.
#include "interest_manager.h"
#include "replication_sender.h"

namespace replayout {

std::uint32_t ReplicationSender::band_of(std::uint32_t index,
                                         const PriorityInputs& inputs) const noexcept {
    std::uint32_t band = objects_.band_of(index);
    if (inputs.distance == 0) {
        return band;
    }
    const NetworkObjectInfo& info = *objects_.at(objects_.root_of(index));  // with all its parts
    if (!info.location().has_value()) {
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
    const UpdateCalendar& calendar = inputs.calendar;
    return packets_.bandwidth().is_capped()
               ? order_.exponent_of_last_flush(band_of(index, inputs),
                                               calendar.ticks_of(index, calendar.flush_before()))
               : 0;
}

SendOrder::Kind ReplicationSender::kind_of(std::uint32_t index) const noexcept {
    const SendingRepState pair = pairs_[index];
    if (channel_state(pair) == ChannelState::Closed) {
        return SendOrder::Kind::New;
    }
    return is_initial(pair) ? SendOrder::Kind::Unfinished : SendOrder::Kind::Shown;
}

SendOrder::Arrival ReplicationSender::arrival_of(std::uint32_t index,
                                                 const PriorityInputs& inputs) {
    SendOrder::Arrival arrival;
    if (objects_.at(index) == nullptr) {
        pairs_.pending().clear(index);
        arrival.is_there = false;
        return arrival;
    }
    arrival.kind = kind_of(index);
    arrival.band = band_of(index, inputs);
    if (arrival.kind == SendOrder::Kind::New) {
        const NetworkObjectInfo& info = *objects_.at(objects_.root_of(index));
        if (info.location().has_value()) {
            arrival.distance_squared =
                inputs.interest.distance_squared_to(inputs.client, *info.location()).value_or(0);
        }
    }
    return arrival;
}

// What comes next lies anywhere, so it is asked for ahead: first what leads to it.
void ReplicationSender::prefetch_coming() const noexcept {
    constexpr std::size_t farthest_steps = 12;
    constexpr std::size_t far_steps = 8;
    constexpr std::size_t near_steps = 4;
    if (const std::uint32_t farthest = order_.coming(farthest_steps);
        farthest < objects_.slot_count()) {
        objects_.prefetch_slot(farthest);
        pairs_.prefetch(farthest);
        order_.prefetch(farthest);
    }
    if (const std::uint32_t far = order_.coming(far_steps); far < objects_.slot_count()) {
        if (const NetworkObjectInfo* info = objects_.at(far)) {
            info->changelist_state().prefetch_state();
        }
    }
    if (objects_.is_shared()) {
        return;  // what others share of it, lanes may be writing
    }
    if (const std::uint32_t near = order_.coming(near_steps); near < objects_.slot_count()) {
        if (const NetworkObjectInfo* info = objects_.at(near)) {
            const std::span<const SharedPayload> payloads =
                info->changelist_state().shared().payloads();
            prefetch(payloads.data(), payloads.size_bytes());
            info->changelist_state().previous().prefetch();
        }
    }
    if (const std::uint32_t next = order_.coming(0); next < objects_.slot_count()) {
        if (const NetworkObjectInfo* info = objects_.at(next)) {
            for (const SharedPayload& payload : info->changelist_state().shared().payloads()) {
                prefetch(payload.bytes.data(), 1);
            }
        }
    }
}

bool ReplicationSender::replicate_next() {
    const SendOrder::Candidate candidate = order_.take();
    prefetch_coming();
    const std::uint32_t index = candidate.index;
    // Some went out with what was taken before.
    const std::uint64_t bytes_before = packets_.bytes_written();
    const SendOutcome outcome =
        pairs_.pending().test(index) ? replicate_actor(index) : SendOutcome::Done;
    order_.pay(candidate, static_cast<std::uint32_t>(packets_.bytes_written() - bytes_before));
    if (outcome == SendOutcome::HeldBack) {
        order_.hold_back(candidate, kind_of(index));
    } else if (outcome == SendOutcome::NoRoom && candidate.kind == kind_of(index)) {
        order_.miss(candidate);
    } else {
        order_.sent(index);
        if (pairs_.pending().test(index)) {
            pairs_.placed().erase(index);  // it waits for another one, or is another kind now
        }
    }
    return outcome != SendOutcome::NoRoom;
}

void ReplicationSender::skip_objects(const PriorityInputs& inputs) noexcept {
    stop_before_objects(inputs);
    decline_bundles();
}

void ReplicationSender::stop_before_objects(const PriorityInputs& inputs) noexcept {
    stop(FlushEnd::BeforeObjects);
    // What had its turn in this flush has it in the next: its own may be hundreds of flushes away.
    if (!skipped_since_) {
        skipped_since_ = inputs.calendar.flush_before();
    }
}

bool ReplicationSender::replicate_by_priority(const PriorityInputs& inputs) {
    const BitRow& pending = pairs_.pending();
    const UpdateCalendar& calendar = inputs.calendar;
    const auto band = [&](std::uint32_t index) {
        return inputs.distance == 0 ? objects_.band_of(index) : band_of(index, inputs);
    };
    const UpdateCalendar::Flush since = skipped_since_.value_or(calendar.flush_before());
    const TickRange flush_ticks = calendar.flush_ticks(since);
    const auto ticks = [&](std::uint32_t index) {
        return calendar.is_paced(index) ? calendar.ticks_of(index, since) : flush_ticks;
    };
    if (!order_.has_begun()) {
        order_.begin(
            pending, [&](std::uint32_t index) { return arrival_of(index, inputs); }, band, ticks);
    }
    while (order_.has_candidate()) {
        if (!replicate_next()) {
            return false;
        }
    }
    order_.add_undue(pending, band, ticks);
    while (order_.has_candidate()) {
        if (!replicate_next()) {
            return false;
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
            packets_.sent().packets_for(Share::Values) > 0 && packets_.value_room() == 0;
        return packets_.bandwidth().is_capped() && is_window_open ? OwedReason::NoBudget
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
    if (const PairExtra* const extra = pairs_.find_extra(index);
        extra != nullptr && !extra->ahead.may_begin_values()) {
        return OwedReason::WaitsForObject;
    }
    const OwedReason no_room =
        was_stopped_by_window_ ? OwedReason::WindowFull : OwedReason::NoBudget;
    if (flush_end_ == FlushEnd::BeforeObjects) {
        return no_room;
    }
    // What was due then, and was not missed, has become pending since.
    const bool is_capped = packets_.bandwidth().is_capped();
    if (flush_end_ == FlushEnd::AmongObjects && (!is_capped || order_.is_missed(index))) {
        return no_room;
    }
    const bool steps_down =
        is_capped && !is_new && !is_initial(pairs_[index]) && step_down(index, inputs) > 0;
    return steps_down ? OwedReason::SteppedDown : OwedReason::NotDue;
}

}  // namespace replayout
