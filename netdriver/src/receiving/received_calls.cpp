// SPDX-License-Identifier: MIT
#include "received_calls.h"

#include "scoped_value.h"

#include <string>
#include <utility>

namespace replayout {

ReceivedCalls::ReceivedCalls(const ClientEnvironment& environment, ClientChannels& channels,
                             ClientWorld& world, ReceivedAmounts& amounts, ObjectUpdates& updates,
                             CallQueue& outgoing)
    : environment_(environment),
      channels_(channels),
      world_(world),
      amounts_(amounts),
      updates_(updates),
      outgoing_(outgoing),
      calls_(ReceiveLimits::of_server(environment.config), environment.now, nullptr,
             environment.config.channels_max, &environment.memory.channels),
      kept_(ReceiveLimits::of_server(environment.config), environment.now,
            &environment.memory.channels),
      runner_(environment.config, environment.guids, environment.stats, environment.memory,
              environment.is_calling_out, environment.peer_log, environment.now) {}

CloseReason ReceivedCalls::receive(const BunchHeader& header, std::span<const std::byte> payload) {
    const ActorChannel* channel = channels_.find(header.channel);
    if (channel == nullptr || !channel->is_open()) {
        channels_.note_refusal(header.channel);
        return CloseReason::UnknownChannel;  // a call never comes before the open
    }
    const CloseReason reason = calls_.receive(header, payload);
    if (reason != CloseReason::None) {
        channels_.note_refusal(header.channel);
    }
    return reason;
}

CloseReason ReceivedCalls::run_all() {
    updates_.run_notifies();
    DueCall call;
    while (calls_.take_due(call)) {
        const std::optional<CloseReason> reason = run(call);
        if (!reason.has_value()) {
            calls_.put_off();
            has_put_off_ = true;
            break;
        }
        if (*reason != CloseReason::None) {
            calls_.drop_due();
            return *reason;
        }
    }
    work_ = CallWork();
    return CloseReason::None;
}

CloseReason ReceivedCalls::run_due_of(ChannelIndex channel) {
    DueCall call;
    while (calls_.take_due_of(channel, call)) {
        const std::optional<CloseReason> reason = run(call);
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

CloseReason ReceivedCalls::run_put_off() {
    if (!std::exchange(has_put_off_, false)) {
        return CloseReason::None;
    }
    work_ = CallWork();
    const CloseReason reason = run_kept();
    return reason == CloseReason::None ? run_all() : reason;
}

std::optional<CloseReason> ReceivedCalls::run(const DueCall& call) {
    updates_.finish();
    updates_.run_notifies();
    if (!channels_[call.channel].is_open()) {
        ++environment_.stats.calls_dropped;
        return CloseReason::None;
    }
    BitReader head(call.payload);
    CloseReason reason = CloseReason::None;
    const RepFunction* function = read_function(call.channel, head, reason);
    if (function == nullptr) {
        return reason;
    }
    const bool is_ready = may_run(call.channel, *function, false);
    if (!is_ready && kept_.keep(call)) {
        return CloseReason::None;
    }
    // Calls of the channel that were kept run first. When the limit of kept calls is reached, they
    // run now or are dropped.
    if (kept_.has(call.channel)) {
        const std::optional<CloseReason> kept = run_kept_of(call.channel, !is_ready);
        if (kept != CloseReason::None) {
            return kept;
        }
    }
    const bool may_run_now = is_ready || may_run(call.channel, *function, true);
    if (!may_run_now || !channels_[call.channel].is_open()) {
        ++environment_.stats.calls_dropped;
        return CloseReason::None;
    }
    if (!work_.has_room_for(*function, call.payload.size())) {
        return std::nullopt;
    }
    return run_now(call.channel, call.payload);
}

const RepFunction* ReceivedCalls::read_function(ChannelIndex index, BitReader& reader,
                                                CloseReason& reason) {
    const ActorChannel& channel = channels_[index];
    const std::span<const RepFunction> functions = channel.layout->functions();
    std::optional<FunctionIndex> function;
    channels_.note_refusal(index);
    if (!read_call_head(reader, functions, function)) {
        reason = CloseReason::MalformedBunch;
        return nullptr;
    }
    const bool is_known = function.has_value() && functions[function->value].runs_on_clients();
    if (!is_known || channel.state == ActorChannel::State::Refused) {
        ++environment_.stats.calls_unknown;
        return nullptr;
    }
    return &functions[function->value];
}

CloseReason ReceivedCalls::run_now(ChannelIndex index, std::span<const std::byte> payload) {
    const DecodeBudget granted = runner_.budget_for(payload.size());
    DecodeBudget budget = granted;
    BitReader reader(payload, &budget);
    CloseReason reason = CloseReason::None;
    const RepFunction* function = read_function(index, reader, reason);
    if (function == nullptr) {
        return reason;
    }
    channels_.note_refusal(index, function->function->name);
    const CurrentCall running{channels_[index].object, NetObjectId{}, environment_.server};
    const auto outcome =
        runner_.run(*function, world_.memory_of(running.object), reader, false, running);
    work_.spend(*function, payload.size(), granted, budget);
    environment_.stats.calls_dropped += outcome == CallRunner::Outcome::Missing ? 1u : 0u;
    if (outcome == CallRunner::Outcome::Malformed) {
        return CloseReason::MalformedBunch;
    }
    values_grew(running.object, granted.allocation_bytes - budget.allocation_bytes);
    return amounts_.is_over_limit() ? CloseReason::TooMuchMemory : CloseReason::None;
}

void ReceivedCalls::values_grew(ObjectHandle object, std::uint64_t bytes) {
    ChannelIndex index;
    if (bytes > 0 && channels_.find_open(object, index) != nullptr) {
        amounts_.count_bytes(channels_[index], world_.memory_of(object), bytes);
    }
}

bool ReceivedCalls::may_run(ChannelIndex index, const RepFunction& function, bool is_last) {
    // What makes the object ready may call the driver, as a remote function may.
    const ScopedValue calling_out(environment_.is_calling_out,
                                  environment_.is_calling_out && !is_last);
    return environment_.world.may_run_call(channels_[index].object, *function.function, is_last);
}

std::optional<CloseReason> ReceivedCalls::run_kept_of(ChannelIndex index, bool is_last) {
    while (kept_.has(index)) {
        BitReader head(kept_.first(index));
        CloseReason reason = CloseReason::None;
        const RepFunction* function = read_function(index, head, reason);
        REPLAYOUT_ASSERT(function != nullptr);
        const bool is_ready = function != nullptr && (may_run(index, *function, false) ||
                                                      (is_last && may_run(index, *function, true)));
        // The world may have run some of them by now, or ended the connection.
        if (!kept_.has(index)) {
            return CloseReason::None;
        }
        const bool has_room = is_ready && work_.has_room_for(*function, kept_.first(index).size());
        if (is_ready && !has_room && !is_last) {
            return std::nullopt;
        }
        if (!has_room) {
            environment_.stats.calls_dropped += is_last ? kept_.drop(index) : 0;
            return CloseReason::None;
        }
        const Vector<std::byte> call = kept_.take(index);
        reason = run_now(index, {call.data(), call.size()});
        if (reason != CloseReason::None) {
            return reason;
        }
    }
    return CloseReason::None;
}

CloseReason ReceivedCalls::note_put_off(std::optional<CloseReason> reason) noexcept {
    has_put_off_ = has_put_off_ || !reason.has_value();
    return reason.value_or(CloseReason::None);
}

CloseReason ReceivedCalls::run_kept() {
    for (ChannelIndex channel; kept_.find_next(channel); ++channel.value) {
        const CloseReason reason = note_put_off(run_kept_of(channel, false));
        if (reason != CloseReason::None) {
            return reason;
        }
    }
    return CloseReason::None;
}

CloseReason ReceivedCalls::run_kept_of(ObjectHandle object) {
    ChannelIndex channel;
    return kept_.is_empty() || channels_.find_open(object, channel) == nullptr
               ? CloseReason::None
               : note_put_off(run_kept_of(channel, false));
}

void ReceivedCalls::drop_due_of(ChannelIndex index) {
    const std::uint32_t count = calls_.drop_due_of(index);
    if (count == 0) {
        return;
    }
    environment_.stats.calls_dropped += count;
    const ActorChannel& channel = channels_[index];
    environment_.log_printable(
        LogLevel::Warning,
        std::to_string(count) + " calls of object " + std::to_string(channel.guid.value) +
            ", of class \"" + std::string(channel.layout->name()) +
            "\", are dropped at its close: to run them takes longer than one packet may. Let the "
            "keyed arrays in their parameters begin with fewer elements");
}

void ReceivedCalls::drop_of(ChannelIndex index) {
    calls_.channel_closed(index);
    environment_.stats.calls_dropped += kept_.drop(index);
    environment_.stats.calls_dropped += outgoing_.drop_channel(index);
}

CloseReason ReceivedCalls::run_last_of(ChannelIndex index) {
    CloseReason reason = run_due_of(index);
    if (reason == CloseReason::None) {
        reason = note_put_off(run_kept_of(index, true));
    }
    drop_due_of(index);
    return reason;
}

void ReceivedCalls::clear() {
    calls_.clear();
    kept_.clear();
}

}  // namespace replayout
