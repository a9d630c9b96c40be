// SPDX-License-Identifier: MIT
#include "large_value_sender.h"

#include <replayout/block_counts.h>

#include <limits>
#include <string>

#include "object_bunch.h"
#include "scoped_value.h"

namespace replayout {

LargeValueSender::LargeValueSender(const PropertyParts& parts, const NetConfig& config,
                                   MemoryResource* resource)
    : parts_(parts), config_(config), resource_(resource) {}

LargeValue LargeValueSender::send(PairRef ref, const OwedVersions& position, const ChangeMask& owed,
                                  const RepRange& handles, bool is_initial) {
    const PairExtra* const extra = parts_.pairs.find_extra(ref.index);
    if (extra != nullptr && !extra->ahead.may_begin_values()) {
        return LargeValue::Owed;  // others that wait keep their turn, which ends with the round
    }
    return send_reliably(ref, position, owed, handles, is_initial);
}

LargeValue LargeValueSender::send_reliably(PairRef ref, const OwedVersions& position,
                                           const ChangeMask& owed, const RepRange& handles,
                                           bool is_initial) {
    ChangelistState& state = ref.state();
    const ChangeMask only = owed_within(owed, handles);
    const std::size_t byte_count = measure_block(state, position, only, parts_.context).byte_count;
    if (byte_count > config_.bunch_bytes_max) {
        leave_out_over_limit(ref, only, position);
        return LargeValue::Sent;
    }
    const std::uint32_t fragments = parts_.packets.reliable().fragment_count(byte_count);
    if (bunch_count(parts_.pairs[ref.index]) + fragments + 1 >= bunch_count_max) {
        return LargeValue::Owed;  // one is left for the close, and one for a message
    }
    if (!takes_turn(ref.index, byte_count)) {
        parts_.values.turns().wait(ref.index, fragments);
        return LargeValue::Waiting;
    }
    Vector<std::byte> payload(byte_count, Allocator<std::byte>(resource_));
    const SentBlock block = encode(ref, position, only, payload);
    if (block == SendResult::DoesNotFit) {
        leave_out_over_limit(ref, only, position);
        return LargeValue::Sent;
    }
    parts_.values.note_sent(ref, only, handles, position, *block.findings);
    if (block == SendResult::Nothing) {
        return LargeValue::Sent;  // left out
    }
    if (DeltaStates* deltas = parts_.pairs.deltas_of(ref)) {
        deltas->value_sent(block.deltas());
    }
    const std::uint32_t count = queue(ref.index, handles, payload);
    PairExtra& extra = parts_.pairs.extra_of(ref.index);
    const Version held = parts_.records.owed_of(ref.index, position, handles).after;
    extra.paused.add(handles, state.version(), count, extra.waited_since, is_initial, held);
    if (PairValidator* validator = parts_.pairs.validator()) {
        validator->value_queued(ref.index, handles, count, payload);
    }
    parts_.pairs.edit(ref.index).send_part();  // until it is delivered, the pair is not exact
    count_block(payload.size(), BlockMiss::TooLarge, parts_.context);
    return LargeValue::Sent;
}

bool LargeValueSender::takes_turn(ObjectIndex index, std::size_t byte_count) {
    ValueTurns& turns = parts_.values.turns();
    const bool has_room =
        turns.is_promised(index)
            ? parts_.packets.reliable().has_room_behind_unsent(PacketUse::Values, byte_count)
            : parts_.packets.has_room_for_value(byte_count);
    if (!turns.may_go(index) || !has_room) {
        return false;
    }
    turns.keep_promise(index);
    turns.leave(index);
    return true;
}

SentBlock LargeValueSender::encode(PairRef ref, const OwedVersions& position,
                                   const ChangeMask& handles, Vector<std::byte>& payload) {
    // A message earns its own.
    const ScopedValue steps(parts_.context.array_steps_left,
                            std::numeric_limits<std::size_t>::max());
    while (true) {
        BitWriter writer({payload.data(), payload.size()});
        const SentBlock block =
            send_properties(ref.state(), position, handles, writer, parts_.context);
        if (block != SendResult::DoesNotFit) {
            payload.resize(writer.byte_count());
            return block;
        }
        // A net_serialize fails, which takes no room in the end, and some until it does.
        if (payload.size() > std::size_t{2} * config_.bunch_bytes_max) {
            return block;
        }
        payload.resize(2 * payload.size() + 64);
    }
}

std::uint32_t LargeValueSender::queue(ObjectIndex index, const RepRange& handles,
                                      std::span<const std::byte> message) {
    BunchHeader header;
    header.channel = channel_of(index);
    PairExtra& extra = parts_.pairs.extra_of(index);
    const std::uint32_t count = queue_bunch(parts_.packets.reliable(), parts_.pairs.edit(index),
                                            header, extra.next_sequence, message,
                                            {BunchTag::Kind::Value, index, handles.handle_begin});
    extra.order.value_queued(extra.next_sequence);
    extra.next_sequence = static_cast<std::uint16_t>(extra.next_sequence + count);
    return count;
}

std::size_t LargeValueSender::bytes_of(PairRef ref, const OwedVersions& position,
                                       const ChangeMask& owed, const RepRange& handles) const {
    return measure_block(ref.state(), position, owed_within(owed, handles), parts_.context)
        .byte_count;
}

void LargeValueSender::leave_out_over_limit(PairRef ref, const ChangeMask& handles,
                                            const OwedVersions& position) {
    ++parts_.context.counters.values_over_limit;
    const RepLayout& layout = ref.layout();
    const ParentIndex parent = ref.state().conditions().parent_of(RepHandle{handles.next(0) + 1});
    log(LogLevel::Error,
        "property \"" + std::string(layout.parents()[parent.value].property->name) +
            "\" of object " + std::to_string(ref.object.guid().value) + " of class \"" +
            std::string(layout.type().name()) + "\" takes more than NetConfig::bunch_bytes_max (" +
            std::to_string(config_.bunch_bytes_max) +
            " bytes), so it is not sent: raise that, or lower the limits of the property");
    for (std::uint32_t bit = handles.next(0); bit < handles.bit_count();
         bit = handles.next(bit + 1)) {
        const RepHandle left_out{bit + 1};
        parts_.values.note_left_out(ref, {&left_out, 1}, position);
    }
}

void LargeValueSender::take_back_hidden(ObjectIndex index) {
    const PairExtra* extra = parts_.pairs.find_extra(index);
    if (extra == nullptr || extra->paused.is_empty()) {
        return;
    }
    const ServerObject& info = *parts_.objects.at(index);
    const ObjectConditions& conditions = info.changelist_state().conditions();
    // As if nothing were initial: what was sent as that is the client's, whatever becomes of it.
    const LifetimeConditionSet passing =
        passing_conditions(parts_.pairs.flags_for(info.ownership()));
    extra->paused.for_each_under_way([&](const PausedValues::Entry& value) {
        const RepHandle handle{value.handles.handle_begin};
        const bool is_initial_value = value.is_initial && conditions.is_initial(handle, passing);
        if (!is_initial_value && !conditions.passes(conditions.parent_of(handle), passing)) {
            parts_.packets.reliable().take_back({BunchTag::Kind::Value, index, handle.value});
        }
    });
}

ChangeMask LargeValueSender::owed_within(const ChangeMask& owed, const RepRange& handles) const {
    ChangeMask only(resource_);
    only.reset(owed.bit_count());
    for (std::uint32_t handle = handles.handle_begin; handle < handles.handle_end; ++handle) {
        if (owed.test(handle - 1)) {
            only.set(handle - 1);
        }
    }
    return only;
}

}  // namespace replayout
