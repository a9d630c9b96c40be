// SPDX-License-Identifier: MIT
// Channels of objects: opened, closed, and used again.
#include "replication_sender.h"

#include <array>

namespace replayout {

namespace {

// Payload of a bunch on an object's channel begins with what it is; an open and a close say so by
// flag.
constexpr std::size_t open_payload_bytes_max = 10 + 5;  // packed guid, packed layout number

}  // namespace

void ReplicationSender::queue_bunch(const BunchHeader& header, std::uint16_t sequence,
                                    std::span<const std::byte> payload, const BunchTag& tag) {
    const std::uint32_t count = packets_.reliable().queue(header, sequence, payload, tag);
    SendingRepState& pair = pairs_[tag.object_index];
    REPLAYOUT_ASSERT(bunch_count(pair) + count <= bunch_count_max);
    pair.holder_bits = static_cast<std::uint16_t>(pair.holder_bits + count * one_bunch);
}

void ReplicationSender::object_removed(std::uint32_t index) {
    grow();
    forget_unmapped(index);
    SendingRepState& pair = pairs_[index];
    const ChannelState state = channel_state(pair);
    if (state != ChannelState::OpenSent && state != ChannelState::Open) {
        return;  // never opened, or its predecessor in this slot is still closing
    }
    pending_.clear(index);
    std::uint16_t sequence = 2;
    const auto extra = extras_.find(index);
    if (extra != extras_.end()) {
        sequence = extra->second.next_sequence;
        extras_.erase(extra);
    }
    deltas_.erase(index);
    BunchHeader header;
    header.channel = ObjectStore::channel_of(index);
    header.is_close = true;
    queue_bunch(header, sequence, {}, {BunchTag::Kind::Close, index, 0});
    set_channel_state(pair, ChannelState::Closing);
    ++closing_count_;
    if (validator_) {
        validator_->channel_closed(index);
    }
}

ReplicationSender::Outcome ReplicationSender::open_channel(std::uint32_t index) {
    if (!packets_.can_write()) {
        return Outcome::WindowFull;
    }
    if (!packets_.reliable().has_room_for(open_payload_bytes_max)) {
        return Outcome::HeldBack;
    }
    const ObjectReplicator& replicator = *objects_.at(index);
    std::array<std::byte, open_payload_bytes_max> payload;
    BitWriter writer(payload);
    writer.write_packed_uint(replicator.guid().value);
    writer.write_packed_uint(replicator.layout_number());
    BunchHeader header;
    header.channel = ObjectStore::channel_of(index);
    header.is_open = true;
    pairs_[index] = SendingRepState();
    set_channel_state(pairs_[index], ChannelState::OpenSent);
    set_initial(pairs_[index], true);
    const ChangelistState& state = replicator.changelist_state();
    if (state.layout().needs_held_version()) {
        extra_of(index).joined_version = state.version();
    }
    queue_bunch(header, 1, writer.bytes(), {BunchTag::Kind::Open, index, 0});
    ++stats_.channels_opened;
    if (validator_) {
        validator_->channel_opened(index);
    }
    // Nothing else is unsent: there was room for this one.
    return packets_.write_unsent_bunches() ? Outcome::Done : Outcome::WindowFull;
}

void ReplicationSender::bunch_delivered(const BunchTag& tag) {
    if (tag.kind == BunchTag::Kind::Control) {
        return;
    }
    if (validator_) {
        validator_->bunch_delivered(tag);
    }
    SendingRepState& pair = pairs_[tag.object_index];
    REPLAYOUT_ASSERT(bunch_count(pair) > 0);
    pair.holder_bits = static_cast<std::uint16_t>(pair.holder_bits - one_bunch);
    if (channel_state(pair) == ChannelState::Closing) {
        if (bunch_count(pair) == 0) {
            finish_close(tag.object_index);
        }
    } else if (tag.kind == BunchTag::Kind::Open) {
        set_channel_state(pair, ChannelState::Open);
        object_mapped(tag.object_index);
    } else if (tag.kind == BunchTag::Kind::Value) {
        value_delivered(tag);
    }
}

void ReplicationSender::finish_close(std::uint32_t index) {
    pairs_[index] = SendingRepState();
    --closing_count_;
    ++stats_.channels_closed;
    if (objects_.at(index) != nullptr) {
        pending_.set(index);  // the next object of this slot has been waiting
    }
}

void ReplicationSender::bunch_lost(const BunchTag& tag) {
    if (tag.kind != BunchTag::Kind::Open) {
        return;
    }
    SendingRepState& pair = pairs_[tag.object_index];
    if (channel_state(pair) != ChannelState::OpenSent) {
        return;
    }
    note_lost_while_paused(tag.object_index, RepRange(), {0, pair.sent_version});
    pair.lose_everything();
    set_initial(pair, true);
    const auto extra = extras_.find(tag.object_index);
    if (extra != extras_.end()) {
        extra->second.lost_range = RepRange();
    }
    if (const auto deltas = deltas_.find(tag.object_index); deltas != deltas_.end()) {
        deltas->second.restart();
    }
    pending_.set(tag.object_index);
}

}  // namespace replayout
