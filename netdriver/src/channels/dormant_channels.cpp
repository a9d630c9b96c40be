// SPDX-License-Identifier: MIT
#include "dormant_channels.h"

namespace replayout {

void DormantChannels::become_dormant(ObjectIndex index) {
    if (!parts_.pairs.dormancy().dormant.test(index)) {
        parts_.pairs.dormancy().becoming.insert(index);
    }
}

void DormantChannels::withhold(ObjectIndex index) {
    parts_.pairs.grow();
    const bool has_channel = channel_state(parts_.pairs[index]) == ChannelState::OpenSent ||
                             channel_state(parts_.pairs[index]) == ChannelState::Open;
    const bool has_calls = parts_.calls.has_calls(channel_of(index));
    if (has_channel || has_calls || parts_.pairs.dormancy().kept.test(index)) {
        become_dormant(index);
        return;
    }
    parts_.pairs.dormancy().dormant.insert(index);
    parts_.pairs.pending().clear(index);
}

void DormantChannels::wake(ObjectIndex index) {
    parts_.pairs.dormancy().becoming.erase(index);
    if (parts_.pairs.dormancy().dormant.test(index)) {
        parts_.pairs.grow();
        parts_.pairs.dormancy().dormant.clear(index);
        parts_.pairs.dormancy().stirs(index);
        if (!parts_.pairs.dormancy().irrelevant.test(index)) {
            parts_.pairs.pending().set(index);
        }
    }
}

void DormantChannels::ask_dormant(ObjectIndex index, bool is_dormant) {
    if (is_dormant) {
        parts_.pairs.dormancy().asked.insert(index);
    } else {
        parts_.pairs.dormancy().asked.erase(index);
    }
}

void DormantChannels::enter_dormancy() {
    for (ObjectIndex index = parts_.pairs.dormancy().becoming.first(); index != BitRow::no_bit;
         index = parts_.pairs.dormancy().becoming.after(index)) {
        if (!may_go_dormant(index)) {
            continue;
        }
        if (!parts_.packets.can_write(PacketUse::Messages) ||
            !parts_.packets.reliable().has_room_for(PacketUse::Messages, close_payload_bytes)) {
            return;
        }
        const bool is_torn_off = parts_.objects.at(index)->is_torn_off();
        channels_.queue_close(
            index, is_torn_off ? ChannelCloseReason::TearOff : ChannelCloseReason::Dormancy);
        (void)parts_.calls.drop_channel(channel_of(index));  // none wait: its sequences
        if (is_torn_off) {
            finish_tear_off(index);
            if (PairValidator* validator = parts_.pairs.validator()) {
                validator->channel_closed(index);
            }
        } else {
            parts_.pairs.dormancy().becoming.clear(index);
            parts_.pairs.dormancy().dormant.insert(index);
            parts_.pairs.dormancy().kept.insert(index);
            if (PairValidator* validator = parts_.pairs.validator()) {
                validator->channel_dormant(index);
            }
        }
        (void)parts_.packets.write_unsent_bunches();
    }
}

void DormantChannels::tear_off(ObjectIndex index) {
    parts_.pairs.grow();
    parts_.pairs.dormancy().asked.erase(index);
    if (parts_.pairs.dormancy().leaving.test(index)) {
        return;  // the client is not to keep it
    }
    const bool was_kept = parts_.pairs.dormancy().kept.test(index);
    const ChannelState state = channel_state(parts_.pairs[index]);
    const bool has_channel = state == ChannelState::OpenSent || state == ChannelState::Open;
    if (was_kept || has_channel) {
        wake(index);
        parts_.pairs.dormancy().becoming.insert(index);
        return;
    }
    // It is never sent to who does not have it; the object before it may still be closing here.
    parts_.stats.calls_dropped += parts_.calls.drop_channel(channel_of(index));
    finish_tear_off(index);
}

bool DormantChannels::is_torn_off(ObjectIndex index) const noexcept {
    return parts_.pairs.dormancy().irrelevant.test(index) &&
           (!parts_.pairs.contains(index) ||
            channel_state(parts_.pairs[index]) == ChannelState::Closed);
}

void DormantChannels::finish_tear_off(ObjectIndex index) {
    parts_.values.forget_object(index);
    parts_.pairs.dormancy().closed(index);
    parts_.pairs.dormancy().irrelevant.insert(index);
    parts_.pairs.pending().clear(index);
    parts_.pairs.erase_deltas(index);
}

bool DormantChannels::may_go_dormant(ObjectIndex index) const {
    // Not pending: nothing is owed. Exact: nothing is lost or in flight, no delta and no large
    // value either; and of an open channel there are no other bunches than those, but for calls.
    // Of what is torn off, what cannot be sent or waits for an object will never be there.
    const SendingRepState& pair = parts_.pairs[index];
    const bool has_all = parts_.objects.at(index)->is_torn_off()
                             ? parts_.pairs.has_arrived(index)
                             : parts_.pairs.is_exact(index) && !parts_.values.has_unmapped(index);
    const bool may_go = channel_state(pair) == ChannelState::Open &&
                        !parts_.pairs.dormancy().leaving.test(index) &&
                        !parts_.pairs.pending().test(index) && has_all &&
                        !parts_.roles.is_telling(index) && !parts_.part_notices.is_telling(index) &&
                        !has_torn_off_parts(index) && !parts_.calls.has_calls(channel_of(index));
    REPLAYOUT_ASSERT(!may_go || bunch_count(pair) == 0);
    return may_go;
}

bool DormantChannels::has_torn_off_parts(ObjectIndex index) const {
    // The client lets go of the parts with the whole, so each must have all of its last state.
    bool has_any = false;
    if (parts_.objects.at(index)->is_torn_off()) {
        parts_.objects.for_each_part(index, [&](ObjectIndex part) {
            has_any = has_any || parts_.pairs.dormancy().becoming.test(part) ||
                      parts_.pairs.dormancy().leaving.test(part);
        });
    }
    return has_any;
}

}  // namespace replayout
