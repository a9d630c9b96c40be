// SPDX-License-Identifier: MIT
//
// Channels that close, for a while or for good, and what goes with their objects.
#include "replication_receiver.h"

#include <utility>

namespace replayout {

CloseReason ReplicationReceiver::receive_close(std::span<const std::byte> payload) {
    BitReader reader(payload);
    const auto reason = static_cast<ChannelCloseReason>(reader.read_bits(8));
    if (reader.failed() || reader.bits_left() != 0) {
        return CloseReason::MalformedBunch;
    }
    if (reason >= ChannelCloseReason::Disconnected) {
        return CloseReason::MalformedBunch;
    }
    const std::uint32_t index = current_channel_;
    const bool stays = reason == ChannelCloseReason::Dormancy;
    if (!stays && !spend_close(index)) {
        return CloseReason::MalformedBunch;
    }
    run_notifies();
    CloseReason called = run_calls_of(ChannelIndex{index});
    if (called == CloseReason::None) {
        called = note_put_off(run_kept_calls_of(ChannelIndex{index}, true));
    }
    drop_due_calls_of(index);
    if (!stays) {
        close_channel(index, reason);
        return called;
    }
    if (!channels_[index]->is_open()) {
        return called;  // a call ended the connection
    }
    channels_[index]->state = ActorChannel::State::Dormant;
    channels_[index]->receiver.reset();
    drop_calls_of(index);
    ++stats_.channels_closed;
    ++stats_.channels_dormant;
    return called;
}

void ReplicationReceiver::collect_family(std::uint32_t index) {
    family_.assign(1, index);
    for (std::size_t i = 0; i < family_.size(); ++i) {
        const std::span<const std::uint32_t> parts = parts_.of(channels_[family_[i]]->guid);
        family_.insert(family_.end(), parts.begin(), parts.end());
    }
}

bool ReplicationReceiver::spend_close(std::uint32_t index) {
    collect_family(index);
    for (const std::uint32_t part : family_) {
        if (!spend_rebind(channels_[part]->guid)) {
            return false;
        }
    }
    return true;
}

void ReplicationReceiver::drop_due_calls_of(std::uint32_t index) {
    const std::uint32_t count = calls_.drop_due_of(ChannelIndex{index});
    if (count == 0) {
        return;
    }
    stats_.calls_dropped += count;
    const ActorChannel& channel = *channels_[index];
    peer_log_.write_printable(
        LogLevel::Warning, server_,
        std::to_string(count) + " calls of object " + std::to_string(channel.guid.value) +
            ", of class \"" + std::string(channel.layout->name()) +
            "\", are dropped at its close: to run them takes longer than one packet may. Let the "
            "keyed arrays in their parameters begin with fewer elements",
        now_);
}

void ReplicationReceiver::drop_calls_of(std::uint32_t index) {
    calls_.channel_closed(ChannelIndex{index});
    stats_.calls_dropped += kept_calls_.drop(ChannelIndex{index});
    stats_.calls_dropped += outgoing_calls_.drop_channel(ChannelIndex{index});
}

void ReplicationReceiver::release_object(std::uint32_t index, ChannelCloseReason reason) {
    ActorChannel& channel = *channels_[index];
    if (channel.object.is_null()) {
        return;
    }
    forget_mentions(index);
    forget_dynamic_bytes(channel);
    channel.references.clear();
    count_references(channel);
    parts_.remove(channel.outer, index);
    forget_named_part(channel);
    guids_.unbind(channel.guid);
    rebind(channel.guid, ObjectHandle{});
    channel.handler->despawn(channel.object, reason);
    channel.object = ObjectHandle{};
    channel.handler = nullptr;
    channel.outer = NetGUID{};
    channel.role = ObjectRole();
    drop_calls_of(index);
}

void ReplicationReceiver::close_channel(std::uint32_t index, ChannelCloseReason reason) {
    ActorChannel& channel = *channels_[index];
    if (channel.state == ActorChannel::State::Closed) {
        return;
    }
    run_notifies();  // a value that waits to be told may name what goes
    stats_.channels_closed += channel.is_open() ? 1u : 0u;
    // What is a part of it goes with it, and first. Their channels stay until their own closes
    // come; until then what arrives on them is thrown away.
    collect_family(index);
    for (const std::uint32_t member : family_) {
        parts_.erase(channels_[member]->guid);  // at once, not part by part
    }
    for (std::size_t i = family_.size(); i > 1; --i) {
        ActorChannel& part = *channels_[family_[i - 1]];
        release_object(family_[i - 1], reason);
        if (part.state == ActorChannel::State::Open) {
            part.state = ActorChannel::State::Refused;
        }
    }
    const bool stays_alive =
        reason == ChannelCloseReason::Relevancy || reason == ChannelCloseReason::Disconnected;
    release_object(index,
                   channel.is_destroyed && stays_alive ? ChannelCloseReason::Destroyed : reason);
    const auto named = channels_by_name_.find(std::exchange(channel.name_hash, 0));
    if (named != channels_by_name_.end() && named->second == index) {
        channels_by_name_.erase(named);
    }
    channel.is_destroyed = false;
    channels_by_guid_.erase(channel.guid.value);
    channel.state = ActorChannel::State::Closed;
    channel.guid = NetGUID{};
    channel.layout = nullptr;
    channel.local = nullptr;
    channel.is_closing = false;
    drop_calls_of(index);
    channel.references.clear();
    count_references(channel);
    channel.receiver.reset();
}

void ReplicationReceiver::close_all() {
    finish_update();
    run_notifies();
    for (std::uint32_t index = 0; index < channels_.size(); ++index) {
        if (channels_[index] != nullptr) {
            close_channel(index, ChannelCloseReason::Disconnected);
            channels_[index]->receiver.reset();
        }
    }
    calls_.clear();
    kept_calls_.clear();
}

}  // namespace replayout
