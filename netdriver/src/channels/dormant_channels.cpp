// SPDX-License-Identifier: MIT
#include "dormant_channels.h"

namespace replayout {

DormantChannels::DormantChannels(const ObjectStore& objects, ConnectionPairs& pairs,
                                 WaitingValues& values, const RoleSender& roles,
                                 const PartNoticeSender& part_notices, ObjectChannels& channels,
                                 PacketStream& packets, CallQueue& calls, NetStats& stats)
    : objects_(objects),
      pairs_(pairs),
      values_(values),
      roles_(roles),
      part_notices_(part_notices),
      channels_(channels),
      packets_(packets),
      calls_(calls),
      stats_(stats) {}

void DormantChannels::become_dormant(ObjectIndex index) {
    if (!pairs_.dormancy().dormant.test(index)) {
        pairs_.dormancy().becoming.insert(index);
    }
}

void DormantChannels::withhold(ObjectIndex index) {
    pairs_.grow();
    const bool has_channel = channel_state(pairs_[index]) == ChannelState::OpenSent ||
                             channel_state(pairs_[index]) == ChannelState::Open;
    const bool has_calls = calls_.has_calls(channel_of(index));
    if (has_channel || has_calls || pairs_.dormancy().kept.test(index)) {
        become_dormant(index);
        return;
    }
    pairs_.dormancy().dormant.insert(index);
    pairs_.pending().clear(index);
}

void DormantChannels::wake(ObjectIndex index) {
    pairs_.dormancy().becoming.erase(index);
    if (pairs_.dormancy().dormant.test(index)) {
        pairs_.grow();
        pairs_.dormancy().dormant.clear(index);
        pairs_.dormancy().stirs(index);
        if (!pairs_.dormancy().irrelevant.test(index)) {
            pairs_.pending().set(index);
        }
    }
}

void DormantChannels::ask_dormant(ObjectIndex index, bool is_dormant) {
    if (is_dormant) {
        pairs_.dormancy().asked.insert(index);
    } else {
        pairs_.dormancy().asked.erase(index);
    }
}

void DormantChannels::enter_dormancy() {
    for (ObjectIndex index = pairs_.dormancy().becoming.first(); index != BitRow::no_bit;
         index = pairs_.dormancy().becoming.after(index)) {
        if (!may_go_dormant(index)) {
            continue;
        }
        if (!packets_.can_write(PacketUse::Messages) ||
            !packets_.reliable().has_room_for(PacketUse::Messages, close_payload_bytes)) {
            return;
        }
        const bool is_torn_off = objects_.at(index)->is_torn_off();
        channels_.queue_close(
            index, is_torn_off ? ChannelCloseReason::TearOff : ChannelCloseReason::Dormancy);
        (void)calls_.drop_channel(channel_of(index));  // none wait: its sequences
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

void DormantChannels::tear_off(ObjectIndex index) {
    pairs_.grow();
    pairs_.dormancy().asked.erase(index);
    if (pairs_.dormancy().leaving.test(index)) {
        return;  // the client is not to keep it
    }
    const bool was_kept = pairs_.dormancy().kept.test(index);
    const ChannelState state = channel_state(pairs_[index]);
    const bool has_channel = state == ChannelState::OpenSent || state == ChannelState::Open;
    if (was_kept || has_channel) {
        wake(index);
        pairs_.dormancy().becoming.insert(index);
        return;
    }
    // It is never sent to who does not have it; the object before it may still be closing here.
    stats_.calls_dropped += calls_.drop_channel(channel_of(index));
    finish_tear_off(index);
}

bool DormantChannels::is_torn_off(ObjectIndex index) const noexcept {
    return pairs_.dormancy().irrelevant.test(index) &&
           (!pairs_.contains(index) || channel_state(pairs_[index]) == ChannelState::Closed);
}

void DormantChannels::finish_tear_off(ObjectIndex index) {
    values_.forget_object(index);
    pairs_.dormancy().closed(index);
    pairs_.dormancy().irrelevant.insert(index);
    pairs_.pending().clear(index);
    pairs_.erase_deltas(index);
}

bool DormantChannels::may_go_dormant(ObjectIndex index) const {
    // Not pending: nothing is owed. Exact: nothing is lost or in flight, no delta and no large
    // value either; and of an open channel there are no other bunches than those, but for calls.
    // Of what is torn off, what cannot be sent or waits for an object will never be there.
    const SendingRepState& pair = pairs_[index];
    const bool has_all = objects_.at(index)->is_torn_off()
                             ? pairs_.has_arrived(index)
                             : pairs_.is_exact(index) && !values_.has_unmapped(index);
    const bool may_go = channel_state(pair) == ChannelState::Open &&
                        !pairs_.dormancy().leaving.test(index) && !pairs_.pending().test(index) &&
                        has_all && !roles_.is_telling(index) && !part_notices_.is_telling(index) &&
                        !has_torn_off_parts(index) && !calls_.has_calls(channel_of(index));
    REPLAYOUT_ASSERT(!may_go || bunch_count(pair) == 0);
    return may_go;
}

bool DormantChannels::has_torn_off_parts(ObjectIndex index) const {
    // The client lets go of the parts with the whole, so each must have all of its last state.
    bool has_any = false;
    if (objects_.at(index)->is_torn_off()) {
        objects_.for_each_part(index, [&](ObjectIndex part) {
            has_any = has_any || pairs_.dormancy().becoming.test(part) ||
                      pairs_.dormancy().leaving.test(part);
        });
    }
    return has_any;
}

}  // namespace replayout
