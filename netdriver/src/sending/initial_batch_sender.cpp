// SPDX-License-Identifier: MIT
#include "initial_batch_sender.h"

#include <replayout/reflection/diagnostics.h>

namespace replayout {

namespace {

// Where few packets are lost a copy is complete before, and sends nothing twice.
constexpr std::uint32_t losses_before_ahead = 3;

}  // namespace

InitialBatchSender::InitialBatchSender(const Parts& parts, MemoryResource* resource)
    : batch_(resource), parts_(parts) {}

bool InitialBatchSender::open(std::uint32_t opens) {
    parts_.packets.set_objects_share(BudgetShare::Joins);
    had_room_ = open_next(opens);
    parts_.packets.set_objects_share(BudgetShare::State);
    return had_room_;
}

bool InitialBatchSender::open_next(std::uint32_t opens) {
    const std::uint64_t end = parts_.stats.channels_opened + opens;
    while (parts_.stats.channels_opened < end) {
        const ObjectIndex index = batch_.next();
        if (index == BitRow::no_bit) {
            return true;
        }
        if (open_several(index, end - parts_.stats.channels_opened)) {
            continue;
        }
        const std::size_t sent_before = batch_.sent().size();
        release(index);
        if (parts_.pairs.dormancy().is_resting(index)) {
            continue;
        }
        const SendOutcome outcome = parts_.replicator.replicate_actor(index);
        if (outcome == SendOutcome::Done) {
            continue;
        }
        if (channel_state(parts_.pairs[index]) == ChannelState::Closed) {
            take_back(sent_before);
        }
        return outcome != SendOutcome::NoRoom;
    }
    return true;
}

bool InitialBatchSender::open_several(ObjectIndex index, std::uint64_t count_max) {
    if (!batch_.is_by_index()) {
        return false;
    }
    const BitRow& waiting = batch_.waiting();
    std::uint32_t count =
        parts_.replicator.open_several(index, {waiting, BitRow::no_bit, count_max});
    const bool has_any = count > 0;
    for (; count > 0; --count) {
        const ObjectIndex next = waiting.after(index);
        batch_.release(index);
        batch_.add_sent(
            {parts_.objects.id_at(index), parts_.objects.at(index)->changelist_state().version()});
        index = next;
    }
    return has_any;
}

void InitialBatchSender::release(ObjectIndex root) {
    parts_.objects.for_each_in_family(root, [this](ObjectIndex index) {
        if (!batch_.waiting().test(index)) {
            return;
        }
        batch_.release(index);
        if (!parts_.pairs.dormancy().is_resting(index)) {
            parts_.pairs.pending().set(index);
            batch_.add_sent({parts_.objects.id_at(index),
                             parts_.objects.at(index)->changelist_state().version()});
        }
    });
    REPLAYOUT_ASSERT(!batch_.waiting().test(root));  // else it would be next for ever
}

// An object that found no room goes first the next time. As a pending object it would wait for the
// share of new objects.
void InitialBatchSender::take_back(std::size_t sent_before) {
    while (batch_.sent().size() > sent_before) {
        const ObjectIndex index = slot_of(batch_.sent().back().id);
        parts_.pairs.pending().clear(index);
        batch_.take_back_last();
    }
}

bool InitialBatchSender::is_over() {
    // Looks at all of them each time, and not at one after the other: an object that changes all
    // the time is looked at while the client gets it. They arrive within a round trip, so there are
    // not many.
    for (std::size_t number = batch_.sent().size(); number > 0; --number) {
        const ObjectIndex index = slot_of(batch_.sent()[number - 1].id);
        if (has_sent(batch_.sent()[number - 1])) {
            batch_.take_sent(number - 1);
            parts_.ahead.stop(index);
        } else if (needs_state_ahead(index)) {
            parts_.ahead.hold_back(index, parts_.records.complete_version(index));
        }
    }
    return batch_.is_over();
}

bool InitialBatchSender::has_sent(const InitialBatch::Sent& object) {
    const ObjectIndex index = slot_of(object.id);
    if (!parts_.objects.contains(object.id) || parts_.pairs.dormancy().is_resting(index)) {
        return true;  // it is not to have it any more, or had it all
    }
    if (channel_state(parts_.pairs[index]) != ChannelState::Open ||
        parts_.part_notices.is_telling(index)) {
        return false;
    }
    const PairExtra* extra = parts_.pairs.find_extra(index);
    if (extra != nullptr && extra->paused.is_any_as_old_as(object.version)) {
        return false;
    }
    if (extra != nullptr && !extra->left_out.is_empty()) {
        return true;  // nobody waits for values that cannot be sent
    }
    const SendingRepState pair = parts_.pairs[index];
    if (parts_.pairs.has_arrived(index) && pair.sent_version >= object.version) {
        return true;
    }
    const InitialBatch::Arrival arrival = batch_.arrival(index);
    return arrival == InitialBatch::Arrival::Whole ||
           (arrival == InitialBatch::Arrival::Pieces &&
            parts_.records.complete_version(index) >= object.version);
}

// If blocks keep getting lost while the object keeps changing, the client's copy might never be
// complete. A call may have begun the object's StateAhead and no longer wait for it. Then the batch
// carries it on, because an object with deltas sends nothing while its StateAhead drains.
bool InitialBatchSender::needs_state_ahead(ObjectIndex index) const noexcept {
    if (batch_.arrival(index) != InitialBatch::Arrival::Pieces ||
        channel_state(parts_.pairs[index]) != ChannelState::Open) {
        return false;
    }
    const PairExtra* extra = parts_.pairs.find_extra(index);
    return extra != nullptr &&
           (extra->ahead.is_on() || extra->complete.loss_count() > losses_before_ahead);
}

void InitialBatchSender::note_first_block_of_batch(const SentRecord& record, bool is_delivered) {
    const bool is_first = record.carried.versions.after == 0 && !record.carried.versions.is_empty();
    if (!is_first) {
        return;
    }
    const bool is_whole = is_delivered && !record.is_more && record.carried.range.is_whole() &&
                          !parts_.pairs.dormancy().awaits_outer.test(record.object_index);
    if (is_whole) {
        batch_.came_whole(record.object_index);
    } else {
        batch_.comes_in_pieces(record.object_index);
    }
}

void InitialBatchSender::note_first_value(ObjectIndex index) {
    // An object that begins with nothing but values too large for a packet has no first block.
    if (is_sending() && batch_.arrival(index) == InitialBatch::Arrival::None) {
        batch_.comes_in_pieces(index);
    }
}

}  // namespace replayout
