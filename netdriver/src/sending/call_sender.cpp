// SPDX-License-Identifier: MIT
#include "call_sender.h"

#include <replayout/block_counts.h>

#include <algorithm>

#include "scoped_value.h"

namespace replayout {

CallSender::CallSender(const ObjectStore& objects, ConnectionPairs& pairs, WaitingValues& values,
                       SentRecords& records, ObjectChannels& channels, HiddenStates& hidden_states,
                       PacketStream& packets, CallQueue& calls, SendContext& context,
                       const SenderSettings& settings, std::span<std::byte> body,
                       MemoryMeters& memory)
    : objects_(objects),
      pairs_(pairs),
      values_(values),
      records_(records),
      channels_(channels),
      hidden_states_(hidden_states),
      packets_(packets),
      calls_(calls),
      context_(context),
      settings_(settings),
      scratch_(body, &memory.scratch),
      held_back_(Allocator<ObjectIndex>(&memory.pairs)) {}

CallResult CallSender::add_call(const NewCall& call, CallEncoder& encoder, SendContext& context) {
    REPLAYOUT_ASSERT(has_room_for_call(call.is_reliable));
    pairs_.grow();
    const ChannelIndex channel = channel_of(call.index);
    context.receiver = &values_;
    const CallResult result = encoder.write(context);
    context.receiver = nullptr;
    if (result != CallResult::Sent) {
        return result;
    }
    if (!calls_.has_room_for(call.is_reliable, encoder.bytes().size())) {
        return CallResult::Full;
    }
    OutgoingCall& added = calls_.add(channel, call.function, call.is_reliable, encoder.bytes());
    // One in parts is kept, and in order with others that are: it cannot stand behind them.
    added.is_queued = call.is_queued && !added.is_in_parts();
    added.named.push_back({call.index, objects_.at(call.index)->guid(), 0, false});
    added.is_for_next = pairs_.dormancy().returning.test(call.index);
    return added.is_queued ? CallResult::Queued : CallResult::Sent;
}

void CallSender::name_in_last_call(std::span<const ObjectIndex> indices) {
    auto& named = calls_.calls().back().named;
    for (const ObjectIndex index : indices) {
        const auto is_it = [&](const NamedObject& object) { return object.index == index; };
        if (std::none_of(named.begin(), named.end(), is_it)) {
            named.push_back({index, objects_.at(index)->guid(), 0, false});
        }
    }
}

bool CallSender::may_queue_call(ObjectIndex index, FunctionIndex function) const noexcept {
    return calls_.queued_count(channel_of(index), function) <
           settings_.config.queued_calls_per_function_max;
}

void CallSender::send_calls() {
    if (!held_back_.empty()) {
        stop_unneeded_ahead();
    }
    if (calls_.is_idle()) {
        return;
    }
    note_versions();
    send_begun_parts();
    // What is queued stands behind what is not.
    if (send_calls_of(false)) {
        (void)send_calls_of(true);
    }
}

void CallSender::note_versions() {
    auto& calls = calls_.calls();
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
            named.version = objects_.at(named.index)->changelist_state().version();
            named.has_version = true;
        }
    }
    call.has_versions = true;
}

void CallSender::send_begun_parts() {
    for (OutgoingCall& call : calls_.calls()) {
        if (call.was_sent && call.goes_ahead() && !call.is_for_next &&
            channel_state(pairs_[call.named.front().index]) == ChannelState::Open &&
            !packets_.write_parts_ahead(calls_, call)) {
            return;
        }
    }
}

bool CallSender::send_calls_of(bool are_queued) {
    scratch_.waiting_channels.clear();
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
    for (auto call = calls_.calls().begin(); call != calls_.calls().end();) {
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
        switch (send_call(*call)) {
            case SendOutcome::NoRoom:
                packets_.turns().calls_found_no_room();
                return false;
            case SendOutcome::HeldBack:
                scratch_.waiting_channels.push_back(call->channel);
                ++call;
                break;
            case SendOutcome::Done:
                // A part in the middle was lost, and all else of it is under way.
                call = call->is_in_flight ? std::next(call) : calls_.sent(call);
                break;
        }
    }
    return true;
}

bool CallSender::needs_open(const OutgoingCall& call) const noexcept {
    return std::any_of(call.named.begin(), call.named.end(), [&](const NamedObject& named) {
        return channel_state(pairs_[named.index]) == ChannelState::Closed &&
               needs_channel(call, named);
    });
}

bool CallSender::is_named_alive(const NamedObject& named) const noexcept {
    const ServerObject* info = objects_.at(named.index);
    return info != nullptr && info->guid() == named.guid;
}

bool CallSender::is_meant(const OutgoingCall& call, const NamedObject& named) const noexcept {
    if (!is_named_alive(named)) {
        return false;  // the receiver has no such object, or will not have it: null, as it should
    }
    // The call wakes its target alone. The receiver has a dormant object as it is to stay, or is
    // not to have it. It is not to have one that is not relevant, but a removed one stays until its
    // calls have arrived.
    return &named == &call.named.front() || !pairs_.dormancy().is_resting(named.index) ||
           is_leaving_behind_calls(named.index);
}

bool CallSender::is_leaving_behind_calls(ObjectIndex index) const noexcept {
    const PairVisibility& dormancy = pairs_.dormancy();
    return dormancy.leaving.test(index) && !dormancy.frozen.test(index) &&
           !dormancy.dormant.test(index);
}

bool CallSender::needs_channel(const OutgoingCall& call, const NamedObject& named) const noexcept {
    return is_meant(call, named) ||
           (is_meant_as_hidden(call, named) && hidden_states_.find(named.index) != nullptr);
}

SendOutcome CallSender::open_named(const OutgoingCall& call) {
    for (const NamedObject& named : call.named) {
        if (channel_state(pairs_[named.index]) == ChannelState::Closed &&
            needs_channel(call, named)) {
            // An open leaves with its first block. Under a cap there may be no room for the blocks
            // of all, and an open that is left over would go before everything else in each flush.
            const bool may_open = !packets_.bandwidth().is_capped() ||
                                  !packets_.opens().first_unfollowed().has_value();
            if (!may_open || channels_.open_channel(named.index) != SendOutcome::Done) {
                return packets_.can_write(PacketUse::Messages) ? SendOutcome::HeldBack
                                                               : SendOutcome::NoRoom;
            }
        }
    }
    return SendOutcome::Done;
}

SendOutcome CallSender::send_call(OutgoingCall& call) {
    if (!call.goes_ahead() && !packets_.can_write(PacketUse::Messages)) {
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
        const bool is_open = channel_state(pairs_[call.named.front().index]) == ChannelState::Open;
        if (!is_open || (!call.was_sent && !could_end(call)) ||
            !packets_.write_parts_ahead(calls_, call)) {
            return SendOutcome::HeldBack;
        }
        if (call.is_in_flight) {
            return SendOutcome::Done;
        }
    }
    const CallPart part = *calls_.next_part(call);
    const std::size_t room_bytes = packets_.builder().room_bytes();
    for (const bool is_fresh_packet : {false, true}) {
        if (is_fresh_packet) {
            packets_.flush_full();
        }
        if (!packets_.can_write(PacketUse::Messages)) {
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
        if (bytes <= packets_.builder().bytes_left() &&
            call_array_steps() <= packets_.builder().array_steps_left()) {
            packets_.begin_packet(PacketUse::Messages);
            write_call_blocks();
            const bool is_written = packets_.write_call(part);
            REPLAYOUT_ASSERT(is_written);
            (void)is_written;
            keep_opens_of(call);
            if (!held_back_.empty()) {
                stop_ahead(call);
            }
            return SendOutcome::Done;
        }
    }
    hold_back_blocks();
    return SendOutcome::HeldBack;
}

bool CallSender::could_end(const OutgoingCall& call) {
    std::size_t bytes = calls_.last_part_bytes(call) + call_header_bytes_max;
    if (!collect_call_blocks(call, bytes)) {
        return false;
    }
    // Under a cap the last part may go much later, and what is to go with it may grow meanwhile.
    const bool needs_nothing = !packets_.bandwidth().is_capped() || scratch_.call_blocks.empty();
    if (!needs_nothing || bytes > packets_.builder().room_bytes()) {
        hold_back_blocks();
        return false;
    }
    return true;
}

bool CallSender::collect_call_blocks(const OutgoingCall& call, std::size_t& bytes) {
    scratch_.call_blocks.clear();
    if (scratch_.carried_packet != packets_.open_packet_number()) {
        scratch_.carried_packet = packets_.open_packet_number();
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
        const ChannelState channel = channel_state(pairs_[named.index]);
        const bool is_open = channel == ChannelState::Open;
        const bool is_opening = channel == ChannelState::OpenSent &&
                                packets_.opens().contains(named.index) &&
                                channels_.is_outer_ready(named.index);
        if (!is_open && !is_opening) {
            return false;  // its open is under way, or another object still closes in its place
        }
        const PairExtra* extra = pairs_.find_extra(named.index);
        const Version complete = records_.complete_version(named.index);
        const bool is_any_under_way = extra != nullptr && !extra->paused.is_empty();
        if (is_open && complete >= named.version &&
            (!is_any_under_way || !extra->paused.is_any_missing_of(named.version))) {
            continue;
        }
        if (is_any_under_way) {
            hold_back(named.index, complete);
            return false;  // a value too large for a packet is on its way
        }
        if (must_be_delivered(named.index, complete)) {
            hold_back(named.index, complete);
            return false;
        }
        if ((is_opening && !collect_first_blocks_of_outers(named.index, bytes)) ||
            !collect_block(named.index, complete, bytes)) {
            hold_back(named.index, complete);
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
        packets_.opens().followed(index);
        while (objects_.is_part(index)) {
            index = objects_.at(index)->family().outer;
            packets_.opens().followed(index);
        }
    }
}

bool CallSender::collect_block(ObjectIndex index, Version complete, std::size_t& bytes) {
    const PairRef ref = pairs_.ref(index);
    const OwedVersions position = pairs_.position_since(ref, complete);
    pairs_.collect_owed(ref, position, context_.scratch.owed);
    if (!context_.scratch.owed.any()) {
        return true;  // nothing that this connection may see
    }
    count_type_of(ref.object, settings_.type_counters, context_);
    context_.delta_states = nullptr;
    const std::size_t offset = call_blocks_end();
    BitWriter writer(scratch_.body.subspan(offset));
    const ObjectLock lock = objects_.lock(index);
    const ScopedValue steps(context_.array_steps_left,
                            SendContext::array_steps_in_packet - call_array_steps());
    const ScopedValue not_sent(context_.is_counting_sent, false);  // the call may wait after all
    const SendResult result =
        send_properties(ref.state(), position, context_.scratch.owed, writer, context_);
    if (result == SendResult::DoesNotFit) {
        return false;
    }
    values_.note_sent(ref, RepRange(), position);
    if (result == SendResult::Whole) {
        BlockValues values(scratch_.call_blocks.get_allocator().resource());
        values.take(context_);
        scratch_.call_blocks.push_back(
            {index, offset, writer.byte_count(), context_.scratch.array_steps, std::move(values)});
        bytes += writer.byte_count() + PacketBuilder::block_head_bytes_max;
    }
    return true;
}

// An open leaves with its first block, and the part's with its outer's.
bool CallSender::collect_first_blocks_of_outers(ObjectIndex part, std::size_t& bytes) {
    for (ObjectIndex outer = part; objects_.is_part(outer);) {
        outer = objects_.at(outer)->family().outer;
        const bool is_collected =
            std::any_of(scratch_.call_blocks.begin(), scratch_.call_blocks.end(),
                        [=](const CallBlock& block) { return block.index == outer; });
        if (!is_collected && packets_.opens().find_unfollowed(outer).has_value() &&
            !collect_block(outer, records_.complete_version(outer), bytes)) {
            return false;
        }
    }
    return true;
}

void CallSender::hold_back(ObjectIndex index, Version complete) {
    if (channel_state(pairs_[index]) != ChannelState::Open) {
        return;
    }
    PairExtra& extra = pairs_.extra_of(index);
    if (!extra.ahead.is_on()) {
        extra.ahead.held_back(extra.complete.record_count(), extra.paused.count());
        if (std::find(held_back_.begin(), held_back_.end(), index) == held_back_.end()) {
            held_back_.push_back(index);
        }
    }
    // A delta begins where the client stands, which is certain once nothing is under way.
    const RepLayout& layout = objects_.at(index)->changelist_state().layout();
    if (!extra.ahead.is_draining() || !extra.paused.is_empty() ||
        (layout.has_delta_structs() && pairs_[index].in_flight > 0)) {
        return;
    }
    if (packets_.sent().has_initial(index)) {
        pairs_.owe_what_is_initial(index);  // it may not arrive
    }
    if (const Version sent = pairs_[index].sent_version; complete < sent) {
        pairs_.owe_part(index, {{complete, sent}, RepRange()});
    }
    extra.ahead.go();
    pairs_.pending().set(index);
}

void CallSender::hold_back_blocks() {
    for (const CallBlock& block : scratch_.call_blocks) {
        if (!pairs_.dormancy().frozen.test(block.index)) {
            hold_back(block.index, records_.complete_version(block.index));
        }
    }
}

void CallSender::stop_ahead(const OutgoingCall& call) noexcept {
    for (const NamedObject& named : call.named) {
        PairExtra* const extra = pairs_.find_extra(named.index);
        // What is going ahead ends by itself.
        if (extra != nullptr && !extra->ahead.is_going()) {
            extra->ahead.stop();
        }
    }
}

void CallSender::stop_unneeded_ahead() noexcept {
    const auto is_off = [&](ObjectIndex index) {
        PairExtra* const extra = pairs_.find_extra(index);
        if (extra != nullptr && !extra->ahead.is_going() && !is_waited_for(index)) {
            extra->ahead.stop();
        }
        return extra == nullptr || !extra->ahead.is_on();
    };
    held_back_.erase(std::remove_if(held_back_.begin(), held_back_.end(), is_off),
                     held_back_.end());
}

bool CallSender::is_waited_for(ObjectIndex index) const noexcept {
    return std::any_of(calls_.calls().begin(), calls_.calls().end(), [&](const OutgoingCall& call) {
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
    const BitRow& frozen = pairs_.dormancy().frozen;
    return frozen.test(named.index) && frozen.test(slot_of(call.channel)) && is_named_alive(named);
}

bool CallSender::collect_hidden_block(ObjectIndex index, std::size_t& bytes) {
    if (!hidden_states_.is_at_rest(index)) {
        return false;
    }
    const HiddenStates::State* state = hidden_states_.find(index);
    if (state == nullptr) {
        return true;
    }
    if (channel_state(pairs_[index]) != ChannelState::Open) {
        return false;  // it was woken before it was hidden, and waits to be opened
    }
    const std::size_t offset = call_blocks_end();
    const std::size_t size = state->block.size();
    const std::size_t bytes_with = bytes + size + PacketBuilder::block_head_bytes_max;
    if (bytes_with > packets_.builder().room_bytes() ||
        call_array_steps() + state->array_steps > SendContext::array_steps_in_packet) {
        hidden_states_.send_ahead(index);
        return false;
    }
    std::copy_n(state->block.data(), state->block.size(), scratch_.body.data() + offset);
    scratch_.call_blocks.push_back({index, offset, size, state->array_steps, state->values});
    bytes = bytes_with;
    return true;
}

std::size_t CallSender::call_array_steps() const noexcept {
    std::size_t steps = 0;
    for (const CallBlock& block : scratch_.call_blocks) {
        steps += block.array_steps;
    }
    return steps;
}

bool CallSender::must_be_delivered(ObjectIndex index, Version complete) const {
    const RepLayout& layout = objects_.at(index)->changelist_state().layout();
    if (layout.has_delta_structs()) {
        return true;  // a delta that is under way cannot be said again
    }
    // What is sent only at first lies in a block that may be under way, and is not repeated. A
    // layout with InitialOrOwner or Dynamic has InitialOnly among its conditions, too.
    const LifetimeConditionSet conditions = layout.conditions();
    return conditions.contains(LifetimeCondition::InitialOnly) && complete == 0 &&
           packets_.sent().has_initial(index);
}

void CallSender::write_call_blocks() {
    for (const CallBlock& block : scratch_.call_blocks) {
        const auto bytes =
            std::span<const std::byte>(scratch_.body).subspan(block.offset, block.size);
        const bool is_added = packets_.builder().add_block(
            channel_of(block.index), block_has_length(pairs_[block.index]), bytes);
        REPLAYOUT_ASSERT(is_added);
        (void)is_added;
        packets_.builder().spend_array_steps(block.array_steps);
        const bool is_hidden = pairs_.dormancy().frozen.test(block.index);
        if (PairValidator* validator = pairs_.validator(); validator != nullptr && !is_hidden) {
            validator->block_sent(block.index, bytes);
        }
        count_type_of(*objects_.at(block.index), settings_.type_counters, context_);
        block.values.count_sent(bytes.size(), BlockMiss::WithCall, context_);
        scratch_.carried.push_back(block.index);
        if (is_hidden) {
            continue;  // nothing is owed of it, whatever becomes of the packet
        }
        const PairRef ref = pairs_.ref(block.index);
        const bool is_complete =
            !pairs_.extra_of(block.index)
                 .left_out.is_any_seen(ref.state().conditions(), pairs_.passing_of(block.index));
        records_.add_records_of_all(
            records_.take_owed(ref, records_.sending_position_of(block.index)), is_complete);
        pairs_.find_extra(block.index)->ahead.overtaken();
        pairs_.pending().clear(block.index);
    }
}

}  // namespace replayout
