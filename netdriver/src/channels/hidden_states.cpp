// SPDX-License-Identifier: MIT
#include "hidden_states.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "object_bunch.h"
#include "scoped_value.h"

namespace replayout {

HiddenStates::HiddenStates(const Parts& parts, MemoryResource* resource)
    : parts_(parts),
      resource_(resource),
      states_(Allocator<std::pair<ObjectIndex, State>>(resource_)) {}

bool HiddenStates::is_needed(ObjectIndex index, Version complete) const noexcept {
    const ObjectIndex root = parts_.objects.root_of(index);
    return std::any_of(
        parts_.calls.calls().begin(), parts_.calls.calls().end(), [&](const OutgoingCall& call) {
            const ObjectIndex target = slot_of(call.channel);
            return !call.is_delivered && !call.is_for_next &&
                   parts_.objects.root_of(target) == root &&
                   std::any_of(call.named.begin(), call.named.end(), [&](const NamedObject& named) {
                       return named.index == index &&
                              (!named.has_version || named.version > complete);
                   });
        });
}

bool HiddenStates::keep(ObjectIndex index) {
    parts_.pairs.grow();
    forget(index);
    if (!parts_.pairs.has_object(index) || parts_.pairs.dormancy().dormant.test(index)) {
        return true;  // the client lacks nothing of a dormant object that it is to have
    }
    Version complete = parts_.records.complete_version(index);
    if (const PairExtra* extra = parts_.pairs.find_extra(index)) {
        complete = extra->paused.complete_with(complete, parts_.pairs[index].sent_version);
    }
    const bool is_opening = channel_state(parts_.pairs[index]) == ChannelState::OpenSent;
    if (!is_needed(index, is_opening ? 0 : complete)) {
        return true;
    }
    State state{Vector<std::byte>(Allocator<std::byte>(resource_)), 0, BlockValues(resource_)};
    if (!encode(index, complete, state) ||
        bytes_ + state.block.size() > parts_.config.reliable_waiting_bytes_max) {
        return false;
    }
    if (!state.block.empty()) {
        bytes_ += state.block.size();
        states_.emplace(index, std::move(state));
    }
    return true;
}

bool HiddenStates::encode(ObjectIndex index, Version complete, State& state) {
    const PairRef ref = parts_.pairs.ref(index);
    ChangelistState& object = ref.state();
    if (parts_.packets.sent().has_initial(index) || is_any_initial_waiting(index)) {
        parts_.pairs.owe_what_is_initial(index);  // it may not arrive, or was never sent
    }
    const OwedVersions position = parts_.pairs.position_since(ref, complete);
    // With values that are on their way as bunches: they may have changed since.
    ChangeMask& owed = parts_.context.scratch.owed;
    object.collect_owed(position, parts_.pairs.passing_of(index), owed);
    const DeltaStates* deltas = parts_.pairs.deltas_of(ref);
    if (deltas != nullptr) {
        deltas->remove_held(object, owed);
    }
    if (!owed.any()) {
        return true;
    }
    const ScopedValue delta_states(parts_.context.delta_states, deltas);
    const ScopedValue ids(parts_.context.receiver, &parts_.values);
    const ScopedValue not_sent(parts_.context.is_counting_sent, false);  // no call may need it
    count_type_of(ref.object, parts_.type_counters, parts_.context);
    const ObjectLock lock = parts_.objects.lock(index);
    const std::size_t byte_count = measure_block(object, position, owed, parts_.context).byte_count;
    if (byte_count > parts_.config.bunch_bytes_max) {
        return false;
    }
    state.block.resize(byte_count);
    BitWriter writer({state.block.data(), state.block.size()});
    const ScopedValue steps(parts_.context.array_steps_left,
                            std::numeric_limits<std::size_t>::max());
    const SentBlock block = send_properties(object, position, owed, writer, parts_.context);
    state.block.resize(block == SendResult::Whole ? writer.byte_count() : 0);
    state.array_steps = block.array_steps;
    state.values.take(block);
    return true;
}

bool HiddenStates::is_any_initial_waiting(ObjectIndex index) const {
    const PairExtra* const extra = parts_.pairs.find_extra(index);
    bool is_any = false;
    if (extra != nullptr) {
        extra->paused.for_each_waiting([&](const PausedValues::Entry& value) {
            is_any = is_any || parts_.values.is_initial_value(index, value);
        });
    }
    return is_any;
}

SendOutcome HiddenStates::write_with_open(ObjectIndex index) {
    const State* const state = find(index);
    // What else is under way on the channel comes after the block, and is older.
    const bool is_open_alone = bunch_count(parts_.pairs[index]) == 1;
    if (state == nullptr || !is_open_alone ||
        parts_.objects.at(index)->changelist_state().layout().has_delta_structs()) {
        return SendOutcome::Done;
    }
    for (const bool is_fresh_packet : {false, true}) {
        if (is_fresh_packet) {
            parts_.packets.flush_full_before(index);
        }
        if (!parts_.packets.can_write()) {
            return SendOutcome::NoRoom;
        }
        PacketBuilder& builder = parts_.packets.builder();
        if (state->array_steps <= builder.array_steps_left() &&
            builder.add_block(channel_of(index), block_has_length(parts_.pairs[index]),
                              {state->block.data(), state->block.size()})) {
            builder.spend_array_steps(state->array_steps);
            count_sent(index, *state, BlockMiss::WithCall);
            return SendOutcome::Done;
        }
    }
    return SendOutcome::Done;  // larger than a packet: it goes ahead of the call
}

bool HiddenStates::is_at_rest(ObjectIndex index) const noexcept {
    switch (channel_state(parts_.pairs[index])) {
        case ChannelState::Open:
            return bunch_count(parts_.pairs[index]) == 0;
        case ChannelState::Closed:
            return true;  // the object is dormant, so all that was sent of it has arrived
        default:
            return false;
    }
}

const HiddenStates::State* HiddenStates::find(ObjectIndex index) const noexcept {
    const auto found = states_.find(index);
    return found == states_.end() ? nullptr : &found->second;
}

void HiddenStates::send_ahead(ObjectIndex index) {
    REPLAYOUT_ASSERT(is_at_rest(index) && channel_state(parts_.pairs[index]) == ChannelState::Open);
    const State& state = states_.at(index);
    const Vector<std::byte>& block = state.block;
    const std::uint32_t fragments = parts_.packets.reliable().fragment_count(block.size());
    if (fragments + 1 >= bunch_count_max ||
        !parts_.packets.reliable().has_room_behind_unsent(PacketUse::Values, block.size())) {
        return;
    }
    PairExtra& extra = parts_.pairs.extra_of(index);
    BunchHeader header;
    header.channel = channel_of(index);
    const std::uint32_t count = queue_bunch(
        parts_.packets.reliable(), parts_.pairs.edit(index), header, extra.next_sequence,
        {block.data(), block.size()}, {BunchTag::Kind::HiddenState, index, 0});
    extra.next_sequence = static_cast<std::uint16_t>(extra.next_sequence + count);
    count_sent(index, state, BlockMiss::TooLarge);
    forget(index);
}

void HiddenStates::count_sent(ObjectIndex index, const State& state, BlockMiss miss) {
    count_type_of(*parts_.objects.at(index), parts_.type_counters, parts_.context);
    state.values.count_sent(state.block.size(), miss, parts_.context);
}

void HiddenStates::forget(ObjectIndex index) noexcept {
    const auto found = states_.find(index);
    if (found != states_.end()) {
        bytes_ -= found->second.block.size();
        states_.erase(found);
    }
}

}  // namespace replayout
