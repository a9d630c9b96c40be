// SPDX-License-Identifier: MIT
#include "block_writer.h"

#include <replayout/block_counts.h>

#include <algorithm>

#include "scoped_value.h"

namespace replayout {

BlockWriter::BlockWriter(const PropertyParts& parts, std::span<std::byte> body)
    : parts_(parts), body_(body) {}

const SharedPayload* BlockWriter::find_payload(PairRef ref, const OwedVersions& position) const {
    if (!may_share_payload(ref, position)) {
        return nullptr;
    }
    return ref.state().shared().find_payload(payload_key(ref, position));
}

const SharedPayload* BlockWriter::find_plain_payload(PairRef ref,
                                                     const OwedVersions& position) const {
    return parts_.context.shares_payloads() && ref.layout().is_fully_shared()
               ? ref.state().shared().find_plain_payload(ref.state().version(), position)
               : nullptr;
}

SendResult BlockWriter::write_payload(PairRef ref, const SharedPayload& payload) {
    const std::span<const std::byte> block(payload.bytes.data(), payload.bytes.size());
    if (payload.array_steps > parts_.packets.builder().array_steps_left() ||
        !parts_.packets.builder().add_block(channel_of(ref.index),
                                            block_has_length(parts_.pairs[ref.index]), block)) {
        return SendResult::DoesNotFit;
    }
    parts_.packets.opens().followed(ref.index);
    parts_.packets.builder().spend_array_steps(payload.array_steps);
    if (PairValidator* validator = parts_.pairs.validator()) {
        validator->block_sent(ref.index, block);
    }
    count_copied_block(block, payload.property_count, parts_.context);
    return SendResult::Whole;
}

void BlockWriter::write_kept(PairRef ref, const SharedPayload& payload, const RegularBlock& first) {
    if (first.bytes.empty()) {
        const SendResult result = write_payload(ref, payload);
        REPLAYOUT_ASSERT(result == SendResult::Whole);
        (void)result;
        return;
    }
    const bool is_added = parts_.packets.builder().add_block(
        channel_of(ref.index), block_has_length(parts_.pairs[ref.index]), first.bytes);
    REPLAYOUT_ASSERT(is_added);
    (void)is_added;
    parts_.packets.builder().spend_array_steps(payload.array_steps);
    count_regular(ref.index, first);
}

SentBlock BlockWriter::write_whole(PairRef ref, const OwedVersions& position,
                                   const ChangeMask& owed) {
    BlockFrame frame = begin_block(ref.index, false);
    if (frame.packet.overflowed()) {
        return SentBlock(SendResult::DoesNotFit);
    }
    const ScopedValue steps(parts_.context.array_steps_left,
                            parts_.packets.builder().array_steps_left());
    const SentBlock block =
        send_properties(ref.state(), position, owed, frame.body, parts_.context);
    if (block != SendResult::DoesNotFit) {
        parts_.values.note_sent(ref, owed, RepRange(), position, *block.findings);
    }
    if (block == SendResult::Whole) {
        const auto bytes = frame.body.bytes().subspan(frame.body_offset_bytes);
        end_block(frame, block, note_whole(ref, position, block, bytes));
    }
    return block;
}

SentBlock BlockWriter::write_part(PairRef ref, const OwedVersions& position, const ChangeMask& owed,
                                  RepCursor& cursor, RepRange& range) {
    BlockFrame frame = begin_block(ref.index, true);
    REPLAYOUT_ASSERT(!frame.packet.overflowed());
    const SentBlock part =
        send_part(ref.state(), position, owed, cursor, range, frame.body, parts_.context);
    if (part == SendResult::Whole || part == SendResult::Part) {
        end_block(frame, part, BlockMiss::TooLarge);
    }
    parts_.values.note_sent(ref, owed, range, position, *part.findings);
    return part;
}

BlockWriter::RegularBlock BlockWriter::regular_block(PairRef ref, const OwedVersions& position,
                                                     BlockLength length) {
    ChangelistState& state = ref.state();
    REPLAYOUT_ASSERT(position.sent_version + 1 == state.version());
    const std::size_t bytes_max = PacketBuilder::block_bytes_max(
        parts_.packets.builder().room_bytes(), channel_of(ref.index), length);
    if (!parts_.context.shares_pieces()) {
        if (const RegularBlock plain = plain_block(state, bytes_max); !plain.bytes.empty()) {
            return plain;
        }
    } else if (const SharedPayload* payload = find_payload(ref, position)) {
        if (payload->bytes.size() > bytes_max ||
            !is_bundled(payload->bytes.size(), payload->array_steps)) {
            return {};
        }
        return {{payload->bytes.data(), payload->bytes.size()}, payload->property_count, {}};
    }
    ChangeMask& owed = parts_.context.scratch.owed;
    if (state.layout().conditions().is_trivial() && !state.layout().has_atomic_groups()) {
        state.collect_newest(owed);  // as for the bundle: such a pair lost nothing
    } else {
        parts_.pairs.collect_owed(ref, position, owed);
    }
    if (state.must_restart_arrays(position, owed)) {
        return {};
    }
    return lay_apart(ref, position, owed, bytes_max);
}

BlockWriter::RegularBlock BlockWriter::first_block(PairRef ref, const OwedVersions& position) {
    REPLAYOUT_ASSERT(position.sent_version == 0 && !ref.layout().needs_held_version());
    // A serializer that fails, or names what the client may not have, is asked once, where the
    // block goes.
    if (ref.layout().has_net_serialize_structs()) {
        return {};
    }
    ChangeMask& owed = parts_.context.scratch.owed;
    parts_.pairs.collect_owed(ref, position, owed);
    return !owed.any() ? RegularBlock()
                       : lay_apart(ref, position, owed,
                                   PacketBuilder::block_bytes_max(
                                       parts_.packets.builder().room_bytes(), channel_of(ref.index),
                                       BlockLength::Given));
}

BlockWriter::RegularBlock BlockWriter::lay_apart(PairRef ref, const OwedVersions& position,
                                                 const ChangeMask& owed, std::size_t bytes_max) {
    BitWriter body(body_.first(bytes_max));
    const ScopedValue not_sent(parts_.context.is_counting_sent, false);  // see count_regular()
    const SentBlock block = send_properties(ref.state(), position, owed, body, parts_.context);
    if (block != SendResult::Whole || !block.findings->left_out.empty() ||
        !is_bundled(body.byte_count(), block.array_steps)) {
        return {};
    }
    return {body.bytes(), block.property_count, note_whole(ref, position, block, body.bytes()),
            block.findings};
}

void BlockWriter::count_regular(ObjectIndex index, const RegularBlock& block) {
    if (PairValidator* validator = parts_.pairs.validator()) {
        validator->block_sent(index, block.bytes);
    }
    if (!block.miss) {
        count_copied_block(block.bytes, block.property_count, parts_.context);
        return;
    }
    parts_.context.counters.properties_sent += block.property_count;
    if (block.findings != nullptr) {
        count_sent_values(block.findings->values, parts_.context);
    }
    count_block(block.bytes.size(), block.miss, parts_.context);
}

bool BlockWriter::is_bundled(std::size_t body_bytes, std::size_t array_steps) const noexcept {
    return array_steps <= body_bytes * array_steps_per_byte(parts_.packets.builder().room_bytes());
}

BlockWriter::RegularBlock BlockWriter::plain_block(const ChangelistState& state,
                                                   std::size_t bytes_max) {
    const RepLayout& layout = state.layout();
    if (layout.handle_count() > 64 || !layout.conditions().is_trivial() ||
        parts_.context.type_counters != nullptr) {
        return {};
    }
    if (const std::uint64_t handles = state.newest(); !plain_.is_of(layout, handles)) {
        plain_ = PlainBlock(layout, handles);
    }
    if (plain_.value_count() == 0 || plain_.byte_count() + PlainBlock::spare_bytes > bytes_max) {
        return {};
    }
    plain_.write(state, body_.data());
    parts_.context.counters.values_encoded += plain_.value_count();
    return {body_.first(plain_.byte_count()), plain_.value_count(), BlockMiss::SharingOff};
}

BlockWriter::BlockFrame BlockWriter::begin_block(ObjectIndex index, bool is_part) {
    const ChannelIndex channel = channel_of(index);
    const bool has_length = is_part || block_has_length(parts_.pairs[index]);
    const BitWriter packet = parts_.packets.builder().begin_block(channel, has_length);
    if (!has_length) {
        return {channel, packet, packet, packet.byte_count(), false};
    }
    // The length comes to stand before the block, so the block is laid down apart.
    const std::size_t room_bytes = packet.bits_left() / 8;
    const std::size_t body_bytes = room_bytes - std::min(room_bytes, block_length_bytes_max);
    return {channel, packet, BitWriter(body_.first(body_bytes)), 0, true};
}

void BlockWriter::end_block(BlockFrame& frame, const SentBlock& block, BlockMiss miss) {
    const auto bytes = frame.body.bytes().subspan(frame.body_offset_bytes);
    if (PairValidator* validator = parts_.pairs.validator()) {
        validator->block_sent(slot_of(frame.channel), bytes);
    }
    if (frame.has_length) {
        frame.packet.write_packed_uint(block_length_word(bytes.size(), block == SendResult::Part));
        frame.packet.write_bytes(frame.body.bytes());
    } else {
        frame.packet = frame.body;
    }
    parts_.packets.builder().end_block(frame.packet, frame.channel);
    parts_.packets.opens().followed(slot_of(frame.channel));
    parts_.packets.builder().spend_array_steps(block.array_steps);
    count_block(bytes.size(), miss, parts_.context);
}

bool BlockWriter::may_share_payload(PairRef ref, const OwedVersions& position) const {
    if (!parts_.context.shares_payloads() || !position.lost_parts.empty() ||
        !ref.layout().is_fully_shared()) {
        return false;
    }
    const PairExtra* extra = parts_.pairs.find_extra(ref.index);
    return extra == nullptr || extra->paused.is_empty();
}

SharedSerialization::PayloadKey BlockWriter::payload_key(PairRef ref,
                                                         const OwedVersions& position) const {
    const ChangelistState& state = ref.state();
    return state.payload_key(position, state.layout().conditions().is_trivial()
                                           ? LifetimeConditionSet()
                                           : parts_.pairs.passing_of(ref.index));
}

BlockMiss BlockWriter::note_whole(PairRef ref, const OwedVersions& position, const SentBlock& block,
                                  std::span<const std::byte> bytes) {
    ChangelistState& state = ref.state();
    const PairExtra* extra = parts_.pairs.find_extra(ref.index);
    const bool has_left_out = !block.findings->left_out.empty();
    const BlockMiss miss =
        block_miss_of(state, position, has_left_out, extra != nullptr && !extra->paused.is_empty(),
                      ref.object.bundled_version() == state.version());
    if (!has_left_out && may_share_payload(ref, position)) {
        keep_payload(state.shared(), payload_key(ref, position), block, bytes, parts_.context);
    }
    return miss;
}

}  // namespace replayout
