// SPDX-License-Identifier: MIT
#include "object_channels.h"

#include <utility>

#include "object_bunch.h"
#include "stable_name.h"

namespace replayout {

namespace {

/// What the open of an object takes of a packet.
[[nodiscard]] std::size_t open_bytes(ObjectIndex index, const OpenPayload& payload) noexcept {
    return OpenBunch::byte_count(channel_of(index), payload.bytes().size());
}

}  // namespace

ObjectChannels::ObjectChannels(const Parts& parts, MemoryResource* resource)
    : parts_(parts),
      removed_(Allocator<std::pair<ObjectIndex, RemovedObject>>(resource)),
      frozen_roles_(Allocator<std::pair<ObjectIndex, ObjectRole>>(resource)) {}

void ObjectChannels::queue_open(ObjectIndex index, const OpenPayload& payload) {
    queue_bunch(parts_.packets.reliable(), parts_.pairs.edit(index),
                OpenBunch::header_of(channel_of(index)), parts_.packets.first_sequence(),
                payload.bytes(), {BunchTag::Kind::Open, index, 0});
    ++parts_.stats.channels_opened;
}

std::uint16_t ObjectChannels::end_messages(ObjectIndex index) {
    const PairExtra* const extra = parts_.pairs.find_extra(index);
    if (extra != nullptr) {
        // Of one that went out whole, nothing goes again.
        extra->paused.for_each_under_way([&](const PausedValues::Entry& value) {
            parts_.packets.reliable().take_back(
                {BunchTag::Kind::Value, index, value.handles.handle_begin});
        });
    }
    const std::uint32_t abandoned = parts_.packets.reliable().abandon_unsent(channel_of(index));
    drop_bunches(parts_.pairs.edit(index), abandoned);
    if (extra == nullptr) {
        REPLAYOUT_ASSERT(abandoned == 0);
        return parts_.packets.sequence_behind_open();
    }
    const auto sequence = static_cast<std::uint16_t>(extra->next_sequence - abandoned);
    parts_.pairs.erase_extra(index);
    return sequence;
}

void ObjectChannels::stop_incoming_calls(ObjectIndex index) {
    // The client counts as taken what arrives from now on, so nothing may wait for it here.
    parts_.stats.calls_dropped += parts_.incoming_calls.stop(channel_of(index));
}

void ObjectChannels::queue_close(ObjectIndex index, std::uint16_t sequence,
                                 ChannelCloseReason reason, bool is_behind_open) {
    stop_incoming_calls(index);
    add_bunches(parts_.pairs.edit(index), 1);
    parts_.pairs.closes(index, reason == ChannelCloseReason::Dormancy);
    parts_.packets.reliable().queue_close(channel_of(index), sequence, reason, is_behind_open);
    set_channel_state(parts_.pairs.edit(index), ChannelState::Closing);
    ++closing_count_;
}

void ObjectChannels::close_object(ObjectIndex index, ChannelCloseReason reason) {
    parts_.pairs.grow();
    parts_.values.forget_object(index);
    const ChannelState state = channel_state(parts_.pairs[index]);
    const bool is_kept = parts_.pairs.dormancy().kept.test(index);
    if (parts_.pairs.has_object(index)) {
        note_closing_name(index);
    }
    if (parts_.pairs.dormancy().frozen.test(index)) {
        parts_.packets.reliable().take_back({BunchTag::Kind::HiddenState, index, 0});
        frozen_roles_.erase(index);
    }
    parts_.pairs.dormancy().closed(index);
    parts_.part_notices.forget_object(index);
    parts_.stats.calls_dropped += parts_.calls.close_channel(channel_of(index));
    parts_.pairs.pending().clear(index);
    const bool has_channel = state == ChannelState::OpenSent || state == ChannelState::Open;
    if (!has_channel) {
        if (is_kept) {
            remove_dormant(index, reason);
        }
        return;  // never opened, or its predecessor in this slot is still closing
    }
    parts_.pairs.erase_deltas(index);
    parts_.roles.forget_object(index);
    queue_close(index, end_messages(index), reason, false);
    if (PairValidator* validator = parts_.pairs.validator()) {
        validator->channel_closed(index);
    }
}

bool ObjectChannels::close_plain(ObjectIndex index, ChannelCloseReason reason) {
    ConnectionPairs& pairs = parts_.pairs;
    if (!pairs.contains(index) || pairs.validator() != nullptr || pairs.has_extra(index) ||
        pairs.has_deltas() || parts_.objects.is_named(index) ||
        pairs.dormancy().is_any_noted(index) || parts_.values.keeps_any() ||
        parts_.calls.knows_of(channel_of(index)) || parts_.incoming_calls.keeps_any() ||
        !parts_.roles.is_idle() || !parts_.part_notices.is_empty() ||
        parts_.packets.reliable().has_unsent()) {
        return false;
    }
    pairs.ordered().erase(index);
    SendingRepState& pair = pairs.edit_channel(index);
    const ChannelState state = channel_state(pair);
    pairs.pending().clear(index);  // also of one that was never opened: it is no longer there
    if (state != ChannelState::OpenSent && state != ChannelState::Open) {
        return true;
    }
    pairs.closes(index, false);
    add_bunches(pair, 1);
    set_channel_state(pair, ChannelState::Closing);
    parts_.packets.reliable().queue_close(channel_of(index), parts_.packets.sequence_behind_open(),
                                          reason, false);
    ++closing_count_;
    return true;
}

void ObjectChannels::set_relevant(ObjectIndex index, bool is_relevant) {
    if (is_relevant == !parts_.pairs.dormancy().irrelevant.test(index)) {
        return;
    }
    if (!is_relevant) {
        close_object(index, ChannelCloseReason::Relevancy);
        parts_.pairs.dormancy().irrelevant.insert(index);
        parts_.pairs.pending().clear(index);
        return;
    }
    parts_.pairs.grow();
    parts_.pairs.dormancy().irrelevant.erase(index);
    parts_.pairs.dormancy().stirs(index);
    if (!parts_.pairs.dormancy().dormant.test(index)) {
        parts_.pairs.pending().set(index);
    }
}

bool ObjectChannels::has_outer_for_certain(ObjectIndex index) const noexcept {
    if (!parts_.objects.is_part(index)) {
        return true;
    }
    const ObjectIndex outer = parts_.objects.at(index)->family().outer;
    return parts_.pairs.dormancy().kept.test(outer) ||
           channel_state(parts_.pairs[outer]) == ChannelState::Open;
}

bool ObjectChannels::is_outer_ready(ObjectIndex index) const noexcept {
    if (has_outer_for_certain(index) || parts_.pairs.dormancy().kept.test(index)) {
        return true;
    }
    const ObjectIndex outer = parts_.objects.at(index)->family().outer;
    return channel_state(parts_.pairs[outer]) == ChannelState::OpenSent &&
           parts_.packets.opens().contains(outer);
}

bool ObjectChannels::has_part_for_certain(ObjectIndex index) const noexcept {
    return parts_.pairs.has_object(index) && has_outer_for_certain(index);
}

std::uint64_t ObjectChannels::name_key_of(ObjectIndex index) const noexcept {
    if (!parts_.objects.is_named(index)) {
        return 0;
    }
    const ServerObject& info = *parts_.objects.at(index);
    const NetGUID outer =
        info.is_subobject() ? parts_.objects.at(info.family().outer)->guid() : NetGUID();
    return stable_name_key(outer, stable_name_of(info.spawn_record()));
}

void ObjectChannels::note_closing_name(ObjectIndex index) {
    if (const std::uint64_t key = name_key_of(index); key != 0) {
        parts_.closing_names.add(index, key);
    }
}

bool ObjectChannels::is_name_taken(ObjectIndex index) const noexcept {
    // One that is leaving is the object of that name itself.
    return !parts_.closing_names.is_empty() && !parts_.pairs.dormancy().leaving.test(index) &&
           parts_.closing_names.contains(name_key_of(index));
}

void ObjectChannels::begin(ObjectIndex index) {
    if (!parts_.pairs.dormancy().kept.test(index)) {
        parts_.part_notices.object_opened(index);
    }
    parts_.pairs.begin(index);
}

OpenPayload ObjectChannels::open_payload_of(ObjectIndex index) const noexcept {
    const ServerObject& info = *parts_.objects.at(index);
    const auto frozen = frozen_roles_.find(index);
    ObjectRole role;
    if (frozen != frozen_roles_.end()) {
        role = frozen->second;
    } else if (parts_.objects.has_owner(index)) {
        role = info.ownership().role_of(parts_.peer);
    }
    return {info.guid(), info.layout_number(), role, &info.spawn_record()};
}

SendOutcome ObjectChannels::open_channel(ObjectIndex index) {
    if (!is_outer_ready(index)) {
        const ObjectIndex outer = parts_.objects.at(index)->family().outer;
        const bool may_open = channel_state(parts_.pairs[outer]) == ChannelState::Closed &&
                              !parts_.pairs.dormancy().is_resting(outer);
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
    parts_.objects.for_each_in_family(index, [&](ObjectIndex part) {
        const bool is_to_open = parts_.pairs.pending().test(part) &&
                                channel_state(parts_.pairs[part]) == ChannelState::Closed;
        all_bytes += part != index && is_to_open ? open_bytes(part, open_payload_of(part)) : 0;
    });
    const bool fits = all_bytes <= parts_.packets.builder().room_bytes();
    if (!parts_.packets.make_room_for_bunch(PacketUse::Objects,
                                            fits ? all_bytes : open_bytes(index, payload)) ||
        parts_.packets.has_lost_opens()) {
        return SendOutcome::NoRoom;  // lost opens go first
    }
    begin(index);
    queue_open(index, payload);
    parts_.packets.write_open();
    open_parts(index);
    return SendOutcome::Done;
}

void ObjectChannels::open_parts(ObjectIndex index) {
    for (ObjectIndex part = parts_.objects.first_part_of(index); part != no_object;
         part = parts_.objects.at(part)->family().next) {
        if (!parts_.pairs.pending().test(part) ||
            channel_state(parts_.pairs[part]) != ChannelState::Closed || is_name_taken(part)) {
            continue;
        }
        const OpenPayload payload = open_payload_of(part);
        if (open_bytes(part, payload) > parts_.packets.builder().bytes_left() ||
            is_held_back(payload)) {
            return;  // it waits until the client has its outer
        }
        begin(part);
        queue_open(part, payload);
        parts_.packets.write_open();
        open_parts(part);
    }
}

bool ObjectChannels::bunch_delivered(const BunchTag& tag) {
    const bool is_early = tag.kind == BunchTag::Kind::Open &&
                          channel_state(parts_.pairs[tag.object_index]) == ChannelState::OpenSent &&
                          !has_outer_for_certain(tag.object_index);
    PairValidator* const validator = parts_.pairs.validator();
    if (validator != nullptr && !is_early && tag.kind != BunchTag::Kind::HiddenState) {
        validator->bunch_delivered(tag);
    }
    SendingRepState& pair = parts_.pairs.edit_channel(tag.object_index);
    resolve_bunch(pair);
    if (channel_state(pair) == ChannelState::Closing) {
        if (bunch_count(pair) == 0) {
            finish_close(tag.object_index);
        }
        return false;
    }
    if (is_early) {
        parts_.pairs.dormancy().awaits_outer.insert(tag.object_index);
    } else if (tag.kind == BunchTag::Kind::Open) {
        open_delivered(tag.object_index);
    }
    return true;
}

void ObjectChannels::open_delivered(ObjectIndex index) {
    parts_.pairs.channel_opened(index);
    parts_.values.object_mapped(index);
    parts_.values.resume_values(index);  // those that arrived before it
    // Parts whose open arrived first: the client opens them only now. What it threw away of them is
    // owed since this open went out again.
    parts_.objects.for_each_part(index, [&](ObjectIndex part) {
        if (parts_.pairs.dormancy().awaits_outer.test(part)) {
            parts_.pairs.dormancy().awaits_outer.clear(part);
            if (PairValidator* validator = parts_.pairs.validator()) {
                validator->bunch_delivered({BunchTag::Kind::Open, part, 0});
            }
            open_delivered(part);
        }
    });
}

void ObjectChannels::finish_close(ObjectIndex index) {
    if (parts_.incoming_calls.has_receivers()) {
        parts_.incoming_calls.channel_closed(channel_of(index));
    }
    parts_.calls.channel_closed(channel_of(index));
    --closing_count_;
    ++parts_.stats.channels_closed;
    if (finish_dormant_close(index)) {
        return;
    }
    if (!parts_.closing_names.is_empty()) {
        parts_.closing_names.finished(index);
    }
    (void)parts_.pairs.reset(index);
    if (parts_.objects.at(index) != nullptr && !parts_.pairs.dormancy().is_resting(index)) {
        parts_.pairs.pending().set(index);  // the next object of this slot has been waiting
    }
}

void ObjectChannels::bunch_lost(const BunchTag& tag) {
    if (tag.kind != BunchTag::Kind::Open) {
        return;
    }
    if (channel_state(parts_.pairs[tag.object_index]) != ChannelState::OpenSent) {
        return;
    }
    parts_.pairs.owe_everything(tag.object_index);
}

void ObjectChannels::remove_dormant(ObjectIndex index, ChannelCloseReason reason) {
    parts_.pairs.erase_extra(index);
    parts_.pairs.erase_deltas(index);
    parts_.pairs.pending().clear(index);
    if (PairValidator* validator = parts_.pairs.validator()) {
        validator->channel_closed(index);
    }
    const ServerObject& info = *parts_.objects.at(index);
    const RemovedObject removed{info.guid(), info.layout_number(),
                                info.ownership().role_of(parts_.peer), reason};
    if (channel_state(parts_.pairs[index]) == ChannelState::Closing) {
        removed_.emplace(index, removed);  // the channel is not free yet
    } else {
        destroy_kept(index, removed);
    }
}

void ObjectChannels::destroy_kept(ObjectIndex index, const RemovedObject& removed) {
    (void)parts_.pairs.reset(index);
    queue_open(index, OpenPayload(removed.guid, removed.layout_number, removed.role, nullptr));
    queue_close(index, parts_.packets.sequence_behind_open(), removed.reason, true);
}

bool ObjectChannels::finish_dormant_close(ObjectIndex index) {
    if (parts_.pairs.dormancy().kept.test(index)) {
        set_channel_state(parts_.pairs.edit(index),
                          ChannelState::Closed);  // pending, if it was woken
        parts_.pairs.ordered().erase(index);
        ++parts_.stats.channels_dormant;
        return true;
    }
    const auto removed = removed_.empty() ? removed_.end() : removed_.find(index);
    if (removed == removed_.end()) {
        return false;
    }
    ++parts_.stats.channels_dormant;
    destroy_kept(index, removed->second);
    removed_.erase(removed);
    return true;
}

CallableState ObjectChannels::callable(ChannelIndex channel) const noexcept {
    const ObjectIndex index = slot_of(channel);
    if (channel.is_control() || !parts_.pairs.contains(index)) {
        return CallableState::No;
    }
    switch (channel_state(parts_.pairs[index])) {
        case ChannelState::Open:
            // The client may not know yet that the object is hidden.
            return parts_.pairs.dormancy().frozen.test(index) ? CallableState::Late
                                                              : CallableState::Yes;
        case ChannelState::Closing:
            return CallableState::Late;
        default:
            // Dormant: the client may have called before it heard of that.
            return parts_.pairs.dormancy().kept.test(index) ? CallableState::Late
                                                            : CallableState::No;
    }
}

}  // namespace replayout
