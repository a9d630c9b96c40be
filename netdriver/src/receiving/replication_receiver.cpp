// SPDX-License-Identifier: MIT
#include "replication_receiver.h"

#include "message_budget.h"

#include <algorithm>
#include <utility>

namespace replayout {

ReplicationReceiver::ReplicationReceiver(const ClientEnvironment& environment,
                                         CallQueue& outgoing_calls)
    : environment_(environment),
      channels_(environment.guids, &environment.memory.channels),
      world_(environment.world),
      amounts_(environment.config, world_),
      updates_(environment_, channels_, world_, amounts_),
      calls_(environment_, channels_, world_, amounts_, updates_, outgoing_calls),
      objects_(environment_, channels_, amounts_, updates_, calls_) {}

CloseReason ReplicationReceiver::receive_bunch(const BunchHeader& header,
                                               std::span<const std::byte> payload,
                                               ReliableAccount& account, DecodeBudget& budget) {
    const ChannelIndex index = header.channel;
    channels_.forget_refusal();
    if (index.value > environment_.config.channels_max) {
        return CloseReason::TooManyChannels;
    }
    CloseReason reason = CloseReason::None;
    if (!header.is_close || objects_.is_going(index)) {
        reason = objects_.end_departures(budget);
    }
    if (reason != CloseReason::None) {
        return reason;
    }
    if (header.is_call) {
        return calls_.receive(header, payload);
    }
    channels_.make(index, account);
    current_channel_ = index;
    budget_ = &budget;
    objects_.bunch_arrived(index, header, payload, budget);
    reason = channels_[index].receiver.receive(header, payload, *this);
    // One after the other, not each inside of the one before: a chain of them may be long.
    while (reason == CloseReason::None) {
        const std::optional<ChannelIndex> ready = objects_.awaited().take_ready();
        if (!ready.has_value()) {
            break;
        }
        reason = objects_.end_departures(budget);  // the outer may despawn with this packet
        if (reason != CloseReason::None) {
            break;
        }
        current_channel_ = *ready;
        reason = channels_[current_channel_].receiver.retry(*this);
    }
    objects_.awaited().clear_ready();
    budget_ = nullptr;
    if (reason != CloseReason::None) {
        channels_.note_refusal(current_channel_);
    }
    return reason;
}

bool ReplicationReceiver::is_stuck_since(const ReliableAccount& account, NetTime time) const {
    return (!account.is_empty() && channels_.is_stuck_since(time)) || calls_.is_stuck_since(time);
}

bool ReplicationReceiver::must_wait(const BunchHeader& header, std::span<const std::byte> payload) {
    return objects_.must_wait(current_channel_, header, payload);
}

CloseReason ReplicationReceiver::handle_message(const BunchHeader& header,
                                                std::span<const std::byte> payload) {
    updates_.finish();
    // An open that waited for its outer may be handed on after a close.
    const CloseReason departed =
        header.is_close ? CloseReason::None : objects_.end_departures(*budget_);
    if (departed != CloseReason::None) {
        return departed;
    }
    if (header.is_open) {
        return objects_.receive_open(current_channel_, payload);
    }
    if (!channels_[current_channel_].is_open()) {
        return CloseReason::MalformedBunch;  // in order, and yet before the open
    }
    if (header.is_close) {
        return objects_.receive_close(current_channel_, payload, *budget_);
    }
    if (header.is_message) {
        return objects_.receive_message(current_channel_, payload);
    }
    if (payload.empty()) {
        return CloseReason::None;  // a value that was taken back
    }
    return receive_value(payload);
}

CloseReason ReplicationReceiver::receive_value(std::span<const std::byte> payload) {
    // Many messages may have waited for this packet, so each adds to the packet's budget.
    DecodeBudget earned = message_budget(environment_.config, payload.size());
    budget_->allocation_bytes += earned.allocation_bytes;
    budget_->steps += earned.steps;
    // Keyed arrays are not paid for out of the packet's: blocks behind the message were written for
    // that. What travels as a message is more than a packet holds, and is always taken; what is
    // less is nobody's but a forger's, and must not come by the dozen.
    std::uint64_t& array_steps = is_small_message(environment_.config, payload.size())
                                     ? small_message_steps_
                                     : earned.array_steps;
    std::swap(budget_->array_steps, array_steps);
    BitReader reader(payload, budget_);
    const CloseReason reason =
        updates_.receive(current_channel_, reader, ObjectUpdates::Frame::Filled);
    std::swap(budget_->array_steps, array_steps);
    return reason;
}

CloseReason ReplicationReceiver::receive_blocks(BitReader& reader) {
    if (reader.bits_left() == 0) {
        updates_.finish();
    }
    channels_.forget_refusal();
    const CloseReason reason = end_bunches(*reader.budget());
    if (reason != CloseReason::None) {
        return reason;
    }
    // For the messages of the next packet, which come before its blocks.
    small_message_steps_ = DecodeBudget::array_steps_default;
    ++packet_count_;
    ChannelIndex last_channel;
    const std::uint64_t array_steps = reader.budget()->array_steps;
    while (reader.bits_left() > 0) {
        const CloseReason refused = receive_block(reader, last_channel);
        if (refused != CloseReason::None) {
            channels_.note_refusal(last_channel);
            calls_.drop_due();
            return refused;
        }
    }
    calls_.spend_blocks(array_steps - reader.budget()->array_steps);
    return calls_.run_all();
}

CloseReason ReplicationReceiver::end_bunches(DecodeBudget& budget) {
    const CloseReason reason = objects_.end_departures(budget);
    updates_.set_new_references(budget);
    return reason;
}

CloseReason ReplicationReceiver::receive_block(BitReader& reader, ChannelIndex& last_channel) {
    const std::uint64_t head = reader.read_packed_uint();
    const std::uint64_t delta = head >> 1;
    const std::uint64_t index = delta == 0 ? reader.read_packed_uint() : last_channel.value + delta;
    const bool has_length = (head & 1) != 0;
    const std::uint64_t length_word = has_length ? reader.read_packed_uint() : 0;
    const std::uint64_t length_bytes = length_word >> 1;
    const bool more_parts_follow = (length_word & 1) != 0;
    if (reader.failed() || !reader.spend_steps(1) || index == 0 ||
        index > environment_.config.channels_max || length_bytes > reader.bits_left() / 8) {
        return CloseReason::MalformedBlock;
    }
    last_channel = ChannelIndex{static_cast<std::uint32_t>(index)};
    updates_.finish_unless_of(last_channel);
    const ActorChannel* channel = channels_.find(last_channel);
    if (channel == nullptr || !channel->is_open()) {
        // Only before the open has arrived; the server knows, and counts what it sent as lost.
        if (!has_length) {
            return CloseReason::UnknownChannel;
        }
        reader.skip_bits(length_bytes * 8);
        ++environment_.stats.blocks_skipped;
        return CloseReason::None;
    }
    if (!may_take_block(channels_[last_channel])) {
        return CloseReason::MalformedBlock;
    }
    if (has_length) {
        BitReader block = reader.take_reader(length_bytes);
        return updates_.receive(
            last_channel, block,
            more_parts_follow ? ObjectUpdates::Frame::Part : ObjectUpdates::Frame::Filled);
    }
    return updates_.receive(last_channel, reader, ObjectUpdates::Frame::Open);
}

// Each block of an object is an update, with hooks, copies for notifies and the sorting of arrays,
// however few bytes it has.
bool ReplicationReceiver::may_take_block(ActorChannel& channel) const noexcept {
    if (std::exchange(channel.last_packet, packet_count_) != packet_count_) {
        channel.block_count = 0;
    }
    return ++channel.block_count <= blocks_of_object_max;
}

ObjectRole ReplicationReceiver::role_of(ObjectHandle object) const noexcept {
    const ActorChannel* channel = channels_.find(object);
    return channel == nullptr || objects_.is_leaving(*channel) ? nobodys_role : channel->role;
}

NetGUID ReplicationReceiver::find_reference(ObjectHandle object,
                                            const RepPath& path) const noexcept {
    const ActorChannel* channel = channels_.find(object);
    return channel == nullptr ? NetGUID{} : channel->references.find_reference(path);
}

void ReplicationReceiver::close_all() {
    updates_.finish();
    updates_.run_notifies();
    objects_.close_all();
    calls_.clear();
}

}  // namespace replayout
