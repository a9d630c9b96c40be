// SPDX-License-Identifier: MIT
#include "object_channels.h"

#include <utility>

#include "object_bunch.h"
#include "stable_name.h"

namespace replayout {

namespace {

[[nodiscard]] BunchHeader open_header(ObjectIndex index) noexcept {
    BunchHeader header;
    header.channel = channel_of(index);
    header.is_open = true;
    return header;
}

/// What the open of an object takes of a packet.
[[nodiscard]] std::size_t open_bytes(ObjectIndex index, const OpenPayload& payload) noexcept {
    BunchHeader header = open_header(index);
    header.payload_bytes = static_cast<std::uint32_t>(payload.bytes().size());
    return bunch_header_bytes(header) + header.payload_bytes;
}

}  // namespace

ObjectChannels::ObjectChannels(const ObjectStore& objects, ConnectionPairs& pairs,
                               WaitingValues& values, RoleSender& roles,
                               PartNoticeSender& part_notices, ClosingNames& closing_names,
                               PacketStream& packets, CallQueue& calls,
                               IncomingCalls& incoming_calls, NetStats& stats, PeerId peer,
                               MemoryMeters& memory)
    : objects_(objects),
      pairs_(pairs),
      values_(values),
      roles_(roles),
      part_notices_(part_notices),
      closing_names_(closing_names),
      packets_(packets),
      calls_(calls),
      incoming_calls_(incoming_calls),
      stats_(stats),
      peer_(peer),
      removed_(Allocator<std::pair<ObjectIndex, RemovedObject>>(&memory.pairs)),
      frozen_roles_(Allocator<std::pair<ObjectIndex, ObjectRole>>(&memory.pairs)) {}

void ObjectChannels::queue_open(ObjectIndex index, const OpenPayload& payload) {
    queue_bunch(packets_.reliable(), pairs_.edit(index), open_header(index),
                packets_.first_sequence(), payload.bytes(), {BunchTag::Kind::Open, index, 0});
    ++stats_.channels_opened;
}

std::uint16_t ObjectChannels::end_messages(ObjectIndex index) {
    const PairExtra* const extra = pairs_.find_extra(index);
    if (extra != nullptr) {
        // Of one that went out whole, nothing goes again.
        extra->paused.for_each_under_way([&](const PausedValues::Entry& value) {
            packets_.reliable().take_back(
                {BunchTag::Kind::Value, index, value.handles.handle_begin});
        });
    }
    const std::uint32_t abandoned = packets_.reliable().abandon_unsent(channel_of(index));
    drop_bunches(pairs_.edit(index), abandoned);
    if (extra == nullptr) {
        REPLAYOUT_ASSERT(abandoned == 0);
        return packets_.sequence_behind_open();
    }
    const auto sequence = static_cast<std::uint16_t>(extra->next_sequence - abandoned);
    pairs_.erase_extra(index);
    return sequence;
}

void ObjectChannels::stop_incoming_calls(ObjectIndex index) {
    // The client counts as taken what arrives from now on, so nothing may wait for it here.
    stats_.calls_dropped += incoming_calls_.stop(channel_of(index));
}

void ObjectChannels::queue_close(ObjectIndex index, std::uint16_t sequence,
                                 ChannelCloseReason reason) {
    stop_incoming_calls(index);
    add_bunches(pairs_.edit(index), 1);
    packets_.reliable().queue_close(channel_of(index), sequence, reason);
    set_channel_state(pairs_.edit(index), ChannelState::Closing);
    ++closing_count_;
}

void ObjectChannels::close_object(ObjectIndex index, ChannelCloseReason reason) {
    pairs_.grow();
    values_.forget_object(index);
    const ChannelState state = channel_state(pairs_[index]);
    const bool is_kept = pairs_.dormancy().kept.test(index);
    if (pairs_.has_object(index)) {
        note_closing_name(index);
    }
    if (pairs_.dormancy().frozen.test(index)) {
        packets_.reliable().take_back({BunchTag::Kind::HiddenState, index, 0});
        frozen_roles_.erase(index);
    }
    pairs_.dormancy().closed(index);
    part_notices_.forget_object(index);
    stats_.calls_dropped += calls_.close_channel(channel_of(index));
    const bool has_channel = state == ChannelState::OpenSent || state == ChannelState::Open;
    if (!has_channel) {
        if (is_kept) {
            remove_dormant(index, reason);
        }
        return;  // never opened, or its predecessor in this slot is still closing
    }
    pairs_.pending().clear(index);
    pairs_.erase_deltas(index);
    roles_.forget_object(index);
    queue_close(index, end_messages(index), reason);
    if (PairValidator* validator = pairs_.validator()) {
        validator->channel_closed(index);
    }
}

void ObjectChannels::set_relevant(ObjectIndex index, bool is_relevant) {
    if (is_relevant == !pairs_.dormancy().irrelevant.test(index)) {
        return;
    }
    if (!is_relevant) {
        close_object(index, ChannelCloseReason::Relevancy);
        pairs_.dormancy().irrelevant.insert(index);
        pairs_.pending().clear(index);
        return;
    }
    pairs_.grow();
    pairs_.dormancy().irrelevant.erase(index);
    pairs_.dormancy().stirs(index);
    if (!pairs_.dormancy().dormant.test(index)) {
        pairs_.pending().set(index);
    }
}

bool ObjectChannels::has_outer_for_certain(ObjectIndex index) const noexcept {
    if (!objects_.is_part(index)) {
        return true;
    }
    const ObjectIndex outer = objects_.at(index)->family().outer;
    return pairs_.dormancy().kept.test(outer) || channel_state(pairs_[outer]) == ChannelState::Open;
}

bool ObjectChannels::is_outer_ready(ObjectIndex index) const noexcept {
    if (has_outer_for_certain(index) || pairs_.dormancy().kept.test(index)) {
        return true;
    }
    const ObjectIndex outer = objects_.at(index)->family().outer;
    return channel_state(pairs_[outer]) == ChannelState::OpenSent &&
           packets_.opens().contains(outer);
}

bool ObjectChannels::has_part_for_certain(ObjectIndex index) const noexcept {
    return pairs_.has_object(index) && has_outer_for_certain(index);
}

std::uint64_t ObjectChannels::name_key_of(ObjectIndex index) const noexcept {
    if (!objects_.is_named(index)) {
        return 0;
    }
    const ServerObject& info = *objects_.at(index);
    const NetGUID outer =
        info.is_subobject() ? objects_.at(info.family().outer)->guid() : NetGUID();
    return stable_name_key(outer, stable_name_of(info.spawn_record()));
}

void ObjectChannels::note_closing_name(ObjectIndex index) {
    if (const std::uint64_t key = name_key_of(index); key != 0) {
        closing_names_.add(index, key);
    }
}

bool ObjectChannels::is_name_taken(ObjectIndex index) const noexcept {
    // One that is leaving is the object of that name itself.
    return !closing_names_.is_empty() && !pairs_.dormancy().leaving.test(index) &&
           closing_names_.contains(name_key_of(index));
}

void ObjectChannels::begin(ObjectIndex index) {
    if (!pairs_.dormancy().kept.test(index)) {
        part_notices_.object_opened(index);
    }
    pairs_.begin(index);
}

OpenPayload ObjectChannels::open_payload_of(ObjectIndex index) const noexcept {
    const ServerObject& info = *objects_.at(index);
    const auto frozen = frozen_roles_.find(index);
    ObjectRole role;
    if (frozen != frozen_roles_.end()) {
        role = frozen->second;
    } else if (objects_.has_owner(index)) {
        role = info.ownership().role_of(peer_);
    }
    return {info.guid(), info.layout_number(), role, &info.spawn_record()};
}

SendOutcome ObjectChannels::open_channel(ObjectIndex index) {
    if (!is_outer_ready(index)) {
        const ObjectIndex outer = objects_.at(index)->family().outer;
        const bool may_open = channel_state(pairs_[outer]) == ChannelState::Closed &&
                              !pairs_.dormancy().is_resting(outer);
        return may_open ? open_channel(outer) : SendOutcome::Done;
    }
    if (is_name_taken(index)) {
        return SendOutcome::Done;
    }
    const OpenPayload payload = open_payload_of(index);
    if (is_held_back(payload)) {
        return SendOutcome::HeldBack;
    }
    // Once it is queued it must go out: a client drops blocks that come before it. Its parts go
    // with it, if one packet can hold them all.
    std::size_t all_bytes = open_bytes(index, payload);
    objects_.for_each_in_family(index, [&](ObjectIndex part) {
        const bool is_to_open =
            pairs_.pending().test(part) && channel_state(pairs_[part]) == ChannelState::Closed;
        all_bytes += part != index && is_to_open ? open_bytes(part, open_payload_of(part)) : 0;
    });
    const bool fits = all_bytes <= packets_.builder().room_bytes();
    if (!packets_.make_room_for_bunch(PacketUse::Objects,
                                      fits ? all_bytes : open_bytes(index, payload)) ||
        packets_.has_lost_opens()) {
        return SendOutcome::NoRoom;  // lost opens go first
    }
    begin(index);
    queue_open(index, payload);
    packets_.write_open();
    open_parts(index);
    return SendOutcome::Done;
}

void ObjectChannels::open_parts(ObjectIndex index) {
    for (ObjectIndex part = objects_.first_part_of(index); part != no_object;
         part = objects_.at(part)->family().next) {
        if (!pairs_.pending().test(part) || channel_state(pairs_[part]) != ChannelState::Closed ||
            is_name_taken(part)) {
            continue;
        }
        const OpenPayload payload = open_payload_of(part);
        if (open_bytes(part, payload) > packets_.builder().bytes_left() || is_held_back(payload)) {
            return;  // it waits until the client has its outer
        }
        begin(part);
        queue_open(part, payload);
        packets_.write_open();
        open_parts(part);
    }
}

bool ObjectChannels::bunch_delivered(const BunchTag& tag) {
    const bool is_early = tag.kind == BunchTag::Kind::Open &&
                          channel_state(pairs_[tag.object_index]) == ChannelState::OpenSent &&
                          !has_outer_for_certain(tag.object_index);
    PairValidator* const validator = pairs_.validator();
    if (validator != nullptr && !is_early && tag.kind != BunchTag::Kind::HiddenState) {
        validator->bunch_delivered(tag);
    }
    SendingRepState& pair = pairs_.edit(tag.object_index);
    resolve_bunch(pair);
    if (channel_state(pair) == ChannelState::Closing) {
        if (bunch_count(pair) == 0) {
            finish_close(tag.object_index);
        }
        return false;
    }
    if (is_early) {
        pairs_.dormancy().awaits_outer.insert(tag.object_index);
    } else if (tag.kind == BunchTag::Kind::Open) {
        open_delivered(tag.object_index);
    }
    return true;
}

void ObjectChannels::open_delivered(ObjectIndex index) {
    set_channel_state(pairs_.edit(index), ChannelState::Open);
    values_.object_mapped(index);
    values_.resume_values(index);  // those that arrived before it
    // Parts whose open arrived first: the client opens them only now. What it threw away of them is
    // owed since this open went out again.
    objects_.for_each_part(index, [&](ObjectIndex part) {
        if (pairs_.dormancy().awaits_outer.test(part)) {
            pairs_.dormancy().awaits_outer.clear(part);
            if (PairValidator* validator = pairs_.validator()) {
                validator->bunch_delivered({BunchTag::Kind::Open, part, 0});
            }
            open_delivered(part);
        }
    });
}

void ObjectChannels::finish_close(ObjectIndex index) {
    incoming_calls_.channel_closed(channel_of(index));
    calls_.channel_closed(channel_of(index));
    --closing_count_;
    ++stats_.channels_closed;
    if (finish_dormant_close(index)) {
        return;
    }
    closing_names_.finished(index);
    (void)pairs_.reset(index);
    if (objects_.at(index) != nullptr && !pairs_.dormancy().is_resting(index)) {
        pairs_.pending().set(index);  // the next object of this slot has been waiting
    }
}

void ObjectChannels::bunch_lost(const BunchTag& tag) {
    if (tag.kind != BunchTag::Kind::Open) {
        return;
    }
    if (channel_state(pairs_[tag.object_index]) != ChannelState::OpenSent) {
        return;
    }
    pairs_.owe_everything(tag.object_index);
}

void ObjectChannels::remove_dormant(ObjectIndex index, ChannelCloseReason reason) {
    pairs_.erase_extra(index);
    pairs_.erase_deltas(index);
    pairs_.pending().clear(index);
    if (PairValidator* validator = pairs_.validator()) {
        validator->channel_closed(index);
    }
    const ServerObject& info = *objects_.at(index);
    const RemovedObject removed{info.guid(), info.layout_number(), info.ownership().role_of(peer_),
                                reason};
    if (channel_state(pairs_[index]) == ChannelState::Closing) {
        removed_.emplace(index, removed);  // the channel is not free yet
    } else {
        destroy_kept(index, removed);
    }
}

void ObjectChannels::destroy_kept(ObjectIndex index, const RemovedObject& removed) {
    (void)pairs_.reset(index);
    queue_open(index, OpenPayload(removed.guid, removed.layout_number, removed.role, nullptr));
    queue_close(index, packets_.sequence_behind_open(), removed.reason);
}

bool ObjectChannels::finish_dormant_close(ObjectIndex index) {
    if (pairs_.dormancy().kept.test(index)) {
        set_channel_state(pairs_.edit(index), ChannelState::Closed);  // pending, if it was woken
        pairs_.placed().erase(index);
        ++stats_.channels_dormant;
        return true;
    }
    const auto removed = removed_.find(index);
    if (removed == removed_.end()) {
        return false;
    }
    ++stats_.channels_dormant;
    destroy_kept(index, removed->second);
    removed_.erase(removed);
    return true;
}

CallableState ObjectChannels::callable(ChannelIndex channel) const noexcept {
    const ObjectIndex index = slot_of(channel);
    if (channel.is_control() || !pairs_.contains(index)) {
        return CallableState::No;
    }
    switch (channel_state(pairs_[index])) {
        case ChannelState::Open:
            // The client may not know yet that the object is hidden.
            return pairs_.dormancy().frozen.test(index) ? CallableState::Late : CallableState::Yes;
        case ChannelState::Closing:
            return CallableState::Late;
        default:
            // Dormant: the client may have called before it heard of that.
            return pairs_.dormancy().kept.test(index) ? CallableState::Late : CallableState::No;
    }
}

}  // namespace replayout
