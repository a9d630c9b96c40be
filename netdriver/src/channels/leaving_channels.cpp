// SPDX-License-Identifier: MIT
#include "leaving_channels.h"

#include <utility>

namespace replayout {

LeavingChannels::LeavingChannels(ObjectChannels& channels, HiddenStates& hidden_states,
                                 const NetConfig& config, MemoryMeters& memory)
    : parts_(channels.parts()),
      channels_(channels),
      hidden_states_(hidden_states),
      timeout_ms_(config.close_waits_for_calls_ms),
      leaving_(Allocator<std::pair<ObjectIndex, Leaving>>(&memory.pairs)),
      waiting_(&memory.scratch),
      ready_(Allocator<ObjectIndex>(&memory.scratch)),
      dropped_(Allocator<DroppedCalls>(&memory.scratch)),
      returned_(Allocator<ObjectIndex>(&memory.scratch)) {}

void LeavingChannels::leave(ObjectIndex index, ChannelCloseReason reason) {
    parts_.pairs.grow();
    const bool was_leaving = is_leaving(index);
    if (was_leaving || parts_.pairs.has_object(index)) {
        if (reason != ChannelCloseReason::Relevancy) {
            channels_.note_closing_name(index);
        }
        forget_return(index);
        Leaving& leaving = leaving_[index];
        leaving.since = was_leaving ? leaving.since : parts_.calls.now();
        leaving.reason = reason;
        parts_.pairs.dormancy().leaving.insert(index);
        (void)parts_.pairs.edit(index);  // it is in no bundle any more
        if (!parts_.pairs.dormancy().frozen.test(index)) {
            parts_.pairs.pending().set(index);  // whatever its calls wait for is sent
        }
    } else {
        channels_.close_object(index, reason);
        parts_.pairs.pending().clear(index);
    }
    parts_.pairs.dormancy().irrelevant.insert(index);
}

bool LeavingChannels::leave_hidden(ObjectIndex index) {
    const bool is_kept = hidden_states_.keep(index);
    if (parts_.pairs.has_object(index)) {
        parts_.pairs.dormancy().frozen.insert(index);
        channels_.stop_incoming_calls(index);
    }
    leave(index, ChannelCloseReason::Relevancy);
    parts_.pairs.pending().clear(index);
    return is_kept;
}

void LeavingChannels::return_later(ObjectIndex index) {
    REPLAYOUT_ASSERT(is_leaving(index));
    parts_.pairs.dormancy().returning.insert(index);
}

void LeavingChannels::forget_return(ObjectIndex index) {
    if (parts_.pairs.dormancy().returning.test(index)) {
        parts_.pairs.dormancy().returning.clear(index);
        parts_.stats.calls_dropped += parts_.calls.drop_next(channel_of(index));
    }
}

void LeavingChannels::forget(ObjectIndex index) {
    if (is_leaving(index)) {
        forget_return(index);
        hidden_states_.forget(index);
        parts_.pairs.dormancy().leaving.erase(index);
        parts_.pairs.dormancy().frozen.erase(index);
        leaving_.erase(index);
    }
}

ObjectIndex LeavingChannels::top_of(ObjectIndex index) const noexcept {
    while (parts_.objects.is_part(index) && is_leaving(parts_.objects.at(index)->family().outer)) {
        index = parts_.objects.at(index)->family().outer;
    }
    return index;
}

std::span<const LeavingChannels::DroppedCalls> LeavingChannels::close_ready() {
    dropped_.clear();
    returned_.clear();
    if (leaving_.empty()) {
        return {};
    }
    for (const OutgoingCall& call : parts_.calls.calls()) {
        const ObjectIndex index = slot_of(call.channel);
        if (call.is_reliable && !call.is_for_next && is_leaving(index)) {
            waiting_.insert(top_of(index));
        }
    }
    ready_.clear();
    for (const auto& [index, leaving] : leaving_) {
        const ObjectIndex top = top_of(index);
        const bool is_over = parts_.calls.now() >= leaving.since.plus_milliseconds(timeout_ms_);
        if (is_over || !waiting_.test(top)) {
            waiting_.erase(top);
            ready_.push_back(top);
        }
    }
    for (const ObjectIndex index : ready_) {
        if (is_leaving(index)) {
            close_family(index);
        }
    }
    waiting_.clear_all();
    return {dropped_.data(), dropped_.size()};
}

std::span<const LeavingChannels::DroppedCalls> LeavingChannels::close_now(ObjectIndex index) {
    dropped_.clear();
    returned_.clear();
    if (is_leaving(index)) {
        close_family(top_of(index));
    }
    return {dropped_.data(), dropped_.size()};
}

void LeavingChannels::close_family(ObjectIndex index) {
    parts_.objects.for_each_part(index, [&](ObjectIndex part) {
        if (is_leaving(part)) {
            close_family(part);
        }
    });
    const auto leaving = leaving_.find(index);
    const ChannelCloseReason reason = leaving->second.reason;
    leaving_.erase(leaving);
    if (const std::uint32_t count = parts_.calls.reliable_count(channel_of(index))) {
        dropped_.push_back({index, count});
    }
    if (parts_.pairs.dormancy().returning.test(index)) {
        returned_.push_back(index);
    }
    hidden_states_.forget(index);
    channels_.close_object(index, reason);
    parts_.pairs.pending().clear(index);
}

}  // namespace replayout
