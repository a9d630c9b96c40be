// SPDX-License-Identifier: MIT
// Remote calls that a server makes on this client.
#include "replication_receiver.h"

#include "value_scope.h"

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
        const std::optional<CloseReason> reason = run_call(call);
        if (!reason.has_value()) {
            calls_.put_off();
            has_put_off_calls_ = true;
            break;
        }
        if (*reason != CloseReason::None) {
            calls_.drop_due();
            return *reason;
        }
    }
    call_work_ = CallWork();
    return CloseReason::None;
}

CloseReason ReplicationReceiver::run_calls_of(ChannelIndex channel) {
    DueCall call;
    while (calls_.take_due_of(channel, call)) {
        const std::optional<CloseReason> reason = run_call(call);
        if (!reason.has_value()) {
            calls_.put_back();
            break;
        }
        if (*reason != CloseReason::None) {
            return *reason;
        }
    }
    return CloseReason::None;
}

CloseReason ReplicationReceiver::run_put_off_calls() {
    if (!std::exchange(has_put_off_calls_, false)) {
        return CloseReason::None;
    }
    call_work_ = CallWork();
    const CloseReason reason = run_kept_calls();
    return reason == CloseReason::None ? run_calls() : reason;
}

std::optional<CloseReason> ReplicationReceiver::run_call(const DueCall& call) {
    finish_update();
    run_notifies();
    if (!find_channel(call.channel.value)->is_open()) {
        ++stats_.calls_dropped;
        return CloseReason::None;
    }
    BitReader head(call.payload);
    CloseReason reason = CloseReason::None;
    const RepFunction* function = read_function(call.channel, head, reason);
    if (function == nullptr) {
        return reason;
    }
    const bool is_ready = may_run(call.channel, *function, false);
    if (!is_ready && kept_calls_.keep(call)) {
        return CloseReason::None;
    }
    // Calls of the channel that were kept run first. When the limit of kept calls is reached, they
    // run now or are dropped.
    if (kept_calls_.has(call.channel)) {
        const std::optional<CloseReason> kept = run_kept_calls_of(call.channel, !is_ready);
        if (kept != CloseReason::None) {
            return kept;
        }
    }
    const bool may_run_now = is_ready || may_run(call.channel, *function, true);
    if (!may_run_now || !find_channel(call.channel.value)->is_open()) {
        ++stats_.calls_dropped;
        return CloseReason::None;
    }
    if (!call_work_.has_room_for(*function, call.payload.size())) {
        return std::nullopt;
    }
    return run_call_now(call.channel, call.payload);
}

const RepFunction* ReplicationReceiver::read_function(ChannelIndex index, BitReader& reader,
                                                      CloseReason& reason) {
    const ActorChannel& channel = *find_channel(index.value);
    const std::span<const RepFunction> functions = channel.layout->functions();
    std::optional<FunctionIndex> function;
    note_refusal(index.value);
    if (!read_call_head(reader, functions, function)) {
        reason = CloseReason::MalformedBunch;
        return nullptr;
    }
    const bool is_known = function.has_value() && functions[function->value].runs_on_clients();
    if (!is_known || channel.state == ActorChannel::State::Refused) {
        ++stats_.calls_unknown;
        return nullptr;
    }
    return &functions[function->value];
}

CloseReason ReplicationReceiver::run_call_now(ChannelIndex index,
                                              std::span<const std::byte> payload) {
    const DecodeBudget granted = call_runner_.budget_for(payload.size());
    DecodeBudget budget = granted;
    BitReader reader(payload, &budget);
    CloseReason reason = CloseReason::None;
    const RepFunction* function = read_function(index, reader, reason);
    if (function == nullptr) {
        return reason;
    }
    note_refusal(index.value, function->function->name);
    const RemoteFunctionCall running{find_channel(index.value)->object, NetObjectId{}, server_};
    const auto outcome =
        call_runner_.run(*function, memory_of(running.object), reader, false, running);
    call_work_.spend(*function, payload.size(), granted, budget);
    stats_.calls_dropped += outcome == RemoteFunctionRunner::Outcome::Missing ? 1u : 0u;
    if (outcome == RemoteFunctionRunner::Outcome::Malformed) {
        return CloseReason::MalformedBunch;
    }
    values_grew(running.object, granted.allocation_bytes - budget.allocation_bytes);
    return dynamic_bytes_ > config_.dynamic_bytes_max ? CloseReason::TooMuchMemory
                                                      : CloseReason::None;
}

void ReplicationReceiver::values_grew(ObjectHandle object, std::uint64_t bytes) {
    ChannelIndex index;
    if (bytes > 0 && find_channel_of(object, index) != nullptr) {
        count_dynamic_bytes(*channels_[index.value], memory_of(object), bytes);
    }
}

bool ReplicationReceiver::may_run(ChannelIndex index, const RepFunction& function, bool is_last) {
    // What makes the object ready may call the driver, as a remote function may.
    const ValueScope calling_out(is_calling_out_, is_calling_out_ && !is_last);
    return world_.may_run_call(find_channel(index.value)->object, *function.function, is_last);
}

std::optional<CloseReason> ReplicationReceiver::run_kept_calls_of(ChannelIndex index,
                                                                  bool is_last) {
    while (kept_calls_.has(index)) {
        BitReader head(kept_calls_.first(index));
        CloseReason reason = CloseReason::None;
        const RepFunction* function = read_function(index, head, reason);
        REPLAYOUT_ASSERT(function != nullptr);
        const bool is_ready = function != nullptr && (may_run(index, *function, false) ||
                                                      (is_last && may_run(index, *function, true)));
        // The world may have run some of them by now, or ended the connection.
        if (!kept_calls_.has(index)) {
            return CloseReason::None;
        }
        const bool has_room =
            is_ready && call_work_.has_room_for(*function, kept_calls_.first(index).size());
        if (is_ready && !has_room && !is_last) {
            return std::nullopt;
        }
        if (!has_room) {
            stats_.calls_dropped += is_last ? kept_calls_.drop(index) : 0;
            return CloseReason::None;
        }
        const Vector<std::byte> call = kept_calls_.take(index);
        reason = run_call_now(index, {call.data(), call.size()});
        if (reason != CloseReason::None) {
            return reason;
        }
    }
    return CloseReason::None;
}

CloseReason ReplicationReceiver::note_put_off(std::optional<CloseReason> reason) noexcept {
    has_put_off_calls_ = has_put_off_calls_ || !reason.has_value();
    return reason.value_or(CloseReason::None);
}

CloseReason ReplicationReceiver::run_kept_calls() {
    for (ChannelIndex channel; kept_calls_.find_next(channel); ++channel.value) {
        const CloseReason reason = note_put_off(run_kept_calls_of(channel, false));
        if (reason != CloseReason::None) {
            return reason;
        }
    }
    return CloseReason::None;
}

CloseReason ReplicationReceiver::run_kept_calls_of(ObjectHandle object) {
    ChannelIndex channel;
    return kept_calls_.is_empty() || find_channel_of(object, channel) == nullptr
               ? CloseReason::None
               : note_put_off(run_kept_calls_of(channel, false));
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
