// SPDX-License-Identifier: MIT
#include "property_sender.h"

#include <replayout/block_counts.h>

#include <algorithm>
#include <limits>
#include <string>

#include "object_bunch.h"
#include "value_scope.h"

namespace replayout {

PropertySender::PropertySender(const ObjectStore& objects, ConnectionPairs& pairs,
                               WaitingValues& values, SentRecords& records, PacketSender& packets,
                               SendContext& context, const NetConfig& config,
                               std::span<std::byte> body, MemoryMeters& memory)
    : objects_(objects),
      pairs_(pairs),
      values_(values),
      records_(records),
      packets_(packets),
      context_(context),
      config_(config),
      body_(body),
      resource_(&memory.pairs) {}

SendOutcome PropertySender::replicate_properties(std::uint32_t index) {
    const ObjectLock lock = objects_.lock(index);
    const ChangelistState& state = objects_.at(index)->changelist_state();
    const SendingRepState pair = pairs_[index];
    if (!pair.owes_any(state.version())) {
        set_initial(pairs_.edit(index), false);
        pairs_.pending().clear(index);
        return SendOutcome::Done;
    }
    // Most pairs are: what is rare costs them a look.
    const bool was_plain = is_plain(state.layout(), index);
    if (was_plain) {
        const OwedVersions plain_position = position_of_plain(index, pair);
        if (const SharedPayload* known = find_plain_payload(state, plain_position)) {
            if (const std::optional<SendOutcome> outcome =
                    copy_plain(index, plain_position, *known)) {
                return *outcome;
            }
        }
    }
    context_.delta_states = was_plain ? nullptr : pairs_.deltas_of(index);
    if (!was_plain) {
        if (const std::optional<SendOutcome> outcome = replicate_ahead(index)) {
            return *outcome;
        }
        values_.owe_left_out(index);
    }
    const OwedVersions position =
        was_plain ? position_of_plain(index, pair) : records_.sending_position_of(index);
    const SharedPayload* payload = find_payload(index, position);
    if (payload == nullptr) {
        pairs_.collect_owed(index, position, context_.scratch.owed);
        if (!context_.scratch.owed.any()) {
            // What was lost has been sent again since, or is paused and will be owed anew, or is
            // nothing that this connection may see.
            records_.skip(index);
            return SendOutcome::Done;
        }
    }
    for (const bool is_fresh_packet : {false, true}) {
        if (is_fresh_packet) {
            packets_.flush_full_before(index);
        }
        if (!packets_.can_write()) {
            return SendOutcome::NoRoom;
        }
        const SendResult result = payload != nullptr ? write_payload(index, *payload)
                                                     : write_whole_block(index, position);
        if (result == SendResult::Nothing) {
            records_.skip(index);
            return SendOutcome::Done;
        }
        if (result == SendResult::Whole) {
            if (was_plain) {
                record_plain(index, position);
            } else {
                records_.add_records_of_all(records_.take_owed(index, position));
            }
            pairs_.pending().clear(index);
            return SendOutcome::Done;
        }
    }
    if (payload != nullptr) {
        // It fits for others, whose open is acknowledged: their blocks carry no length.
        pairs_.collect_owed(index, position, context_.scratch.owed);
    }
    return replicate_parts(index, position);
}

bool PropertySender::is_plain(const RepLayout& layout, std::uint32_t index) const {
    return !layout.needs_held_version() && !layout.has_delta_structs() &&
           layout.conditions().is_trivial() && pairs_.find_extra(index) == nullptr;
}

OwedVersions PropertySender::position_of_plain(std::uint32_t index,
                                               const SendingRepState& pair) const {
    OwedVersions position(pair);
    position.is_exact = objects_.at(index)->changelist_state().is_any_back(pair.sent_version) &&
                        pairs_.has_arrived(index);
    return position;
}

const SharedPayload* PropertySender::find_plain_payload(const ChangelistState& state,
                                                        const OwedVersions& position) const {
    return context_.shares_payloads() && state.layout().is_fully_shared()
               ? state.shared().find_plain_payload(state.version(), position)
               : nullptr;
}

std::optional<SendOutcome> PropertySender::copy_plain(std::uint32_t index,
                                                      const OwedVersions& position,
                                                      const SharedPayload& payload) {
    for (const bool is_fresh_packet : {false, true}) {
        if (is_fresh_packet) {
            packets_.flush_full_before(index);
        }
        if (!packets_.can_write()) {
            return SendOutcome::NoRoom;
        }
        if (write_payload(index, payload) == SendResult::Whole) {
            record_plain(index, position);
            pairs_.pending().clear(index);
            return SendOutcome::Done;
        }
    }
    return std::nullopt;
}

void PropertySender::record_plain(std::uint32_t index, const OwedVersions& position) {
    SendingRepState& pair = pairs_.edit(index);
    const bool was_initial = is_initial(pair);
    (void)pair.send(objects_.at(index)->changelist_state().version());
    set_initial(pair, false);
    const VersionInterval sent{position.sent_version, pair.sent_version};
    packets_.sent().add_record(
        {index, was_initial, false, false, {hull(sent, position.lost), RepRange()}});
}

void PropertySender::restart_arrays(std::uint32_t index, OwedVersions& position) {
    const ChangelistState& state = objects_.at(index)->changelist_state();
    if (!state.must_restart_arrays(position, context_.scratch.owed)) {
        return;
    }
    state.for_each_restarted(pairs_[index].sent_version, [&](const LostPart& part) {
        pairs_.note_lost_while_paused(index, part.range, part.versions);
        pairs_.owe_part(index, part);
    });
    pairs_.extra_of(index).restart_version = state.version();
    position = records_.sending_position_of(index);
    pairs_.collect_owed(index, position, context_.scratch.owed);
}

std::optional<SendOutcome> PropertySender::replicate_ahead(std::uint32_t index) {
    const PairExtra* const extra = pairs_.find_extra(index);
    if (extra == nullptr || !extra->ahead.is_on()) {
        return std::nullopt;
    }
    const bool is_under_way = !extra->paused.is_empty();
    if (extra->ahead.is_going() && !extra->ahead.is_all_sent()) {
        return is_under_way ? SendOutcome::Done : send_ahead(index);
    }
    // A delta begins where the client stands, which is certain once nothing is under way.
    return extra->ahead.is_draining() && !is_under_way &&
                   objects_.at(index)->changelist_state().layout().has_delta_structs()
               ? std::optional(SendOutcome::Done)
               : std::nullopt;
}

SendOutcome PropertySender::send_ahead(std::uint32_t index) {
    values_.owe_left_out(index);
    OwedVersions position = records_.sending_position_of(index);
    pairs_.collect_owed(index, position, context_.scratch.owed);
    restart_arrays(index, position);
    const Version version = objects_.at(index)->changelist_state().version();
    const TakenOfPair taken = records_.take_owed(index, position);
    pairs_.pending().clear(index);
    std::uint32_t next = pairs_.find_extra(index)->ahead.next_handle();
    records_.return_unsent_before(taken, {RepHandle{next}, 0});
    bool is_all = false;
    while (!is_all) {
        const RepRange handles = next_message(index, position, next);
        is_all = handles.is_empty();
        if (!is_all &&
            send_reliably(index, position, handles, taken.is_initial) != LargeValue::Sent) {
            break;
        }
        next = is_all ? next : handles.handle_end;
    }
    if (!is_all) {
        records_.return_unsent(taken, RepRange::from(RepHandle{next}));
    }
    PairExtra& extra = *pairs_.find_extra(index);
    extra.ahead.sent(version, next, is_all);
    if (extra.paused.is_empty()) {
        extra.end_state_ahead();
    }
    return SendOutcome::Done;
}

RepRange PropertySender::next_message(std::uint32_t index, const OwedVersions& position,
                                      std::uint32_t handle) {
    ChangelistState& state = objects_.at(index)->changelist_state();
    const RepLayout& layout = state.layout();
    const ChangeMask& owed = context_.scratch.owed;
    const std::uint32_t begin = owed.next(handle - 1) + 1;
    if (begin > owed.bit_count()) {
        return {1, 1};
    }
    const auto value_at = [&](std::uint32_t first) {
        const RepGroup* const group = layout.find_group(layout.root(), RepHandle{first});
        return group == nullptr ? RepRange::of(RepHandle{first})
                                : RepRange{group->handle_begin, group->handle_end};
    };
    RepRange message = value_at(begin);
    if (!layout.conditions().is_trivial() || layout.has_delta_structs()) {
        return message;  // each may be taken back, and is resolved, by itself
    }
    const auto bytes_of = [&](const RepRange& value) {
        return measure_block(state, position, owed_within(index, value), context_);
    };
    std::size_t bytes = bytes_of(message);
    for (std::uint32_t bit = owed.next(message.handle_end - 1); bit < owed.bit_count();
         bit = owed.next(message.handle_end - 1)) {
        const RepRange value = value_at(bit + 1);
        bytes += bytes_of(value);
        if (bytes > packets_.builder().room_bytes()) {
            break;
        }
        message.handle_end = value.handle_end;
    }
    return message;
}

ChangeMask PropertySender::owed_within(std::uint32_t index, const RepRange& handles) const {
    const ChangeMask& owed = context_.scratch.owed;
    ChangeMask only(resource_);
    only.reset(objects_.at(index)->changelist_state().layout().handle_count());
    for (std::uint32_t handle = handles.handle_begin; handle < handles.handle_end; ++handle) {
        if (owed.test(handle - 1)) {
            only.set(handle - 1);
        }
    }
    return only;
}

SendOutcome PropertySender::replicate_parts(std::uint32_t index, OwedVersions position) {
    restart_arrays(index, position);
    const bool had_place = pairs_.placed().test(index);  // what is owed anew has none
    const RepCursor begin = take_rest(index);
    const TakenOfPair taken = records_.take_owed(index, position);
    pairs_.pending().clear(index);
    records_.return_unsent_before(taken, begin);
    RepCursor cursor = begin;
    SendResult result = SendResult::Part;
    while (result != SendResult::Whole && result != SendResult::Nothing) {
        const std::uint32_t next = context_.scratch.owed.next(cursor.handle.value - 1);
        if (cursor.element == 0 && next == context_.scratch.owed.bit_count()) {
            break;  // the last value was too large and went its own way
        }
        if (!packets_.can_write()) {
            keep_rest(taken, begin, cursor, had_place);
            return SendOutcome::NoRoom;
        }
        RepRange range{1, 1};  // of Nothing
        result = write_part(index, position, cursor, range);
        if (result == SendResult::Nothing) {
            break;
        }
        if (result == SendResult::ValueTooLarge) {
            const LargeValue outcome = send_large_value(index, position, range, taken.is_initial);
            if (outcome == LargeValue::Owed) {
                records_.return_unsent(taken, range);
            } else if (outcome == LargeValue::Waiting) {
                records_.pause_unsent(taken, range);
            }
            continue;
        }
        records_.add_records_of_part(taken);
        if (result == SendResult::Part) {
            packets_.flush_full();
        }
    }
    return SendOutcome::Done;
}

// If all of an object changes in each tick and a flush has room for a part of it, the values after
// that part would never be sent if each flush began with the first value.
RepCursor PropertySender::take_rest(std::uint32_t index) {
    PairExtra* const extra = pairs_.find_extra(index);
    if (extra == nullptr) {
        return {};
    }
    RepCursor begin = std::exchange(extra->rest, RepCursor());
    const ChangeMask& owed = context_.scratch.owed;
    const std::uint32_t bit = owed.next(begin.handle.value - 1);
    if (bit == owed.bit_count()) {
        return {};  // it was sent some other way
    }
    begin.element = bit + 1 == begin.handle.value ? begin.element : 0;
    // More of an atomic group may be owed now than when the rest was left: it begins with the
    // group.
    const RepLayout& layout = objects_.at(index)->changelist_state().layout();
    const RepGroup* const group = layout.find_group(layout.root(), begin.handle);
    if (group != nullptr) {
        begin.handle = RepHandle{group->handle_begin};
    }
    return begin;
}

void PropertySender::keep_rest(const TakenOfPair& taken, const RepCursor& begin,
                               const RepCursor& rest, bool had_place) {
    records_.return_unsent_from(taken, rest);
    pairs_.extra_of(taken.index).rest = rest;
    if (had_place && (rest.handle > begin.handle || rest.element > begin.element)) {
        // The rest keeps the place that the object had; else it waits for its next turn, as others
        // would wait for it for ever.
        pairs_.placed().insert(taken.index);
    }
}

bool PropertySender::may_share_payload(std::uint32_t index, const OwedVersions& position) const {
    if (!context_.shares_payloads() || !position.lost_parts.empty() ||
        !objects_.at(index)->changelist_state().layout().is_fully_shared()) {
        return false;
    }
    const PairExtra* extra = pairs_.find_extra(index);
    return extra == nullptr || extra->paused.is_empty();
}

SharedSerialization::PayloadKey PropertySender::payload_key(std::uint32_t index,
                                                            const OwedVersions& position) const {
    const ChangelistState& state = objects_.at(index)->changelist_state();
    return state.payload_key(position, state.layout().conditions().is_trivial()
                                           ? LifetimeConditionSet()
                                           : pairs_.passing_of(index));
}

const SharedPayload* PropertySender::find_payload(std::uint32_t index,
                                                  const OwedVersions& position) const {
    if (!may_share_payload(index, position)) {
        return nullptr;
    }
    const ChangelistState& state = objects_.at(index)->changelist_state();
    return state.shared().find_payload(payload_key(index, position));
}

PropertySender::BlockFrame PropertySender::begin_block(std::uint32_t index, bool is_part) {
    const ChannelIndex channel = ObjectStore::channel_of(index);
    const bool has_length = is_part || block_has_length(pairs_[index]);
    const BitWriter packet = packets_.builder().begin_block(channel, has_length);
    if (!has_length) {
        return {channel, packet, packet, packet.byte_count(), false};
    }
    // The length comes to stand before the block, so the block is laid down apart.
    const std::size_t room_bytes = packet.bits_left() / 8;
    const std::size_t body_bytes =
        room_bytes - std::min(room_bytes, PacketBuilder::block_length_bytes_max);
    return {channel, packet, BitWriter(body_.first(body_bytes)), 0, true};
}

void PropertySender::end_block(BlockFrame& frame, bool more_parts_follow, BlockMiss miss) {
    const auto block = frame.body.bytes().subspan(frame.body_offset_bytes);
    if (PairValidator* validator = pairs_.validator()) {
        validator->block_sent(ObjectStore::index_of(frame.channel), block);
    }
    if (frame.has_length) {
        frame.packet.write_packed_uint(block_length_word(block.size(), more_parts_follow));
        frame.packet.write_bytes(frame.body.bytes());
    } else {
        frame.packet = frame.body;
    }
    packets_.builder().end_block(frame.packet, frame.channel);
    packets_.opens().followed(ObjectStore::index_of(frame.channel));
    packets_.builder().spend_array_steps(context_.scratch.array_steps);
    count_block(block.size(), miss, context_);
}

SendResult PropertySender::write_payload(std::uint32_t index, const SharedPayload& payload) {
    const std::span<const std::byte> block(payload.bytes.data(), payload.bytes.size());
    if (payload.array_steps > packets_.builder().array_steps_left() ||
        !packets_.builder().add_block(ObjectStore::channel_of(index),
                                      block_has_length(pairs_[index]), block)) {
        return SendResult::DoesNotFit;
    }
    packets_.opens().followed(index);
    packets_.builder().spend_array_steps(payload.array_steps);
    if (PairValidator* validator = pairs_.validator()) {
        validator->block_sent(index, block);
    }
    count_reuse(block, payload.property_count);
    count_block(block.size(), std::nullopt, context_);
    return SendResult::Whole;
}

void PropertySender::count_reuse(std::span<const std::byte> block, std::uint32_t property_count) {
    ReplicationCounters& counters = context_.counters;
    counters.values_reused += property_count;
    counters.properties_sent += property_count;
    ++counters.payloads_reused;
    if (context_.type_counters != nullptr) {
        context_.type_counters->count_payload_reuse(block, context_.scratch.part);
    }
}

SendResult PropertySender::write_whole_block(std::uint32_t index, const OwedVersions& position) {
    BlockFrame frame = begin_block(index, false);
    if (frame.packet.overflowed()) {
        return SendResult::DoesNotFit;
    }
    const ValueScope steps(context_.array_steps_left, packets_.builder().array_steps_left());
    const SendResult result = send_properties(objects_.at(index)->changelist_state(), position,
                                              context_.scratch.owed, frame.body, context_);
    if (result != SendResult::DoesNotFit) {
        values_.note_sent(index, RepRange(), position);
    }
    if (result != SendResult::Whole) {
        return result;
    }
    const BlockMiss miss = miss_of(index, position);
    keep_payload(index, position, frame.body.bytes().subspan(frame.body_offset_bytes));
    end_block(frame, false, miss);
    return SendResult::Whole;
}

void PropertySender::keep_payload(std::uint32_t index, const OwedVersions& position,
                                  std::span<const std::byte> block) {
    if (!context_.scratch.left_out.empty() || !may_share_payload(index, position)) {
        return;
    }
    objects_.at(index)->changelist_state().shared().keep_payload(
        payload_key(index, position), context_.scratch.owed.count(), block,
        context_.scratch.array_steps);
    ++context_.counters.payloads_built;
    if (context_.type_counters != nullptr) {
        ++context_.type_counters->payloads_built;
    }
}

BlockMiss PropertySender::miss_of(std::uint32_t index, const OwedVersions& position) const {
    const NetworkObjectInfo& info = *objects_.at(index);
    const ChangelistState& state = info.changelist_state();
    const PairExtra* extra = pairs_.find_extra(index);
    return block_miss_of(state, position, context_.scratch,
                         extra != nullptr && !extra->paused.is_empty(),
                         info.bundled_version() == state.version());
}

PropertySender::RegularBlock PropertySender::regular_block(std::uint32_t index,
                                                           const OwedVersions& position) {
    ChangelistState& state = objects_.at(index)->changelist_state();
    REPLAYOUT_ASSERT(position.sent_version + 1 == state.version());
    const std::size_t bytes_max = PacketBuilder::block_bytes_max(packets_.builder().room_bytes(),
                                                                 ObjectStore::channel_of(index));
    if (!context_.shares_pieces()) {
        if (const RegularBlock row = regular_row(state, bytes_max); !row.bytes.empty()) {
            return row;
        }
    } else if (const SharedPayload* payload = find_payload(index, position)) {
        if (!is_bundled(payload->bytes.size(), payload->array_steps)) {
            return {};
        }
        return {{payload->bytes.data(), payload->bytes.size()}, payload->property_count, {}};
    }
    if (state.layout().conditions().is_trivial() && !state.layout().has_atomic_groups()) {
        state.collect_newest(context_.scratch.owed);  // as for the bundle: such a pair lost nothing
    } else {
        pairs_.collect_owed(index, position, context_.scratch.owed);
    }
    if (state.must_restart_arrays(position, context_.scratch.owed)) {
        return {};
    }
    BitWriter body(body_.first(bytes_max));
    const std::uint64_t sent_before = context_.counters.properties_sent;
    const ValueScope not_sent(context_.is_counting_sent, false);  // see count_regular()
    const SendResult result =
        send_properties(state, position, context_.scratch.owed, body, context_);
    const std::uint64_t sent = context_.counters.properties_sent - sent_before;
    context_.counters.properties_sent = sent_before;
    if (result != SendResult::Whole || !context_.scratch.left_out.empty() ||
        !is_bundled(body.byte_count(), context_.scratch.array_steps)) {
        return {};
    }
    const BlockMiss miss = miss_of(index, position);
    keep_payload(index, position, body.bytes());
    return {body.bytes(), static_cast<std::uint32_t>(sent), miss};
}

bool PropertySender::is_bundled(std::size_t body_bytes, std::size_t array_steps) const noexcept {
    return array_steps <= body_bytes * array_steps_per_byte(packets_.builder().room_bytes());
}

PropertySender::RegularBlock PropertySender::regular_row(const ChangelistState& state,
                                                         std::size_t bytes_max) {
    const RepLayout& layout = state.layout();
    if (layout.handle_count() > 64 || !layout.conditions().is_trivial() ||
        context_.type_counters != nullptr) {
        return {};
    }
    if (const std::uint64_t handles = state.newest(); !row_.is_of(layout, handles)) {
        row_ = RowBlock(layout, handles);
    }
    if (row_.value_count() == 0 || row_.byte_count() + RowBlock::spare_bytes > bytes_max) {
        return {};
    }
    row_.write(state, body_.data());
    context_.counters.values_encoded += row_.value_count();
    return {body_.first(row_.byte_count()), row_.value_count(), BlockMiss::SharingOff};
}

void PropertySender::count_regular(std::uint32_t index, const RegularBlock& block) {
    if (PairValidator* validator = pairs_.validator()) {
        validator->block_sent(index, block.bytes);
    }
    if (block.miss) {
        context_.counters.properties_sent += block.property_count;
        count_sent_values(context_.scratch.owed, context_);
    } else {
        count_reuse(block.bytes, block.property_count);
    }
    count_block(block.bytes.size(), block.miss, context_);
}

SendResult PropertySender::write_part(std::uint32_t index, const OwedVersions& position,
                                      RepCursor& cursor, RepRange& range) {
    ChangelistState& state = objects_.at(index)->changelist_state();
    BlockFrame frame = begin_block(index, true);
    REPLAYOUT_ASSERT(!frame.packet.overflowed());
    const SendResult result =
        send_part(state, position, context_.scratch.owed, cursor, range, frame.body, context_);
    if (result == SendResult::Whole || result == SendResult::Part) {
        end_block(frame, result == SendResult::Part, BlockMiss::TooLarge);
    }
    values_.note_sent(index, range, position);
    return result;
}

PropertySender::LargeValue PropertySender::send_large_value(std::uint32_t index,
                                                            const OwedVersions& position,
                                                            const RepRange& handles,
                                                            bool is_initial) {
    const PairExtra* const extra = pairs_.find_extra(index);
    if (extra != nullptr && !extra->ahead.may_begin_values()) {
        return LargeValue::Owed;  // others that wait keep their turn, which ends with the round
    }
    return send_reliably(index, position, handles, is_initial);
}

PropertySender::LargeValue PropertySender::send_reliably(std::uint32_t index,
                                                         const OwedVersions& position,
                                                         const RepRange& handles, bool is_initial) {
    ChangelistState& state = objects_.at(index)->changelist_state();
    const ChangeMask only = owed_within(index, handles);
    const std::size_t byte_count = measure_block(state, position, only, context_);
    if (byte_count > config_.bunch_bytes_max) {
        leave_out_over_limit(index, only, position);
        return LargeValue::Sent;
    }
    const std::uint32_t fragments = packets_.reliable().fragment_count(byte_count);
    if (bunch_count(pairs_[index]) + fragments + 1 >= bunch_count_max) {
        return LargeValue::Owed;  // one is left for the close, and one for a message
    }
    ValueTurns& turns = values_.turns();
    const bool has_room = turns.is_promised(index) ? packets_.reliable().has_room_behind_unsent(
                                                         Share::Values, byte_count)
                                                   : packets_.has_room_for_value(byte_count);
    if (!turns.may_go(index) || !has_room) {
        turns.wait(index, fragments);
        return LargeValue::Waiting;
    }
    turns.keep_promise(index);
    turns.leave(index);
    Vector<std::byte> payload(byte_count, Allocator<std::byte>(resource_));
    BitWriter writer({payload.data(), payload.size()});
    // A message earns its own.
    const ValueScope steps(context_.array_steps_left, std::numeric_limits<std::size_t>::max());
    SendResult result = send_properties(state, position, only, writer, context_);
    while (result == SendResult::DoesNotFit) {
        // A net_serialize fails, which takes no room in the end, and some until it does.
        if (payload.size() > std::size_t{2} * config_.bunch_bytes_max) {
            leave_out_over_limit(index, only, position);
            return LargeValue::Sent;
        }
        payload.resize(2 * payload.size() + 64);
        writer = BitWriter({payload.data(), payload.size()});
        result = send_properties(state, position, only, writer, context_);
    }
    values_.note_sent(index, handles, position);
    if (result == SendResult::Nothing) {
        return LargeValue::Sent;  // left out
    }
    if (DeltaStates* deltas = pairs_.deltas_of(index)) {
        deltas->value_sent(context_.scratch.deltas);
    }
    BunchHeader header;
    header.channel = ObjectStore::channel_of(index);
    PairExtra& extra = pairs_.extra_of(index);
    const std::uint32_t count =
        queue_bunch(packets_.reliable(), pairs_.edit(index), header, extra.next_sequence,
                    writer.bytes(), {BunchTag::Kind::Value, index, handles.handle_begin});
    extra.order.value_queued(extra.next_sequence);
    extra.next_sequence = static_cast<std::uint16_t>(extra.next_sequence + count);
    const Version held = records_.owed_of(index, position, handles).after;
    extra.paused.add(handles, state.version(), count, extra.waited_since, is_initial, held);
    if (PairValidator* validator = pairs_.validator()) {
        validator->value_queued(index, handles, count, writer.bytes());
    }
    pairs_.edit(index).send_part();  // until it is delivered, the pair is not exact
    count_block(writer.byte_count(), BlockMiss::TooLarge, context_);
    return LargeValue::Sent;
}

void PropertySender::leave_out_over_limit(std::uint32_t index, const ChangeMask& handles,
                                          const OwedVersions& position) {
    ++context_.counters.values_over_limit;
    const NetworkObjectInfo& info = *objects_.at(index);
    const RepLayout& layout = info.changelist_state().layout();
    const ParentIndex parent =
        info.changelist_state().conditions().parent_of(RepHandle{handles.next(0) + 1});
    log(LogLevel::Error,
        "property \"" + std::string(layout.parents()[parent.value].property->name) +
            "\" of object " + std::to_string(info.guid().value) + " of class \"" +
            std::string(layout.type().name()) + "\" takes more than NetConfig::bunch_bytes_max (" +
            std::to_string(config_.bunch_bytes_max) +
            " bytes), so it is not sent: raise that, or lower the limits of the property");
    for (std::uint32_t bit = handles.next(0); bit < handles.bit_count();
         bit = handles.next(bit + 1)) {
        const RepHandle left_out{bit + 1};
        values_.note_left_out(index, {&left_out, 1}, position);
    }
}

void PropertySender::take_back_hidden_values(std::uint32_t index) {
    const PairExtra* extra = pairs_.find_extra(index);
    if (extra == nullptr || extra->paused.is_empty()) {
        return;
    }
    const NetworkObjectInfo& info = *objects_.at(index);
    const ObjectConditions& conditions = info.changelist_state().conditions();
    // As if nothing were initial: what was sent as that is the client's, whatever becomes of it.
    const LifetimeConditionSet passing = passing_conditions(pairs_.flags_for(info.facts()));
    extra->paused.for_each_under_way([&](const PausedValues::Entry& value) {
        const RepHandle handle{value.handles.handle_begin};
        const bool is_initial_value = value.is_initial && conditions.is_initial(handle, passing);
        if (!is_initial_value && !conditions.passes(conditions.parent_of(handle), passing)) {
            packets_.reliable().take_back({BunchTag::Kind::Value, index, handle.value});
        }
    });
}

}  // namespace replayout
