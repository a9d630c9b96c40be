// SPDX-License-Identifier: MIT
#include "property_sender.h"

#include <utility>

namespace replayout {

PropertySender::PropertySender(const PropertyParts& parts, const NetConfig& config,
                               std::span<std::byte> body, MemoryMeters& memory)
    : parts_(parts),
      blocks_(parts, body),
      large_values_(parts, config, &memory.pairs),
      ahead_(parts, large_values_) {}

SendOutcome PropertySender::replicate_properties(ObjectIndex index) {
    const ObjectLock lock = parts_.objects.lock(index);
    const PairRef ref = parts_.pairs.ref(index);
    const SendingRepState pair = parts_.pairs[index];
    if (!pair.owes_any(ref.state().version())) {
        set_initial(parts_.pairs.edit(index), false);
        parts_.pairs.pending().clear(index);
        return SendOutcome::Done;
    }
    ChangeMask& owed = parts_.context.scratch.owed;
    // Most pairs are: what is rare costs them a look.
    const bool was_plain = is_plain(ref);
    OwedVersions position;
    const SharedPayload* payload = nullptr;
    if (was_plain) {
        parts_.context.delta_states = nullptr;
        position = position_of_plain(ref, pair);
        payload = blocks_.find_plain_payload(ref, position);
    } else {
        parts_.context.delta_states = parts_.pairs.deltas_of(ref);
        if (const std::optional<SendOutcome> outcome = ahead_.replicate(ref)) {
            return *outcome;
        }
        parts_.values.owe_left_out(ref);
        position = parts_.records.sending_position_of(index);
        payload = blocks_.find_payload(ref, position);
    }
    if (payload == nullptr) {
        parts_.pairs.collect_owed(ref, position, owed);
        if (!owed.any()) {
            // What was lost has been sent again since, or is paused and will be owed anew, or is
            // nothing that this connection may see.
            parts_.records.skip(ref);
            return SendOutcome::Done;
        }
    }
    if (const std::optional<SendOutcome> outcome =
            replicate_whole(ref, position, owed, payload, was_plain)) {
        return *outcome;
    }
    if (payload != nullptr) {
        // It fits for others, whose open is acknowledged: their blocks carry no length.
        parts_.pairs.collect_owed(ref, position, owed);
    }
    return replicate_parts(ref, position, owed);
}

std::optional<SendOutcome> PropertySender::replicate_whole(PairRef ref,
                                                           const OwedVersions& position,
                                                           const ChangeMask& owed,
                                                           const SharedPayload* payload,
                                                           bool is_plain_pair) {
    for (const bool is_fresh_packet : {false, true}) {
        if (is_fresh_packet) {
            parts_.packets.flush_full_before(ref.index);
        }
        if (!parts_.packets.can_write()) {
            return SendOutcome::NoRoom;
        }
        const SentBlock block = payload != nullptr ? SentBlock(blocks_.write_payload(ref, *payload))
                                                   : blocks_.write_whole(ref, position, owed);
        if (block == SendResult::Nothing) {
            parts_.records.skip(ref);
            return SendOutcome::Done;
        }
        if (block == SendResult::Whole) {
            if (is_plain_pair) {
                record_plain(ref, position);
            } else {
                parts_.records.add_records_of_all(parts_.records.take_owed(ref, position), block);
            }
            parts_.pairs.pending().clear(ref.index);
            return SendOutcome::Done;
        }
    }
    return std::nullopt;
}

bool PropertySender::is_plain(PairRef ref) const {
    const RepLayout& layout = ref.layout();
    return !layout.needs_held_version() && !layout.has_delta_structs() &&
           layout.conditions().is_trivial() && parts_.pairs.find_extra(ref.index) == nullptr;
}

OwedVersions PropertySender::position_of_plain(PairRef ref, const SendingRepState& pair) const {
    OwedVersions position(pair);
    position.is_exact =
        ref.state().is_any_back(pair.sent_version) && parts_.pairs.has_arrived(ref.index);
    return position;
}

void PropertySender::record_plain(PairRef ref, const OwedVersions& position) {
    SendingRepState& pair = parts_.pairs.edit(ref.index);
    const bool was_initial = is_initial(pair);
    (void)pair.send(ref.state().version());
    set_initial(pair, false);
    const VersionInterval sent{position.sent_version, pair.sent_version};
    parts_.packets.sent().add_record(
        {ref.index, was_initial, false, false, {hull(sent, position.lost), RepRange()}});
}

SendOutcome PropertySender::replicate_parts(PairRef ref, OwedVersions position, ChangeMask& owed) {
    parts_.records.restart_arrays(ref, position, owed);
    const bool was_ordered = parts_.pairs.ordered().test(ref.index);  // what is owed anew has none
    const RepCursor begin = take_rest(ref, owed);
    const TakenOfPair taken = parts_.records.take_owed(ref, position);
    parts_.pairs.pending().clear(ref.index);
    parts_.records.return_unsent_before(taken, begin);
    RepCursor cursor = begin;
    SentBlock part(SendResult::Part);
    while (part != SendResult::Whole && part != SendResult::Nothing) {
        if (cursor.element == 0 && owed.next(cursor.handle.value - 1) == owed.bit_count()) {
            break;  // the last value was too large and went its own way
        }
        if (!parts_.packets.can_write()) {
            keep_rest(taken, begin, cursor, was_ordered);
            return SendOutcome::NoRoom;
        }
        RepRange range{1, 1};  // of Nothing
        part = blocks_.write_part(ref, position, owed, cursor, range);
        if (part == SendResult::Nothing) {
            break;
        }
        if (part == SendResult::ValueTooLarge) {
            const LargeValue outcome =
                large_values_.send(ref, position, owed, range, taken.is_initial);
            if (outcome == LargeValue::Owed) {
                parts_.records.return_unsent(taken, range);
            } else if (outcome == LargeValue::Waiting) {
                parts_.records.pause_unsent(taken, range);
            }
            continue;
        }
        parts_.records.add_records(taken, part.findings->carried, part);
        if (part == SendResult::Part) {
            parts_.packets.flush_full();
        }
    }
    return SendOutcome::Done;
}

// If all of an object changes in each tick and a flush has room for a part of it, the values after
// that part would never be sent if each flush began with the first value.
RepCursor PropertySender::take_rest(PairRef ref, const ChangeMask& owed) {
    PairExtra* const extra = parts_.pairs.find_extra(ref.index);
    if (extra == nullptr) {
        return {};
    }
    RepCursor begin = std::exchange(extra->rest, RepCursor());
    const std::uint32_t bit = owed.next(begin.handle.value - 1);
    if (bit == owed.bit_count()) {
        return {};  // it was sent some other way
    }
    begin.element = bit + 1 == begin.handle.value ? begin.element : 0;
    // More of an atomic group may be owed now than when the rest was left: it begins with the
    // group.
    const RepLayout& layout = ref.layout();
    const RepGroup* const group = layout.find_group(layout.root(), begin.handle);
    if (group != nullptr) {
        begin.handle = RepHandle{group->handle_begin};
    }
    return begin;
}

void PropertySender::keep_rest(const TakenOfPair& taken, const RepCursor& begin,
                               const RepCursor& rest, bool was_ordered) {
    parts_.records.return_unsent_from(taken, rest);
    parts_.pairs.extra_of(taken.pair.index).rest = rest;
    if (was_ordered && (rest.handle > begin.handle || rest.element > begin.element)) {
        // The rest stays in the order where the object was; else it waits for its next turn, as
        // others would wait for it for ever.
        parts_.pairs.ordered().insert(taken.pair.index);
    }
}

}  // namespace replayout
