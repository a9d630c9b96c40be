// SPDX-License-Identifier: MIT
// Channels of objects: opened, closed, and used again.
#include "replication_sender.h"

#include <array>

namespace replayout {

namespace {

constexpr std::size_t open_payload_bytes_max = 10 + 5;  // packed guid, packed layout number

/// What an open says of its object.
class OpenPayload {
  public:
    OpenPayload(NetGUID guid, std::uint32_t layout_number) {
        BitWriter writer(memory_);
        writer.write_packed_uint(guid.value);
        writer.write_packed_uint(layout_number);
        size_ = writer.byte_count();
    }

    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
        return std::span(memory_).first(size_);
    }

  private:
    std::array<std::byte, open_payload_bytes_max> memory_;
    std::size_t size_ = 0;
};

[[nodiscard]] BunchHeader open_header(std::uint32_t index) noexcept {
    BunchHeader header;
    header.channel = ObjectStore::channel_of(index);
    header.is_open = true;
    return header;
}

}  // namespace

void ReplicationSender::queue_open(std::uint32_t index, NetGUID guid, std::uint32_t layout_number) {
    const OpenPayload payload(guid, layout_number);
    queue_bunch(open_header(index), 1, payload.bytes(), {BunchTag::Kind::Open, index, 0});
    ++stats_.channels_opened;
}

std::uint16_t ReplicationSender::take_next_sequence(std::uint32_t index) {
    const auto extra = extras_.find(index);
    if (extra == extras_.end()) {
        return 2;  // behind the open
    }
    const std::uint16_t sequence = extra->second.next_sequence;
    extras_.erase(extra);
    return sequence;
}

void ReplicationSender::queue_close(std::uint32_t index, std::uint16_t sequence,
                                    ChannelCloseReason reason) {
    const std::array<std::byte, close_payload_bytes> payload = {static_cast<std::byte>(reason)};
    BunchHeader header;
    header.channel = ObjectStore::channel_of(index);
    header.is_close = true;
    queue_bunch(header, sequence, payload, {BunchTag::Kind::Close, index, 0});
    set_channel_state(pairs_[index], ChannelState::Closing);
    ++closing_count_;
}

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
    const ChannelState state = channel_state(pairs_[index]);
    const bool is_kept = dormancy_.kept.test(index);
    dormancy_.forget(index);
    stats_.calls_dropped += calls_.drop_channel(ObjectStore::channel_of(index));
    if (state != ChannelState::OpenSent && state != ChannelState::Open) {
        if (is_kept) {
            remove_dormant(index);
        }
        return;  // never opened, or its predecessor in this slot is still closing
    }
    pending_.clear(index);
    deltas_.erase(index);
    queue_close(index, take_next_sequence(index), ChannelCloseReason::Destroyed);
    if (validator_) {
        validator_->channel_closed(index);
    }
}

ReplicationSender::Outcome ReplicationSender::open_channel(std::uint32_t index) {
    const NetworkObjectInfo& info = *objects_.at(index);
    BunchHeader header = open_header(index);
    header.payload_bytes =
        static_cast<std::uint32_t>(OpenPayload(info.guid(), info.layout_number()).bytes().size());
    if (!packets_.reliable().has_room_for(Share::Objects, header.payload_bytes)) {
        return Outcome::HeldBack;
    }
    // Once it is queued it must go out: a client drops blocks that come before it.
    if (!packets_.make_room_for_bunch(Share::Objects,
                                      bunch_header_bytes(header) + header.payload_bytes)) {
        return Outcome::WindowFull;
    }
    if (dormancy_.kept.test(index)) {
        start_over(index);
    } else {
        pairs_[index] = SendingRepState();
        set_channel_state(pairs_[index], ChannelState::OpenSent);
        set_initial(pairs_[index], true);
        const ChangelistState& state = info.changelist_state();
        if (state.layout().needs_held_version()) {
            extra_of(index).joined_version = state.version();
            extra_of(index).restart_version = 0;
        }
        if (validator_) {
            validator_->channel_opened(index);
        }
    }
    queue_open(index, info.guid(), info.layout_number());
    packets_.write_open();
    return Outcome::Done;
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
        resume_values(tag.object_index);  // those that arrived before it
    } else if (tag.kind == BunchTag::Kind::Value) {
        value_delivered(tag);
    }
}

void ReplicationSender::finish_close(std::uint32_t index) {
    incoming_calls_.channel_closed(ObjectStore::channel_of(index));
    --closing_count_;
    ++stats_.channels_closed;
    if (finish_dormant_close(index)) {
        return;
    }
    pairs_[index] = SendingRepState();
    if (objects_.at(index) != nullptr && !dormancy_.dormant.test(index)) {
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
        extra->second.lost_parts.clear();
        extra->second.complete.restart();
    }
    if (const auto deltas = deltas_.find(tag.object_index); deltas != deltas_.end()) {
        deltas->second.restart();
    }
    pending_.set(tag.object_index);
}

}  // namespace replayout
