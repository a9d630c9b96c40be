// SPDX-License-Identifier: MIT
#include "state_ahead_sender.h"

namespace replayout {

StateAheadSender::StateAheadSender(const PropertyParts& parts, LargeValueSender& large_values)
    : parts_(parts), large_values_(large_values) {}

std::optional<SendOutcome> StateAheadSender::replicate(PairRef ref) {
    const PairExtra* const extra = parts_.pairs.find_extra(ref.index);
    if (extra == nullptr || !extra->ahead.is_on()) {
        return std::nullopt;
    }
    const bool is_under_way = !extra->paused.is_empty();
    if (extra->ahead.is_going() && !extra->ahead.is_all_sent()) {
        return is_under_way ? SendOutcome::Done : send(ref);
    }
    // A delta begins where the client stands, which is certain once nothing is under way.
    return extra->ahead.is_draining() && !is_under_way && ref.layout().has_delta_structs()
               ? std::optional(SendOutcome::Done)
               : std::nullopt;
}

SendOutcome StateAheadSender::send(PairRef ref) {
    parts_.values.owe_left_out(ref);
    OwedVersions position = parts_.records.sending_position_of(ref.index);
    ChangeMask& owed = parts_.context.scratch.owed;
    parts_.pairs.collect_owed(ref, position, owed);
    parts_.records.restart_arrays(ref, position, owed);
    const Version version = ref.state().version();
    const TakenOfPair taken = parts_.records.take_owed(ref, position);
    parts_.pairs.pending().clear(ref.index);
    std::uint32_t next = parts_.pairs.find_extra(ref.index)->ahead.next_handle();
    parts_.records.return_unsent_before(taken, {RepHandle{next}, 0});
    bool is_all = false;
    while (!is_all) {
        const RepRange handles = next_message(ref, position, owed, next);
        is_all = handles.is_empty();
        if (!is_all && large_values_.send_reliably(ref, position, owed, handles,
                                                   taken.is_initial) != LargeValue::Sent) {
            break;
        }
        next = is_all ? next : handles.handle_end;
    }
    if (!is_all) {
        parts_.records.return_unsent(taken, RepRange::from(RepHandle{next}));
    }
    PairExtra& extra = *parts_.pairs.find_extra(ref.index);
    extra.ahead.sent(version, next, is_all);
    if (extra.paused.is_empty()) {
        extra.end_state_ahead();
    }
    return SendOutcome::Done;
}

RepRange StateAheadSender::next_message(PairRef ref, const OwedVersions& position,
                                        const ChangeMask& owed, std::uint32_t handle) const {
    const RepLayout& layout = ref.layout();
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
    std::size_t bytes = large_values_.bytes_of(ref, position, owed, message);
    for (std::uint32_t bit = owed.next(message.handle_end - 1); bit < owed.bit_count();
         bit = owed.next(message.handle_end - 1)) {
        const RepRange value = value_at(bit + 1);
        bytes += large_values_.bytes_of(ref, position, owed, value);
        if (bytes > parts_.packets.builder().room_bytes()) {
            break;
        }
        message.handle_end = value.handle_end;
    }
    return message;
}

}  // namespace replayout
