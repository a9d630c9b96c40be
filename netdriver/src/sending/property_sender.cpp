// SPDX-License-Identifier: MIT
#include "property_sender.h"

#include <utility>

namespace replayout {

PropertySender::PropertySender(const PropertyParts& parts, const NetConfig& config,
                               std::span<std::byte> body, MemoryMeters& memory)
    : objects_(parts.objects),
      pairs_(parts.pairs),
      values_(parts.values),
      records_(parts.records),
      packets_(parts.packets),
      context_(parts.context),
      blocks_(parts, body),
      large_values_(parts, config, &memory.pairs),
      ahead_(parts, large_values_) {}

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
        if (const SharedPayload* known = blocks_.find_plain_payload(state, plain_position)) {
            if (const std::optional<SendOutcome> outcome =
                    copy_plain(index, plain_position, *known)) {
                return *outcome;
            }
        }
    }
    context_.delta_states = was_plain ? nullptr : pairs_.deltas_of(index);
    if (!was_plain) {
        if (const std::optional<SendOutcome> outcome = ahead_.replicate(index)) {
            return *outcome;
        }
        values_.owe_left_out(index);
    }
    const OwedVersions position =
        was_plain ? position_of_plain(index, pair) : records_.sending_position_of(index);
    const SharedPayload* payload = blocks_.find_payload(index, position);
    if (payload == nullptr) {
        pairs_.collect_owed(index, position, context_.scratch.owed);
        if (!context_.scratch.owed.any()) {
            // What was lost has been sent again since, or is paused and will be owed anew, or is
            // nothing that this connection may see.
            records_.skip(index);
            return SendOutcome::Done;
        }
    }
    if (const std::optional<SendOutcome> outcome =
            replicate_whole(index, position, payload, was_plain)) {
        return *outcome;
    }
    if (payload != nullptr) {
        // It fits for others, whose open is acknowledged: their blocks carry no length.
        pairs_.collect_owed(index, position, context_.scratch.owed);
    }
    return replicate_parts(index, position);
}

std::optional<SendOutcome> PropertySender::replicate_whole(std::uint32_t index,
                                                           const OwedVersions& position,
                                                           const SharedPayload* payload,
                                                           bool is_plain_pair) {
    for (const bool is_fresh_packet : {false, true}) {
        if (is_fresh_packet) {
            packets_.flush_full_before(index);
        }
        if (!packets_.can_write()) {
            return SendOutcome::NoRoom;
        }
        const SendResult result = payload != nullptr ? blocks_.write_payload(index, *payload)
                                                     : blocks_.write_whole(index, position);
        if (result == SendResult::Nothing) {
            records_.skip(index);
            return SendOutcome::Done;
        }
        if (result == SendResult::Whole) {
            if (is_plain_pair) {
                record_plain(index, position);
            } else {
                records_.add_records_of_all(records_.take_owed(index, position));
            }
            pairs_.pending().clear(index);
            return SendOutcome::Done;
        }
    }
    return std::nullopt;
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
        if (blocks_.write_payload(index, payload) == SendResult::Whole) {
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

SendOutcome PropertySender::replicate_parts(std::uint32_t index, OwedVersions position) {
    records_.restart_arrays(index, position);
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
        result = blocks_.write_part(index, position, cursor, range);
        if (result == SendResult::Nothing) {
            break;
        }
        if (result == SendResult::ValueTooLarge) {
            const LargeValue outcome = large_values_.send(index, position, range, taken.is_initial);
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

}  // namespace replayout
