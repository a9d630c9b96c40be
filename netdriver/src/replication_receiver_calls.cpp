// SPDX-License-Identifier: MIT
// Remote calls that a server makes on this client.
#include "replication_receiver.h"

namespace replayout {

CloseReason ReplicationReceiver::receive_call(const BunchHeader& header,
                                              std::span<const std::byte> payload) {
    const ActorChannel* channel = find_channel(header.channel.value);
    if (channel == nullptr || !channel->is_open()) {
        note_refusal(header.channel.value);
        return CloseReason::UnknownChannel;  // a call never comes before the open
    }
    const CloseReason reason = calls_.receive(header, payload);
    if (reason != CloseReason::None) {
        note_refusal(header.channel.value);
    }
    return reason;
}

void ReplicationReceiver::note_refusal(std::uint32_t index, std::string_view function) noexcept {
    refused_place_ = ClosePlace();
    const ActorChannel* channel = find_channel(index);
    if (channel != nullptr && channel->layout != nullptr) {
        refused_place_ = {channel->layout->name(), function, channel->guid};
    }
}

CloseReason ReplicationReceiver::run_calls() {
    run_notifies();
    DueCall call;
    while (calls_.take_due(call)) {
        const CloseReason reason = run_call(call);
        if (reason != CloseReason::None) {
            calls_.drop_due();
            return reason;
        }
    }
    return CloseReason::None;
}

CloseReason ReplicationReceiver::run_calls_of(ChannelIndex channel) {
    DueCall call;
    while (calls_.take_due_of(channel, call)) {
        const CloseReason reason = run_call(call);
        if (reason != CloseReason::None) {
            return reason;
        }
    }
    return CloseReason::None;
}

CloseReason ReplicationReceiver::run_call(const DueCall& call) {
    finish_update();
    run_notifies();
    const ActorChannel* channel = find_channel(call.channel.value);
    if (!channel->is_open()) {
        ++stats_.calls_dropped;
        return CloseReason::None;
    }
    DecodeBudget budget = call_runner_.budget_for(call.payload.size());
    BitReader reader(call.payload, &budget);
    const std::span<const RepFunction> functions = channel->layout->functions();
    std::optional<FunctionIndex> function;
    note_refusal(call.channel.value);
    if (!read_call_head(reader, functions, function)) {
        return CloseReason::MalformedBunch;
    }
    const bool is_known = function.has_value() && functions[function->value].runs_on_clients();
    if (!is_known || channel->state == ActorChannel::State::Refused) {
        ++stats_.calls_unknown;
        return CloseReason::None;
    }
    note_refusal(call.channel.value, functions[function->value].function->name);
    const RemoteFunctionCall running{channel->object, NetObjectId{}, server_};
    const auto outcome = call_runner_.run(
        functions[function->value], world_.object_memory(running.object), reader, false, running);
    stats_.calls_dropped += outcome == RemoteFunctionRunner::Outcome::Missing ? 1u : 0u;
    return outcome == RemoteFunctionRunner::Outcome::Malformed ? CloseReason::MalformedBunch
                                                               : CloseReason::None;
}

const ActorChannel* ReplicationReceiver::find_channel_of(ObjectHandle object,
                                                         ChannelIndex& index) const noexcept {
    const auto found = channels_by_guid_.find(guids_.find_guid(object).value);
    if (found == channels_by_guid_.end()) {
        return nullptr;
    }
    index = ChannelIndex{found->second};
    const ActorChannel* channel = channels_[found->second];
    return channel->state == ActorChannel::State::Open ? channel : nullptr;
}

}  // namespace replayout
