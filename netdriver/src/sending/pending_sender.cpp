// SPDX-License-Identifier: MIT
#include "pending_sender.h"

#include "interest_manager.h"

#include <cstddef>
#include <span>
#include <utility>

namespace replayout {

PendingSender::PendingSender(const Parts& parts, SendOrder::Candidates& candidates,
                             MemoryResource* resource)
    : parts_(parts), order_(candidates, parts.pairs.ordered(), resource) {}

bool PendingSender::replicate(const PriorityInputs& inputs) {
    if (parts_.packets.bandwidth().is_capped()) {
        return replicate_by_priority(inputs);
    }
    const ObjectIndex first = std::exchange(first_index_, {});
    return replicate_slots(first, ObjectIndex{parts_.objects.slot_count()}) &&
           (first == ObjectIndex{} || replicate_slots({}, first));
}

bool PendingSender::replicate_slots(ObjectIndex begin, ObjectIndex end) {
    for (ObjectIndex index = parts_.pairs.pending().next(begin); index < end;
         index = parts_.pairs.pending().after(index)) {
        if (parts_.objects.at(index) == nullptr) {
            parts_.pairs.pending().clear(index);
            continue;
        }
        if (parts_.replicator.open_several(index, {parts_.pairs.pending(), end}) > 0) {
            continue;
        }
        if (parts_.replicator.replicate_actor(index) == SendOutcome::NoRoom) {
            first_index_ = index;
            return false;
        }
    }
    return true;
}

bool PendingSender::replicate_by_priority(const PriorityInputs& inputs) {
    const BitRow& pending = parts_.pairs.pending();
    const UpdateCalendar& calendar = inputs.calendar;
    const auto band = [&](ObjectIndex index) {
        return inputs.distance == 0 ? parts_.objects.band_of(index) : band_of(index, inputs);
    };
    const UpdateCalendar::Flush since = skipped_since_.value_or(calendar.flush_before());
    const TickRange flush_ticks = calendar.flush_ticks(since);
    const auto ticks = [&](ObjectIndex index) {
        return calendar.is_paced(index) ? calendar.ticks_of(index, since) : flush_ticks;
    };
    if (!order_.has_begun()) {
        order_.begin(
            pending, [&](ObjectIndex index) { return arrival_of(index, inputs); }, band, ticks);
    }
    if (!replicate_candidates()) {
        return false;
    }
    order_.add_undue(pending, band, ticks);
    return replicate_candidates();
}

bool PendingSender::replicate_candidates() {
    while (order_.has_candidate()) {
        if (!replicate_next()) {
            return false;
        }
    }
    return true;
}

bool PendingSender::replicate_next() {
    const SendOrder::Candidate candidate = order_.take();
    prefetch_coming();
    const ObjectIndex index = candidate.index;
    // Some candidates went out with another one.
    const std::uint64_t bytes_before = parts_.packets.bytes_written();
    const SendOutcome outcome = parts_.pairs.pending().test(index)
                                    ? parts_.replicator.replicate_actor(index)
                                    : SendOutcome::Done;
    order_.pay(candidate,
               static_cast<std::uint32_t>(parts_.packets.bytes_written() - bytes_before));
    if (outcome == SendOutcome::HeldBack) {
        order_.hold_back(candidate, kind_of(index));
    } else if (outcome == SendOutcome::NoRoom && candidate.kind == kind_of(index)) {
        order_.miss(candidate);
    } else {
        order_.sent(index);
        if (parts_.pairs.pending().test(index)) {
            parts_.pairs.ordered().erase(
                index);  // it waits for another one, or is another kind now
        }
    }
    return outcome != SendOutcome::NoRoom;
}

// The next candidates lie anywhere in memory, so they are prefetched: first whatever leads to them.
void PendingSender::prefetch_coming() const noexcept {
    constexpr std::size_t farthest_steps = 12;
    constexpr std::size_t far_steps = 8;
    constexpr std::size_t near_steps = 4;
    const ObjectStore& objects = parts_.objects;
    if (const ObjectIndex farthest = order_.coming(farthest_steps); objects.has_slot(farthest)) {
        objects.prefetch_slot(farthest);
        parts_.pairs.prefetch(farthest);
        order_.prefetch(farthest);
    }
    if (const ObjectIndex far = order_.coming(far_steps); objects.has_slot(far)) {
        if (const ServerObject* info = objects.at(far)) {
            info->changelist_state().prefetch_state();
        }
    }
    if (objects.is_shared()) {
        return;  // lanes may be writing what connections share of an object
    }
    if (const ObjectIndex near = order_.coming(near_steps); objects.has_slot(near)) {
        if (const ServerObject* info = objects.at(near)) {
            const std::span<const SharedPayload> payloads =
                info->changelist_state().shared().payloads();
            prefetch(payloads.data(), payloads.size_bytes());
            info->changelist_state().previous().prefetch();
        }
    }
    if (const ObjectIndex next = order_.coming(0); objects.has_slot(next)) {
        if (const ServerObject* info = objects.at(next)) {
            for (const SharedPayload& payload : info->changelist_state().shared().payloads()) {
                prefetch(payload.bytes.data(), 1);
            }
        }
    }
}

void PendingSender::end_flush() {
    if (order_.has_begun()) {
        skipped_since_.reset();
    }
    order_.end([this](ObjectIndex index) { return kind_of(index); });
}

SendOrder::Arrival PendingSender::arrival_of(ObjectIndex index, const PriorityInputs& inputs) {
    SendOrder::Arrival arrival;
    if (parts_.objects.at(index) == nullptr) {
        parts_.pairs.pending().clear(index);
        arrival.is_there = false;
        return arrival;
    }
    arrival.kind = kind_of(index);
    arrival.band = band_of(index, inputs);
    if (arrival.kind == SendOrder::Kind::New) {
        const ServerObject& info = *parts_.objects.at(parts_.objects.root_of(index));
        if (info.location().has_value()) {
            arrival.distance_squared =
                inputs.interest.distance_squared_to(inputs.client, *info.location()).value_or(0);
        }
    }
    return arrival;
}

SendOrder::Kind PendingSender::kind_of(ObjectIndex index) const noexcept {
    const SendingRepState pair = parts_.pairs[index];
    if (channel_state(pair) == ChannelState::Closed) {
        return SendOrder::Kind::New;
    }
    return is_initial(pair) ? SendOrder::Kind::Unfinished : SendOrder::Kind::Shown;
}

std::uint32_t PendingSender::band_of(ObjectIndex index,
                                     const PriorityInputs& inputs) const noexcept {
    std::uint32_t band = parts_.objects.band_of(index);
    if (inputs.distance == 0) {
        return band;
    }
    const ServerObject& info =
        *parts_.objects.at(parts_.objects.root_of(index));  // with all its parts
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

std::uint32_t PendingSender::step_down(ObjectIndex index,
                                       const PriorityInputs& inputs) const noexcept {
    const UpdateCalendar& calendar = inputs.calendar;
    return parts_.packets.bandwidth().is_capped()
               ? order_.exponent_of_last_flush(band_of(index, inputs),
                                               calendar.ticks_of(index, calendar.flush_before()))
               : 0;
}

}  // namespace replayout
