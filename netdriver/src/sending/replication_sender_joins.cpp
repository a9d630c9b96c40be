// SPDX-License-Identifier: MIT
//
// What the world is when a client joins it: opened a few in each flush.
#include "replication_sender.h"

namespace replayout {

bool ReplicationSender::open_initial_batch(std::uint32_t initial_opens) {
    const std::uint64_t end = stats_.channels_opened + initial_opens;
    while (stats_.channels_opened < end) {
        const std::uint32_t index = initial_batch_.next();
        if (index == BitRow::no_bit) {
            return true;
        }
        const std::size_t sent_before = initial_batch_.sent().size();
        release_joined(index);
        if (pairs_.dormancy().is_resting(index)) {
            continue;
        }
        const SendOutcome outcome = replicate_actor(index);
        if (outcome == SendOutcome::Done) {
            continue;
        }
        if (channel_state(pairs_[index]) == ChannelState::Closed) {
            take_back_joined(sent_before);
        }
        return outcome != SendOutcome::NoRoom;
    }
    return true;
}

void ReplicationSender::release_joined(std::uint32_t root) {
    objects_.for_each_in_family(root, [this](std::uint32_t index) {
        if (!initial_batch_.waiting().test(index)) {
            return;
        }
        initial_batch_.release(index);
        if (!pairs_.dormancy().is_resting(index)) {
            pairs_.pending().set(index);
            initial_batch_.add_sent(
                {objects_.id_at(index), objects_.at(index)->changelist_state().version()});
        }
    });
    REPLAYOUT_ASSERT(!initial_batch_.waiting().test(root));  // else it would be next for ever
}

// An object that found no room goes first the next time. As a pending object it would wait for the
// share of new objects.
void ReplicationSender::take_back_joined(std::size_t sent_before) {
    while (initial_batch_.sent().size() > sent_before) {
        const std::uint32_t index = initial_batch_.sent().back().id.index;
        pairs_.pending().clear(index);
        initial_batch_.take_back_last();
    }
}

bool ReplicationSender::is_initial_batch_over() {
    // All of them each time, and not one behind the other: what changes all the time is looked at
    // while the client gets it. What is sent is there a round trip later, so there are not many.
    for (std::size_t place = initial_batch_.sent().size(); place > 0; --place) {
        if (has_sent(initial_batch_.sent()[place - 1])) {
            initial_batch_.take_sent(place - 1);
        }
    }
    return initial_batch_.is_over();
}

bool ReplicationSender::has_sent(const InitialBatch::Sent& object) {
    const std::uint32_t index = object.id.index;
    if (!objects_.contains(object.id) || pairs_.dormancy().is_resting(index)) {
        return true;  // it is not to have it any more, or had it all
    }
    if (channel_state(pairs_[index]) != ChannelState::Open || part_notices_.is_telling(index)) {
        return false;
    }
    const PairExtra* extra = pairs_.find_extra(index);
    if (extra != nullptr && extra->paused.is_any_as_old_as(object.version)) {
        return false;
    }
    if (extra != nullptr && !extra->left_out.is_empty()) {
        return true;  // what cannot be sent is not waited for
    }
    const SendingRepState pair = pairs_[index];
    if (pairs_.has_arrived(index) && pair.sent_version >= object.version) {
        return true;
    }
    const InitialBatch::Arrival arrival = initial_batch_.arrival(index);
    return arrival == InitialBatch::Arrival::Whole ||
           (arrival == InitialBatch::Arrival::Pieces &&
            records_.complete_version(index) >= object.version);
}

void ReplicationSender::note_first_block(const SentRecord& record, bool is_delivered) {
    const bool is_first = record.carried.versions.after == 0 && !record.carried.versions.is_empty();
    if (initial_batch_.state() != InitialBatch::State::Sending || !is_first) {
        return;
    }
    const bool is_whole = is_delivered && !record.is_more && record.carried.range.is_whole() &&
                          !pairs_.dormancy().awaits_outer.test(record.object_index);
    if (is_whole) {
        initial_batch_.came_whole(record.object_index);
    } else {
        initial_batch_.comes_in_pieces(record.object_index);
    }
}

void ReplicationSender::note_first_value(std::uint32_t index) {
    // An object that begins with nothing but values too large for a packet has no first block.
    if (initial_batch_.state() == InitialBatch::State::Sending &&
        initial_batch_.arrival(index) == InitialBatch::Arrival::None) {
        initial_batch_.comes_in_pieces(index);
    }
}

}  // namespace replayout
