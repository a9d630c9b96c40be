// SPDX-License-Identifier: MIT
//
// Values that do not go the way of the others: those that are too large for a packet, those that
// wait for an object, and deltas.
#include "replication_sender.h"

#include <limits>
#include <string>

#include "value_scope.h"

namespace replayout {

namespace {

[[nodiscard]] bool is_array(const RepLayout& layout, RepHandle handle) noexcept {
    return replayout::is_array(layout.cmd(layout.cmd_of(layout.root(), handle)).type);
}

[[nodiscard]] bool is_delta(const RepLayout& layout, RepHandle handle) noexcept {
    return replayout::is_delta(layout.cmd(layout.cmd_of(layout.root(), handle)).type);
}

}  // namespace

bool ReplicationSender::send_large_value(std::uint32_t index, const OwedVersions& position,
                                         const RepRange& handles) {
    ChangelistState& state = objects_.at(index)->changelist_state();
    const ChangeMask& owed = context_.scratch.owed;
    ChangeMask only(resource_);
    only.reset(state.layout().handle_count());
    for (std::uint32_t handle = handles.handle_begin; handle < handles.handle_end; ++handle) {
        if (owed.test(handle - 1)) {
            only.set(handle - 1);
        }
    }
    const std::size_t byte_count = measure_block(state, position, only, context_);
    if (byte_count > settings_.config.bunch_bytes_max) {
        ++context_.counters.values_over_limit;
        log(LogLevel::Error, "a value of \"" + std::string(state.layout().type().name()) +
                                 "\" exceeds bunch_bytes_max and is not sent");
        for (std::uint32_t bit = only.next(0); bit < only.bit_count(); bit = only.next(bit + 1)) {
            const RepHandle left_out{bit + 1};
            note_left_out(index, {&left_out, 1}, position);
        }
        return true;
    }
    const std::uint32_t fragments = packets_.reliable().fragment_count(byte_count);
    if (bunch_count(pairs_[index]) + fragments >= bunch_count_max) {
        return false;  // one is left for the close
    }
    Vector<std::byte> payload(byte_count, Allocator<std::byte>(resource_));
    BitWriter writer({payload.data(), payload.size()});
    // A message earns its own.
    const ValueScope steps(context_.array_steps_left, std::numeric_limits<std::size_t>::max());
    const SendResult result = send_properties(state, position, only, writer, context_);
    REPLAYOUT_ASSERT(result == SendResult::Whole);
    (void)result;
    note_sent_values(index, handles, position);
    if (DeltaStates* deltas = pairs_.deltas_of(index)) {
        deltas->value_sent(context_.scratch.deltas);
    }
    BunchHeader header;
    header.channel = ObjectStore::channel_of(index);
    PairExtra& extra = pairs_.extra_of(index);
    const std::uint32_t queued = bunch_count(pairs_[index]);
    queue_bunch(header, extra.next_sequence, writer.bytes(),
                {BunchTag::Kind::Value, index, handles.handle_begin});
    const std::uint32_t count = bunch_count(pairs_[index]) - queued;
    extra.next_sequence = static_cast<std::uint16_t>(extra.next_sequence + count);
    extra.paused.add(handles, state.version(), count);
    if (PairValidator* validator = pairs_.validator()) {
        validator->value_queued(index, handles, count, writer.bytes());
    }
    pairs_[index].send_part();  // until it is delivered, the pair is not exact
    count_block(payload.size());
    return true;
}

void ReplicationSender::count_block(std::size_t bytes) noexcept {
    ++context_.counters.blocks_sent;
    context_.counters.block_bytes_sent += bytes;
    if (context_.type_counters != nullptr) {
        ++context_.type_counters->blocks_sent;
        context_.type_counters->block_bytes_sent += bytes;
    }
}

void ReplicationSender::value_delivered(const BunchTag& tag) {
    pairs_.extra_of(tag.object_index).paused.fragment_delivered(RepHandle{tag.handle});
    resume_values(tag.object_index);
}

void ReplicationSender::resume_values(std::uint32_t index) {
    PairExtra* extra = pairs_.find_extra(index);
    // The client takes the bunches of a channel in order, the open first.
    if (extra == nullptr || channel_state(pairs_[index]) != ChannelState::Open) {
        return;
    }
    while (const auto value = extra->paused.take_delivered()) {
        resume_value(index, *value);
    }
}

void ReplicationSender::resume_value(std::uint32_t index, const PausedValues::Entry& value) {
    SendingRepState& pair = pairs_[index];
    pair.delivered();
    // Whatever it became while it was paused is owed now, and what was lost of it, and only that.
    const VersionInterval missed = value.missed(pair.sent_version);
    if (!missed.is_empty()) {
        pairs_.owe_part(index, {missed, value.handles});
    }
    if (DeltaStates* deltas = pairs_.find_deltas(index)) {
        deltas->value_delivered(RepHandle{value.handles.handle_begin}, scratch_.missed);
        owe_missed_deltas(index);
    }
    pairs_.pending().set(index);
    // What it named may have come while it was paused.
    const auto is_ready = [&](const UnmappedValues::Entry& entry) {
        return entry.index == index && value.handles.contains(entry.handle) &&
               is_mapped(entry.guid);
    };
    while (const auto entry = unmapped_.take(is_ready)) {
        pairs_.owe_again(index, entry->handle);
    }
}

bool ReplicationSender::is_mapped(NetGUID guid) const {
    const std::uint32_t index = objects_.find_index(guid);
    return pairs_.contains(index) && (channel_state(pairs_[index]) == ChannelState::Open ||
                                      pairs_.dormancy().kept.test(index));
}

bool ReplicationSender::is_paused(std::uint32_t index, RepHandle handle) const {
    const PairExtra* extra = pairs_.find_extra(index);
    return extra != nullptr && extra->paused.contains(handle);
}

void ReplicationSender::note_sent_values(std::uint32_t index, const RepRange& handles,
                                         const OwedVersions& position) {
    const SendScratch& scratch = context_.scratch;
    const RepLayout& layout = objects_.at(index)->changelist_state().layout();
    // What a value waits for is said anew each time it is sent; of an array, only what is sent of
    // it.
    const auto is_outdated = [&](const UnmappedValues::Entry& entry) {
        return entry.index == index && handles.contains(entry.handle) &&
               scratch.owed.test(entry.handle.value - 1) && !is_array(layout, entry.handle);
    };
    while (unmapped_.take(is_outdated)) {
    }
    if (DeltaStates* deltas = pairs_.deltas_of(index)) {
        deltas->note_unchanged(scratch.unchanged);
    }
    for (const UnmappedValue& value : scratch.unmapped) {
        unmapped_.add({value.guid, index, value.handle});
    }
    note_left_out(index, scratch.left_out, position);
}

void ReplicationSender::note_left_out(std::uint32_t index, std::span<const RepHandle> handles,
                                      const OwedVersions& position) {
    const ChangelistState& state = objects_.at(index)->changelist_state();
    for (const RepHandle handle : handles) {
        if (is_delta(state.layout(), handle)) {
            // It may have nothing to say for good, where values differ that it never sends.
            if (PairValidator* validator = pairs_.validator()) {
                validator->value_unknown(index, handle);
            }
            continue;
        }
        pairs_.extra_of(index).left_out.note(state.layout(), {&handle, 1}, position,
                                             state.version());
        if (PairValidator* validator = pairs_.validator()) {
            validator->value_left_out(index, handle);
        }
    }
}

void ReplicationSender::owe_left_out(std::uint32_t index, PairExtra& extra) {
    extra.left_out.owe_with(
        context_.scratch.owed,
        [&] { pairs_.collect_owed(index, pairs_.position_of(index), context_.scratch.owed); },
        [&](const LeftOutValues::Entry& value) {
            pairs_.owe_part(index, {value.versions, value.handles});
        });
}

void ReplicationSender::resolve_deltas(std::uint32_t index, bool is_delivered) {
    if (DeltaStates* deltas = pairs_.find_deltas(index)) {
        deltas->block_resolved(is_delivered, scratch_.missed);
        owe_missed_deltas(index);
    }
}

void ReplicationSender::owe_missed_deltas(std::uint32_t index) {
    while (!scratch_.missed.empty()) {
        const RepHandle handle = scratch_.missed.back();
        scratch_.missed.pop_back();
        pairs_.owe_again(index, handle);
    }
}

void ReplicationSender::forget_unmapped(std::uint32_t index) {
    const NetGUID guid = objects_.at(index)->guid();
    const auto is_concerned = [&](const UnmappedValues::Entry& entry) {
        return entry.index == index || entry.guid == guid;
    };
    while (const auto entry = unmapped_.take(is_concerned)) {
        if (PairValidator* validator = pairs_.validator();
            validator != nullptr && entry->index != index) {
            // The client has null, and the value names what is no more: equal, and not to the bit.
            validator->value_unknown(entry->index, entry->handle);
        }
    }
}

void ReplicationSender::object_mapped(std::uint32_t index) {
    const NetGUID guid = objects_.at(index)->guid();
    const auto is_ready = [&](const UnmappedValues::Entry& entry) {
        return entry.guid == guid && !is_paused(entry.index, entry.handle);
    };
    while (const auto entry = unmapped_.take(is_ready)) {
        pairs_.owe_again(entry->index, entry->handle);
    }
}

}  // namespace replayout
