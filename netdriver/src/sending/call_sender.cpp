// SPDX-License-Identifier: MIT
#include "call_sender.h"

#include <replayout/block_counts.h>

#include <algorithm>

#include "scoped_value.h"

namespace replayout {

CallSender::CallSender(const Parts& parts, const SenderSettings& settings,
                       std::span<std::byte> body, MemoryMeters& memory)
    : parts_(parts), settings_(settings), scratch_(body, &memory.scratch) {}

CallResult CallSender::add_call(const NewCall& call, CallEncoder& encoder, SendContext& context) {
    REPLAYOUT_ASSERT(has_room_for_call(call.is_reliable));
    parts_.pairs.grow();
    const ChannelIndex channel = channel_of(call.index);
    context.receiver = &parts_.values;
    const CallResult result = encoder.write(context);
    context.receiver = nullptr;
    if (result != CallResult::Sent) {
        return result;
    }
    if (!parts_.calls.has_room_for(call.is_reliable, encoder.bytes().size())) {
        return CallResult::Full;
    }
    OutgoingCall& added =
        parts_.calls.add(channel, call.function, call.is_reliable, encoder.bytes());
    // One in parts is kept, and in order with others that are: it cannot stand behind them.
    added.is_queued = call.is_queued && !added.is_in_parts();
    added.named.push_back({call.index, parts_.objects.at(call.index)->guid(), 0, false});
    added.is_for_next = parts_.pairs.dormancy().returning.test(call.index);
    return added.is_queued ? CallResult::Queued : CallResult::Sent;
}

void CallSender::name_in_last_call(std::span<const ObjectIndex> indices) {
    auto& named = parts_.calls.calls().back().named;
    for (const ObjectIndex index : indices) {
        const auto is_it = [&](const NamedObject& object) { return object.index == index; };
        if (std::none_of(named.begin(), named.end(), is_it)) {
            named.push_back({index, parts_.objects.at(index)->guid(), 0, false});
        }
    }
}

bool CallSender::may_queue_call(ObjectIndex index, FunctionIndex function) const noexcept {
    return parts_.calls.queued_count(channel_of(index), function) <
           settings_.config.queued_calls_per_function_max;
}

void CallSender::send_calls() {
    parts_.ahead.stop_unneeded([this](ObjectIndex index) { return is_waited_for(index); });
    if (parts_.calls.is_idle()) {
        return;
    }
    note_versions();
    scratch_.waiting_channels.clear();
    if (send_begun_parts() && !send_last_parts()) {
        return;
    }
    // What is queued stands behind what is not.
    if (send_calls_of(false)) {
        scratch_.waiting_channels.clear();
        (void)send_calls_of(true);
    }
}

void CallSender::note_versions() {
    auto& calls = parts_.calls.calls();
    for (auto call = calls.rbegin(); call != calls.rend() && !call->has_versions; ++call) {
        if (!call->is_for_next) {
            note_versions(*call);
        }
    }
}

void CallSender::note_versions(OutgoingCall& call) {
    for (NamedObject& named : call.named) {
        if (!named.has_version && is_meant(call, named)) {
            // The first compare after the call: what the caller had set is in this version.
            named.version = parts_.objects.at(named.index)->changelist_state().version();
            named.has_version = true;
        }
    }
    call.has_versions = true;
}

bool CallSender::send_begun_parts() {
    bool is_last_part_due = false;
    for (OutgoingCall& call : parts_.calls.calls()) {
        if (call.was_sent && call.goes_ahead() && !call.is_for_next &&
            channel_state(parts_.pairs[call.named.front().index]) == ChannelState::Open &&
            !parts_.packets.write_parts_ahead(parts_.calls, call)) {
            return true;
        }
        is_last_part_due = is_last_part_due || call.is_last_part_due();
    }
    return is_last_part_due;
}

bool CallSender::send_last_parts() {
    for (auto call = parts_.calls.calls().begin(); call != parts_.calls.calls().end();) {
        if (!call->is_last_part_due() || needs_open(*call)) {
            ++call;
        } else if (!send_next(call)) {
            return false;
        }
    }
    return true;
}

bool CallSender::send_next(CallQueue::Calls::iterator& call) {
    switch (send_call(*call)) {
        case SendOutcome::NoRoom:
            parts_.packets.turns().calls_found_no_room();
            return false;
        case SendOutcome::HeldBack:
            scratch_.waiting_channels.push_back(call->channel);
            ++call;
            break;
        case SendOutcome::Done:
            // A part in the middle was lost, and all else of it is under way.
            call = call->is_in_flight ? std::next(call) : parts_.calls.sent(call);
            break;
    }
    return true;
}

bool CallSender::send_calls_of(bool are_queued) {
    scratch_.opening_channels.clear();
    // Opens may take up the flush, so calls that need none go first.
    if (!send_calls_of(are_queued, Opens::NotNeeded)) {
        return false;
    }
    return scratch_.opening_channels.empty() || send_calls_of(are_queued, Opens::Needed);
}

bool CallSender::send_calls_of(bool are_queued, Opens opens) {
    const auto contains = [](const Vector<ChannelIndex>& channels, ChannelIndex channel) {
        return std::find(channels.begin(), channels.end(), channel) != channels.end();
    };
    for (auto call = parts_.calls.calls().begin(); call != parts_.calls.calls().end();) {
        const bool is_opening = contains(scratch_.opening_channels, call->channel);
        if (call->is_in_flight || call->is_queued != are_queued || call->is_for_next ||
            contains(scratch_.waiting_channels, call->channel) ||
            is_opening != (opens == Opens::Needed)) {
            ++call;
            continue;
        }
        if (opens == Opens::NotNeeded && needs_open(*call)) {
            scratch_.opening_channels.push_back(call->channel);
            ++call;
            continue;
        }
        if (!send_next(call)) {
            return false;
        }
    }
    return true;
}

bool CallSender::needs_open(const OutgoingCall& call) const noexcept {
    return std::any_of(call.named.begin(), call.named.end(), [&](const NamedObject& named) {
        return channel_state(parts_.pairs[named.index]) == ChannelState::Closed &&
               needs_channel(call, named);
    });
}

bool CallSender::is_named_alive(const NamedObject& named) const noexcept {
    const ServerObject* info = parts_.objects.at(named.index);
    return info != nullptr && info->guid() == named.guid;
}

bool CallSender::is_meant(const OutgoingCall& call, const NamedObject& named) const noexcept {
    if (!is_named_alive(named)) {
        return false;  // the receiver has no such object, or will not have it: null, as it should
    }
    // The call wakes its target alone. The receiver has a dormant object as it is to stay, or is
    // not to have it. It is not to have one that is not relevant, but a removed one stays until its
    // calls have arrived.
    return &named == &call.named.front() || !parts_.pairs.dormancy().is_resting(named.index) ||
           is_leaving_behind_calls(named.index);
}

bool CallSender::is_leaving_behind_calls(ObjectIndex index) const noexcept {
    const PairVisibility& dormancy = parts_.pairs.dormancy();
    return dormancy.leaving.test(index) && !dormancy.frozen.test(index) &&
           !dormancy.dormant.test(index);
}

bool CallSender::needs_channel(const OutgoingCall& call, const NamedObject& named) const noexcept {
    return is_meant(call, named) ||
           (is_meant_as_hidden(call, named) && parts_.hidden_states.find(named.index) != nullptr);
}

SendOutcome CallSender::open_named(const OutgoingCall& call) {
    for (const NamedObject& named : call.named) {
        if (channel_state(parts_.pairs[named.index]) == ChannelState::Closed &&
            needs_channel(call, named)) {
            // An open leaves with its first block. Under a cap there may be no room for the blocks
            // of all, and an open that is left over would go before everything else in each flush.
            const bool may_open = !parts_.packets.bandwidth().is_capped() ||
                                  !parts_.packets.opens().first_unfollowed().has_value();
            if (!may_open || parts_.channels.open_channel(named.index) != SendOutcome::Done) {
                return parts_.packets.can_write(PacketUse::Messages) ? SendOutcome::HeldBack
                                                                     : SendOutcome::NoRoom;
            }
        }
    }
    return SendOutcome::Done;
}

SendOutcome CallSender::send_call(OutgoingCall& call) {
    if (!call.goes_ahead() && !parts_.packets.can_write(PacketUse::Messages)) {
        return SendOutcome::NoRoom;
    }
    note_versions(call);  // one may have become what the call means since
    if (const SendOutcome outcome = open_named(call); outcome != SendOutcome::Done) {
        return outcome;
    }
    if (call.is_in_parts()) {
        // Only the last needs the state: nothing runs before that is there. But the receiver waits
        // for the rest of a call no longer than NetConfig::waiting_timeout_ms, so the first part
        // does not go before the last could.
        const bool is_open =
            channel_state(parts_.pairs[call.named.front().index]) == ChannelState::Open;
        if (!is_open || (!call.was_sent && !could_end(call)) ||
            !parts_.packets.write_parts_ahead(parts_.calls, call)) {
            return SendOutcome::HeldBack;
        }
        if (call.is_in_flight) {
            return SendOutcome::Done;
        }
    }
    const CallPart part = *parts_.calls.next_part(call);
    const std::size_t room_bytes = parts_.packets.builder().room_bytes();
    for (const bool is_fresh_packet : {false, true}) {
        if (is_fresh_packet) {
            parts_.packets.flush_full();
        }
        if (!parts_.packets.can_write(PacketUse::Messages)) {
            return SendOutcome::NoRoom;
        }
        std::size_t bytes = part.payload.size() + call_header_bytes_max;
        if (!collect_call_blocks(call, bytes)) {
            return SendOutcome::HeldBack;
        }
        if (bytes > room_bytes) {
            hold_back_blocks();
            return SendOutcome::HeldBack;
        }
        if (bytes <= parts_.packets.builder().bytes_left() &&
            call_array_steps() <= parts_.packets.builder().array_steps_left()) {
            parts_.packets.begin_packet(PacketUse::Messages);
            write_call_blocks();
            const bool is_written = parts_.packets.write_call(part);
            REPLAYOUT_ASSERT(is_written);
            (void)is_written;
            keep_opens_of(call);
            stop_ahead(call);
            return SendOutcome::Done;
        }
    }
    hold_back_blocks();
    return SendOutcome::HeldBack;
}

bool CallSender::could_end(const OutgoingCall& call) {
    std::size_t bytes = parts_.calls.last_part_bytes(call) + call_header_bytes_max;
    if (!collect_call_blocks(call, bytes)) {
        return false;
    }
    // Under a cap the last part may go much later, and what is to go with it may grow meanwhile.
    const bool needs_nothing =
        !parts_.packets.bandwidth().is_capped() || scratch_.call_blocks.empty();
    if (!needs_nothing || bytes > parts_.packets.builder().room_bytes()) {
        hold_back_blocks();
        return false;
    }
    return true;
}

bool CallSender::collect_call_blocks(const OutgoingCall& call, std::size_t& bytes) {
    scratch_.call_blocks.clear();
    if (scratch_.carried_packet != parts_.packets.open_packet_number()) {
        scratch_.carried_packet = parts_.packets.open_packet_number();
        scratch_.carried.clear();
    }
    for (const NamedObject& named : call.named) {
        const bool is_carried = std::find(scratch_.carried.begin(), scratch_.carried.end(),
                                          named.index) != scratch_.carried.end();
        if (is_meant_as_hidden(call, named)) {
            if (!is_carried && !collect_hidden_block(named.index, bytes)) {
                return false;
            }
            continue;
        }
        if (!is_meant(call, named) || is_carried) {
            continue;
        }
        const ChannelState channel = channel_state(parts_.pairs[named.index]);
        const bool is_open = channel == ChannelState::Open;
        const bool is_opening = channel == ChannelState::OpenSent &&
                                parts_.packets.opens().contains(named.index) &&
                                parts_.channels.is_outer_ready(named.index);
        if (!is_open && !is_opening) {
            return false;  // its open is under way, or another object still closes in its place
        }
        const PairExtra* extra = parts_.pairs.find_extra(named.index);
        const Version complete = parts_.records.complete_version(named.index);
        const bool is_any_under_way = extra != nullptr && !extra->paused.is_empty();
        if (is_open && complete >= named.version &&
            (!is_any_under_way || !extra->paused.is_any_missing_of(named.version))) {
            continue;
        }
        if (is_any_under_way) {
            parts_.ahead.hold_back(named.index, complete);
            return false;  // a value too large for a packet is on its way
        }
        if (must_be_delivered(named.index, complete)) {
            parts_.ahead.hold_back(named.index, complete);
            return false;
        }
        if ((is_opening && !collect_first_blocks_of_outers(named.index, bytes)) ||
            !collect_block(named.index, complete, bytes)) {
            parts_.ahead.hold_back(named.index, complete);
            hold_back_blocks();
            return false;
        }
    }
    return true;
}

// The call is in the packet now, and so must the opens be that it needs. Those that have no block
// have nothing to send.
void CallSender::keep_opens_of(const OutgoingCall& call) {
    for (const NamedObject& named : call.named) {
        if (!is_named_alive(named)) {
            continue;
        }
        ObjectIndex index = named.index;
        parts_.packets.opens().followed(index);
        while (parts_.objects.is_part(index)) {
            index = parts_.objects.at(index)->family().outer;
            parts_.packets.opens().followed(index);
        }
    }
}

bool CallSender::collect_block(ObjectIndex index, Version complete, std::size_t& bytes) {
    const PairRef ref = parts_.pairs.ref(index);
    const OwedVersions position = parts_.pairs.position_since(ref, complete);
    ChangeMask& owed = parts_.context.scratch.owed;
    parts_.pairs.collect_owed(ref, position, owed);
    if (!owed.any()) {
        return true;  // nothing that this connection may see
    }
    count_type_of(ref.object, settings_.type_counters, parts_.context);
    parts_.context.delta_states = nullptr;
    const std::size_t offset = call_blocks_end();
    BitWriter writer(scratch_.body.subspan(offset));
    const ObjectLock lock = parts_.objects.lock(index);
    const ScopedValue steps(parts_.context.array_steps_left,
                            SendContext::array_steps_in_packet - call_array_steps());
    const ScopedValue not_sent(parts_.context.is_counting_sent,
                               false);  // the call may wait after all
    const SentBlock block = send_properties(ref.state(), position, owed, writer, parts_.context);
    if (block == SendResult::DoesNotFit) {
        return false;
    }
    parts_.values.note_sent(ref, owed, RepRange(), position, *block.findings);
    if (block == SendResult::Whole) {
        BlockValues values(scratch_.call_blocks.get_allocator().resource());
        values.take(block);
        scratch_.call_blocks.push_back(
            {index, offset, writer.byte_count(), block, std::move(values)});
        bytes += writer.byte_count() + PacketBuilder::block_head_bytes_max;
    }
    return true;
}

// An open leaves with its first block, and the part's with its outer's.
bool CallSender::collect_first_blocks_of_outers(ObjectIndex part, std::size_t& bytes) {
    for (ObjectIndex outer = part; parts_.objects.is_part(outer);) {
        outer = parts_.objects.at(outer)->family().outer;
        const bool is_collected =
            std::any_of(scratch_.call_blocks.begin(), scratch_.call_blocks.end(),
                        [=](const CallBlock& block) { return block.index == outer; });
        if (!is_collected && parts_.packets.opens().find_unfollowed(outer).has_value() &&
            !collect_block(outer, parts_.records.complete_version(outer), bytes)) {
            return false;
        }
    }
    return true;
}

void CallSender::hold_back_blocks() {
    for (const CallBlock& block : scratch_.call_blocks) {
        if (!parts_.pairs.dormancy().frozen.test(block.index)) {
            parts_.ahead.hold_back(block.index, parts_.records.complete_version(block.index));
        }
    }
}

void CallSender::stop_ahead(const OutgoingCall& call) noexcept {
    for (const NamedObject& named : call.named) {
        parts_.ahead.stop(named.index);
    }
}

bool CallSender::is_waited_for(ObjectIndex index) const noexcept {
    return std::any_of(
        parts_.calls.calls().begin(), parts_.calls.calls().end(), [&](const OutgoingCall& call) {
            return !call.is_in_flight && !call.is_delivered && !call.is_for_next &&
                   std::any_of(call.named.begin(), call.named.end(), [&](const NamedObject& named) {
                       return named.index == index && is_named_alive(named);
                   });
        });
}

std::size_t CallSender::call_blocks_end() const noexcept {
    return scratch_.call_blocks.empty()
               ? 0
               : scratch_.call_blocks.back().offset + scratch_.call_blocks.back().size;
}

bool CallSender::is_meant_as_hidden(const OutgoingCall& call,
                                    const NamedObject& named) const noexcept {
    const BitRow& frozen = parts_.pairs.dormancy().frozen;
    return frozen.test(named.index) && frozen.test(slot_of(call.channel)) && is_named_alive(named);
}

bool CallSender::collect_hidden_block(ObjectIndex index, std::size_t& bytes) {
    if (!parts_.hidden_states.is_at_rest(index)) {
        return false;
    }
    const HiddenStates::State* state = parts_.hidden_states.find(index);
    if (state == nullptr) {
        return true;
    }
    if (channel_state(parts_.pairs[index]) != ChannelState::Open) {
        return false;  // it was woken before it was hidden, and waits to be opened
    }
    const std::size_t offset = call_blocks_end();
    const std::size_t size = state->block.size();
    const std::size_t bytes_with = bytes + size + PacketBuilder::block_head_bytes_max;
    if (bytes_with > parts_.packets.builder().room_bytes() ||
        call_array_steps() + state->array_steps > SendContext::array_steps_in_packet) {
        parts_.hidden_states.send_ahead(index);
        return false;
    }
    std::copy_n(state->block.data(), state->block.size(), scratch_.body.data() + offset);
    scratch_.call_blocks.push_back(
        {index, offset, size, SentBlock(SendResult::Whole, 0, state->array_steps), state->values});
    bytes = bytes_with;
    return true;
}

std::size_t CallSender::call_array_steps() const noexcept {
    std::size_t steps = 0;
    for (const CallBlock& block : scratch_.call_blocks) {
        steps += block.sent.array_steps;
    }
    return steps;
}

bool CallSender::must_be_delivered(ObjectIndex index, Version complete) const {
    const RepLayout& layout = parts_.objects.at(index)->changelist_state().layout();
    if (layout.has_delta_structs()) {
        return true;  // a delta that is under way cannot be said again
    }
    // What is sent only at first lies in a block that may be under way, and is not repeated. A
    // layout with InitialOrOwner or Dynamic has InitialOnly among its conditions, too.
    const LifetimeConditionSet conditions = layout.conditions();
    return conditions.contains(LifetimeCondition::InitialOnly) && complete == 0 &&
           parts_.packets.sent().has_initial(index);
}

void CallSender::write_call_blocks() {
    for (const CallBlock& block : scratch_.call_blocks) {
        const auto bytes =
            std::span<const std::byte>(scratch_.body).subspan(block.offset, block.size);
        const bool is_added = parts_.packets.builder().add_block(
            channel_of(block.index), block_has_length(parts_.pairs[block.index]), bytes);
        REPLAYOUT_ASSERT(is_added);
        (void)is_added;
        parts_.packets.builder().spend_array_steps(block.sent.array_steps);
        const bool is_hidden = parts_.pairs.dormancy().frozen.test(block.index);
        if (PairValidator* validator = parts_.pairs.validator();
            validator != nullptr && !is_hidden) {
            validator->block_sent(block.index, bytes);
        }
        count_type_of(*parts_.objects.at(block.index), settings_.type_counters, parts_.context);
        block.values.count_sent(bytes.size(), BlockMiss::WithCall, parts_.context);
        scratch_.carried.push_back(block.index);
        if (is_hidden) {
            continue;  // nothing is owed of it, whatever becomes of the packet
        }
        const PairRef ref = parts_.pairs.ref(block.index);
        const bool is_complete = !parts_.pairs.extra_of(block.index)
                                      .left_out.is_any_seen(ref.state().conditions(),
                                                            parts_.pairs.passing_of(block.index));
        parts_.records.add_records_of_all(
            parts_.records.take_owed(ref, parts_.records.sending_position_of(block.index)),
            block.sent, is_complete);
        parts_.pairs.find_extra(block.index)->ahead.overtaken();
        parts_.pairs.pending().clear(block.index);
    }
}

}  // namespace replayout
