// SPDX-License-Identifier: MIT
//
// Objects that are dormant on this connection: their channels are closed, and the client keeps
// them.
//
// A pair goes dormant when it is exact and nothing waits, so its client is known to hold each value
// that it may see, at sent_version. It stays so: the pair is kept as it is, and the channel that
// opens again goes on from there. (Rejected: SendingRepState::reopen(), everything that ever
// changed is owed. It is for a receiver of which nothing is known any more; here it would send an
// object of twenty properties for the one that changed. Rejected: sent_version = 0, which looks
// exact, of values that the client does not hold.)
#include "replication_sender.h"

namespace replayout {

void ReplicationSender::become_dormant(std::uint32_t index) {
    if (!pairs_.dormancy().dormant.test(index)) {
        pairs_.dormancy().becoming.insert(index);
    }
}

void ReplicationSender::withhold(std::uint32_t index) {
    pairs_.grow();
    const bool has_channel = channel_state(pairs_[index]) == ChannelState::OpenSent ||
                             channel_state(pairs_[index]) == ChannelState::Open;
    const bool has_calls = calls_.has_calls(ObjectStore::channel_of(index));
    if (has_channel || has_calls || pairs_.dormancy().kept.test(index)) {
        become_dormant(index);
        return;
    }
    pairs_.dormancy().dormant.insert(index);
    pairs_.pending().clear(index);
}

void ReplicationSender::wake(std::uint32_t index) {
    pairs_.dormancy().becoming.erase(index);
    if (pairs_.dormancy().dormant.test(index)) {
        pairs_.grow();
        pairs_.dormancy().dormant.clear(index);
        if (!pairs_.dormancy().irrelevant.test(index)) {
            pairs_.pending().set(index);
        }
    }
}

void ReplicationSender::ask_dormant(std::uint32_t index, bool is_dormant) {
    if (is_dormant) {
        pairs_.dormancy().asked.insert(index);
    } else {
        pairs_.dormancy().asked.erase(index);
    }
}

void ReplicationSender::enter_dormancy() {
    for (std::uint32_t index = pairs_.dormancy().becoming.next(0); index != BitRow::no_bit;
         index = pairs_.dormancy().becoming.next(index + 1)) {
        if (!may_go_dormant(index)) {
            continue;
        }
        if (!packets_.can_write(Share::Messages) ||
            !packets_.reliable().has_room_for(Share::Messages, close_payload_bytes)) {
            return;
        }
        const bool is_torn_off = objects_.at(index)->is_torn_off();
        channels_.queue_close(
            index, is_torn_off ? ChannelCloseReason::TearOff : ChannelCloseReason::Dormancy);
        (void)calls_.drop_channel(ObjectStore::channel_of(index));  // none wait: its sequences
        if (is_torn_off) {
            finish_tear_off(index);
            if (PairValidator* validator = pairs_.validator()) {
                validator->channel_closed(index);
            }
        } else {
            pairs_.dormancy().becoming.clear(index);
            pairs_.dormancy().dormant.insert(index);
            pairs_.dormancy().kept.insert(index);
            if (PairValidator* validator = pairs_.validator()) {
                validator->channel_dormant(index);
            }
        }
        (void)packets_.write_unsent_bunches();
    }
}

void ReplicationSender::tear_off(std::uint32_t index) {
    pairs_.grow();
    pairs_.dormancy().asked.erase(index);
    const bool was_kept = pairs_.dormancy().kept.test(index);
    const ChannelState state = channel_state(pairs_[index]);
    const bool has_channel = state == ChannelState::OpenSent || state == ChannelState::Open;
    if (was_kept || has_channel) {
        wake(index);
        pairs_.dormancy().becoming.insert(index);
        return;
    }
    // It is never sent to who does not have it; the object before it may still be closing here.
    stats_.calls_dropped += calls_.drop_channel(ObjectStore::channel_of(index));
    finish_tear_off(index);
}

bool ReplicationSender::is_torn_off(std::uint32_t index) const noexcept {
    return pairs_.dormancy().irrelevant.test(index) &&
           (!pairs_.contains(index) || channel_state(pairs_[index]) == ChannelState::Closed);
}

void ReplicationSender::finish_tear_off(std::uint32_t index) {
    values_.forget_object(index);
    pairs_.dormancy().closed(index);
    pairs_.dormancy().irrelevant.insert(index);
    pairs_.pending().clear(index);
    pairs_.erase_deltas(index);
}

bool ReplicationSender::may_go_dormant(std::uint32_t index) const {
    // Not pending: nothing is owed. Exact: nothing is lost or in flight, no delta and no large
    // value either; and of an open channel there are no other bunches than those, but for calls.
    const SendingRepState& pair = pairs_[index];
    const bool may_go =
        channel_state(pair) == ChannelState::Open && !pairs_.pending().test(index) &&
        pairs_.is_exact(index) && !values_.has_unmapped(index) && !roles_.is_telling(index) &&
        !has_torn_off_parts(index) && !calls_.has_calls(ObjectStore::channel_of(index));
    REPLAYOUT_ASSERT(!may_go || bunch_count(pair) == 0);
    return may_go;
}

bool ReplicationSender::has_torn_off_parts(std::uint32_t index) const {
    // The client lets go of the parts with the whole, so each must have all of its last state.
    bool has_any = false;
    if (objects_.at(index)->is_torn_off()) {
        std::uint32_t part = objects_.at(index)->family().first;
        for (; part != ObjectStore::no_index; part = objects_.at(part)->family().next) {
            has_any = has_any || pairs_.dormancy().becoming.test(part);
        }
    }
    return has_any;
}

}  // namespace replayout
