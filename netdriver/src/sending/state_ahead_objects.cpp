// SPDX-License-Identifier: MIT
#include "state_ahead_objects.h"

namespace replayout {

void StateAheadObjects::hold_back(ObjectIndex index, Version complete) {
    ConnectionPairs& pairs = parts_.pairs;
    if (channel_state(pairs[index]) != ChannelState::Open) {
        return;
    }
    PairExtra& extra = pairs.extra_of(index);
    if (!extra.ahead.is_on()) {
        extra.ahead.held_back(extra.complete.record_count(), extra.paused.count());
        if (std::find(held_back_.begin(), held_back_.end(), index) == held_back_.end()) {
            held_back_.push_back(index);
        }
    }
    // A delta begins where the client stands, which is certain once nothing is under way.
    const RepLayout& layout = parts_.objects.at(index)->changelist_state().layout();
    if (!extra.ahead.is_draining() || !extra.paused.is_empty() ||
        (layout.has_delta_structs() && pairs[index].in_flight > 0)) {
        return;
    }
    if (parts_.packets.sent().has_initial(index)) {
        pairs.owe_what_is_initial(index);  // it may not arrive
    }
    if (const Version sent = pairs[index].sent_version; complete < sent) {
        pairs.owe_part(index, {{complete, sent}, RepRange()});
    }
    extra.ahead.go();
    pairs.pending().set(index);
}

void StateAheadObjects::stop_one(ObjectIndex index) noexcept {
    PairExtra* const extra = parts_.pairs.find_extra(index);
    const bool is_for_batch = parts_.batch.arrival(index) == InitialBatch::Arrival::Pieces;
    if (extra != nullptr && !extra->ahead.is_going() && !is_for_batch) {
        extra->ahead.stop();
    }
}

}  // namespace replayout
