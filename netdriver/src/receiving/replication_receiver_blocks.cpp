// SPDX-License-Identifier: MIT
//
// Blocks of properties, as they stand in a packet or travel as a message, into objects.
#include "replication_receiver.h"

#include <replayout/dynamic_memory.h>

#include <algorithm>
#include <string>
#include <utility>

namespace replayout {

CloseReason ReplicationReceiver::receive_blocks(BitReader& reader) {
    if (reader.bits_left() == 0) {
        finish_update();
    }
    refused_place_ = ClosePlace();
    // For the messages of the next packet, which come before its blocks.
    small_message_steps_ = DecodeBudget::array_steps_default;
    ++packet_count_;
    ChannelIndex last_channel;
    const std::uint64_t array_steps = reader.budget()->array_steps;
    while (reader.bits_left() > 0) {
        const CloseReason reason = receive_block(reader, last_channel);
        if (reason != CloseReason::None) {
            note_refusal(last_channel.value);
            calls_.drop_due();
            return reason;
        }
    }
    call_work_.spend_blocks(array_steps - reader.budget()->array_steps);
    return run_calls();
}

CloseReason ReplicationReceiver::receive_block(BitReader& reader, ChannelIndex& last_channel) {
    const std::uint64_t head = reader.read_packed_uint();
    const std::uint64_t delta = head >> 1;
    const std::uint64_t index = delta == 0 ? reader.read_packed_uint() : last_channel.value + delta;
    const bool has_length = (head & 1) != 0;
    const std::uint64_t length_word = has_length ? reader.read_packed_uint() : 0;
    const std::uint64_t length_bytes = length_word >> 1;
    const bool more_parts_follow = (length_word & 1) != 0;
    if (reader.failed() || !reader.spend_steps(1) || index == 0 || index > config_.channels_max ||
        length_bytes > reader.bits_left() / 8) {
        return CloseReason::MalformedBlock;
    }
    last_channel = ChannelIndex{static_cast<std::uint32_t>(index)};
    if (last_channel.value != updating_channel_) {
        finish_update();
    }
    const ActorChannel* channel = find_channel(last_channel.value);
    if (channel == nullptr || !channel->is_open()) {
        // Only before the open has arrived; the server knows, and counts what it sent as lost.
        if (!has_length) {
            return CloseReason::UnknownChannel;
        }
        reader.skip_bits(length_bytes * 8);
        ++stats_.blocks_skipped;
        return CloseReason::None;
    }
    if (!may_take_block(*channels_[last_channel.value])) {
        return CloseReason::MalformedBlock;
    }
    if (has_length) {
        BitReader block = reader.take_reader(length_bytes);
        return receive_properties_of(last_channel.value, block,
                                     more_parts_follow ? BlockFrame::Part : BlockFrame::Filled);
    }
    return receive_properties_of(last_channel.value, reader, BlockFrame::Open);
}

// Each block of an object is an update, with hooks, copies for notifies and the sorting of arrays,
// however few bytes it has.
bool ReplicationReceiver::may_take_block(ActorChannel& channel) const noexcept {
    if (std::exchange(channel.last_packet, packet_count_) != packet_count_) {
        channel.block_count = 0;
    }
    return ++channel.block_count <= blocks_of_object_max;
}

ReceiveContext ReplicationReceiver::receive_context(const ActorChannel& channel) {
    named_.clear();
    dropped_.clear();
    // What it has, and what all others leave; they may have more than that already.
    const auto room = [](std::size_t own, std::size_t all, std::size_t all_max, std::uint32_t max) {
        const std::size_t left = all < all_max ? all_max - all : 0;
        return static_cast<std::uint32_t>(std::min<std::size_t>(own + left, max));
    };
    const std::uint32_t references_max =
        room(channel.reference_count, reference_count_, config_.references_max,
             config_.references_per_object_max);
    ReceiveContext context{guids_, scratch_, references_max, &named_, &dropped_};
    context.kept_bytes_max = room(channel.value_bytes, value_bytes_, config_.kept_bytes_max,
                                  config_.kept_bytes_per_object_max);
    context.failure = &failure_;
    context.waits_to_notify = true;
    return context;
}

void ReplicationReceiver::count_references(ActorChannel& channel) noexcept {
    reference_count_ += channel.references.reference_count();
    reference_count_ -=
        std::exchange(channel.reference_count, channel.references.reference_count());
    value_bytes_ += channel.references.value_bytes();
    value_bytes_ -= std::exchange(channel.value_bytes, channel.references.value_bytes());
}

void ReplicationReceiver::count_dynamic_bytes(ActorChannel& channel, const void* object,
                                              std::uint64_t asked) {
    if (asked == 0) {
        return;
    }
    // `asked` counts a value each time it is written, and never subtracts. So the real size is
    // measured when the count has doubled, which costs about as much as what was asked for since.
    constexpr std::uint64_t measured_again_at = 64;
    std::uint64_t bytes = channel.dynamic_bytes + asked;
    if (bytes > 2 * channel.measured_bytes + measured_again_at) {
        channel.measured_bytes =
            dynamic_bytes(*channel.layout, object) + world_.kept_bytes(channel.object);
        bytes = channel.measured_bytes;
    }
    dynamic_bytes_ += bytes;
    dynamic_bytes_ -= std::exchange(channel.dynamic_bytes, bytes);
}

void ReplicationReceiver::forget_dynamic_bytes(ActorChannel& channel) noexcept {
    dynamic_bytes_ -= std::exchange(channel.dynamic_bytes, 0);
    channel.measured_bytes = 0;
}

CloseReason ReplicationReceiver::receive_properties_of(std::uint32_t index, BitReader& reader,
                                                       BlockFrame frame) {
    // A second update of an object in one packet: each has notifies of its own, with the value
    // before and the value after it.
    if (index != updating_channel_ && is_waiting_to_notify(index)) {
        run_notifies();
    }
    ActorChannel& channel = *channels_[index];
    ReceiveContext context = receive_context(channel);
    context.must_fill_reader = frame != BlockFrame::Open;
    context.more_parts_follow = frame == BlockFrame::Part;
    if (channel.state == ActorChannel::State::Refused) {
        ++stats_.blocks_skipped;
        return skip_properties(*channel.layout, reader, context) ? CloseReason::None
                                                                 : CloseReason::MalformedBlock;
    }
    // The packet may ask for at most what the limit of all objects leaves.
    DecodeBudget& budget = *reader.budget();
    const std::uint64_t all_left =
        config_.dynamic_bytes_max -
        std::min<std::uint64_t>(config_.dynamic_bytes_max, dynamic_bytes_);
    const std::uint64_t withheld =
        budget.allocation_bytes - std::min(budget.allocation_bytes, all_left);
    budget.allocation_bytes -= withheld;
    const std::uint64_t granted = budget.allocation_bytes;
    void* object = memory_of(channel.object);
    if (!has_memory(channel, object)) {
        ++stats_.blocks_skipped;
        return skip_properties(*channel.layout, reader, context) ? CloseReason::None
                                                                 : CloseReason::MalformedBlock;
    }
    const bool is_received =
        receive_properties(*channel.layout, reader, object, channel.references, context);
    const std::uint64_t asked = granted - budget.allocation_bytes;
    budget.allocation_bytes += withheld;
    count_references(channel);
    note_waiting(index);
    updating_channel_ = scratch_.is_update_under_way() ? index : 0;
    count_values(context);
    if (!is_received) {
        return withheld > 0 && budget.is_allocation_refused ? CloseReason::TooMuchMemory
                                                            : CloseReason::MalformedBlock;
    }
    count_dynamic_bytes(channel, object, asked);
    ++stats_.blocks_received;
    update_mentions(index);
    return context.has_too_many_references ? CloseReason::TooManyReferences : CloseReason::None;
}

bool ReplicationReceiver::has_memory(const ActorChannel& channel, const void* object) const {
    REPLAYOUT_EXPECT(object != nullptr, false,
                     "object_memory() of the world is null for a \"%s\" that the server shows "
                     "(network id %llu, handle %llu): keep its memory until despawn()",
                     std::string(channel.layout->name()).c_str(),
                     static_cast<unsigned long long>(channel.guid.value),
                     static_cast<unsigned long long>(channel.object.value));
    return true;
}

void ReplicationReceiver::finish_update() {
    if (updating_channel_ == 0) {
        return;
    }
    const std::uint32_t index = std::exchange(updating_channel_, 0);
    ActorChannel& channel = *channels_[index];
    ReceiveContext context = receive_context(channel);
    replayout::finish_update(*channel.layout, memory_of(channel.object), channel.references,
                             context);
    count_references(channel);
    note_waiting(index);
    update_mentions(index);
}

void ReplicationReceiver::note_waiting(std::uint32_t index) {
    // An update that was under way, and the one that ended it, may be two.
    waiting_channels_.resize(scratch_.waiting_count(), index);
}

bool ReplicationReceiver::is_waiting_to_notify(std::uint32_t index) const noexcept {
    return std::find(waiting_channels_.begin(), waiting_channels_.end(), index) !=
           waiting_channels_.end();
}

void ReplicationReceiver::run_notifies() {
    if (waiting_channels_.empty()) {
        return;
    }
    for (std::size_t place = 0; place < waiting_channels_.size(); ++place) {
        const ActorChannel& channel = *channels_[waiting_channels_[place]];
        void* const object = memory_of(channel.object);
        if (has_memory(channel, object)) {
            run_waiting_notifies(scratch_, place, *channel.layout, object);
        }
    }
    scratch_.drop_waiting();
    waiting_channels_.clear();
}

void ReplicationReceiver::count_values(const ReceiveContext& context) {
    stats_.values_refused += context.values_refused;
    stats_.values_failed += context.values_failed;
    stats_.values_unmapped += context.values_unmapped;
    if (!failure_.empty()) {
        peer_log_.write(LogLevel::Error, server_, failure_, now_);
        failure_.clear();
    }
}

}  // namespace replayout
