// SPDX-License-Identifier: MIT
#include <replayout/parts_under_way.h>

namespace replayout::detail {

void PartsUnderWay::begin(const TakenOwed& taken, const ChangeMask& owed,
                          const ReplicationFlags& flags) {
    owed_ = owed;
    taken_ = taken;
    lost_.assign(taken.position.lost_parts.begin(), taken.position.lost_parts.end());
    flags_ = flags;
    cursor_ = {};
    is_under_way_ = true;
}

SentBlock PartsUnderWay::write_next(ChangelistState& object, BitWriter& writer,
                                    SendContext& context, RepRange& range) {
    range = {1, 1};  // of Nothing
    const SentBlock part = send_part(object, position(), owed_, cursor_, range, writer, context);
    if (part == SendResult::ValueTooLarge) {
        large_value_ = range;
        has_large_value_ = true;
    } else {
        is_under_way_ = part == SendResult::Part;
    }
    return part;
}

bool PartsUnderWay::has_any_left() const noexcept {
    return cursor_.element > 0 || owed_.next(cursor_.handle.value - 1) < owed_.bit_count();
}

TakenOwed PartsUnderWay::taken() const noexcept {
    TakenOwed taken = taken_;
    if (!taken.position.lost_parts.empty()) {
        taken.position.lost_parts = {lost_.data(), lost_.size()};
    }
    return taken;
}

void PartsUnderWay::collect_unsent(Version version, Vector<LostPart>& unsent) const {
    replayout::collect_unsent(position(), version, cursor_.handle, cursor_.element, unsent);
}

}  // namespace replayout::detail
