// SPDX-License-Identifier: MIT
// Remote calls that a client makes.
#include "replication_client.h"

#include <algorithm>

#include "value_scope.h"

namespace replayout {

CallResult ReplicationClient::call_function(ObjectHandle object, std::string_view function,
                                            const void* params) {
    REPLAYOUT_ASSERT(!is_encoding_);
    ChannelIndex index;
    const ActorChannel* channel = receiver_.find_channel_of(object, index);
    if (channel == nullptr || connection_.state() != ConnectionState::Joined) {
        return CallResult::NoChannel;
    }
    if (is_playing_) {
        return CallResult::NoChannel;  // nobody is there to run it
    }
    const RepLayout& layout = *channel->local;
    const std::optional<FunctionIndex> found = layout.find_function(function);
    if (!found.has_value()) {
        return CallResult::UnknownFunction;
    }
    const RepFunction& called = layout.functions()[found->value];
    REPLAYOUT_ASSERT((params != nullptr) == (called.parameters != nullptr));
    if (!called.runs_on_server()) {
        receiver_.run_here(called, object, params);
        return CallResult::Ran;
    }
    if (channel->layout != channel->local) {
        return CallResult::UnknownFunction;
    }
    const bool is_reliable = called.has(FunctionFlags::Reliable);
    const CallResult result = encode_call(layout, *found, params);
    if (result != CallResult::Sent) {
        return result;
    }
    if (!calls_.has_room_for(is_reliable, call_encoder_.bytes().size())) {
        return CallResult::Full;
    }
    (void)calls_.add(index, *found, is_reliable, call_encoder_.bytes());
    return CallResult::Sent;
}

CallResult ReplicationClient::encode_call(const RepLayout& layout, FunctionIndex function,
                                          const void* params) {
    const ValueScope encoding(is_encoding_, true);
    const CallResult result =
        call_encoder_.set(layout, function, params, guids_, call_context_.counters);
    return result == CallResult::Sent ? call_encoder_.write(call_context_) : result;
}

void ReplicationClient::send_calls() {
    PacketSender& packets = connection_.packets();
    waiting_channels_.clear();
    for (auto call = calls_.calls().begin(); call != calls_.calls().end();) {
        const bool is_behind = std::find(waiting_channels_.begin(), waiting_channels_.end(),
                                         call->channel) != waiting_channels_.end();
        if (call->is_in_flight || is_behind) {
            ++call;
            continue;
        }
        if (call->is_in_parts() && !packets.write_parts_ahead(calls_, *call)) {
            waiting_channels_.push_back(call->channel);
            ++call;
            continue;
        }
        if (!packets.can_write()) {
            return;
        }
        const std::optional<CallPart> part = calls_.next_part(*call);
        if (!part.has_value()) {
            ++call;
        } else if (packets.write_call(*part)) {
            call = calls_.sent(call);
        } else {
            packets.flush_full();  // and again, into an empty one
        }
    }
}

}  // namespace replayout
