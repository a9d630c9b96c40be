// SPDX-License-Identifier: MIT
#include "client_calls.h"

#include <algorithm>
#include <utility>

namespace replayout {

CloseReason ClientCalls::receive(ServerClient& client, const BunchHeader& header,
                                 std::span<const std::byte> payload) {
    if (!header.is_call) {
        return CloseReason::NotAllowed;
    }
    switch (client.sender.channels().callable(header.channel)) {
        case CallableState::Yes: {
            client.due_calls.may_exist = true;
            const CloseReason reason = client.sender.incoming_calls().receive(header, payload);
            if (reason != CloseReason::None) {
                const ServerObject& info = *objects_.at(slot_of(header.channel));
                client.connection.blame({info.changelist_state().layout().name(), {}, info.guid()});
            }
            return reason;
        }
        case CallableState::Late:
            environment_.stats.calls_dropped +=
                !header.is_partial || header.is_partial_final ? 1u : 0u;
            return CloseReason::None;
        case CallableState::No:
            break;
    }
    return CloseReason::UnknownChannel;
}

CloseReason ClientCalls::run(ServerClient& client) {
    IncomingCalls& calls = client.sender.incoming_calls();
    DueCall call;
    CallWork work;
    ServerClient::DueCalls& due = client.due_calls;
    const std::uint32_t units = client.connection.packets().sent().fate_units();
    work.spend_fates(due.fates_before - std::min(due.fates_before, units));
    due.may_exist = false;
    // The call in front waited before this packet, and still does.
    bool is_same_in_front = std::exchange(due.were_put_off, false);
    while (calls.take_due(call)) {
        // A call may do anything, also end this connection.
        const std::optional<CloseReason> reason =
            client.is_joined() ? run_call(client, call, work) : CloseReason::Requested;
        if (!reason.has_value()) {
            calls.put_off();
            due.may_exist = true;
            due.were_put_off = true;
            has_put_off_calls_ = true;
            due.tried_in = dispatch_;
            if (!is_same_in_front) {
                due.waits_since = dispatch_;
            }
            break;
        }
        is_same_in_front = false;
        if (*reason != CloseReason::None) {
            calls.drop_due();
            return client.is_joined() ? *reason : CloseReason::None;
        }
        client.connection.blame({});
    }
    return CloseReason::None;
}

void ClientCalls::run_put_off(NetTime now) {
    if (has_put_off_calls_) {
        log_.now = now;
        has_put_off_calls_ = false;
        for (std::size_t i = 0; i < clients_.size(); ++i) {
            run_put_off_of(clients_[i], now);
        }
    }
    ++dispatch_;
}

void ClientCalls::run_put_off_of(ServerClient& client, NetTime now) {
    if (!client.due_calls.may_exist) {
        return;
    }
    if (client.due_calls.tried_in == dispatch_ && !have_waited_long(client)) {
        has_put_off_calls_ = true;
        return;
    }
    client.due_calls.fates_before = client.connection.packets().sent().fate_units();
    const CloseReason reason = run(client);
    if (reason != CloseReason::None) {
        client.connection.close(reason, now);
    }
}

CloseReason ClientCalls::strike(ServerClient& client, std::uint64_t& count) {
    ++count;
    return client.strikes.take(1, log_.now) ? CloseReason::None : CloseReason::TooManyCalls;
}

std::optional<CloseReason> ClientCalls::run_call(ServerClient& client, const DueCall& call,
                                                 CallWork& work) {
    const ObjectIndex index = slot_of(call.channel);
    if (client.sender.channels().callable(call.channel) != CallableState::Yes ||
        objects_.at(index)->is_departing()) {
        ++environment_.stats
              .calls_dropped;  // a call before it removed the object, or it is nobody's any more
        return CloseReason::None;
    }
    const ServerObject& info = *objects_.at(index);
    const DecodeBudget granted = runner_.budget_for(call.payload.size());
    DecodeBudget budget = granted;
    BitReader reader(call.payload, &budget);
    const std::span<const RepFunction> functions = info.changelist_state().layout().functions();
    std::optional<FunctionIndex> function;
    CloseDetails details{info.changelist_state().layout().name(), {}, info.guid()};
    client.connection.blame(details);
    if (!read_call_head(reader, functions, function)) {
        return CloseReason::MalformedBunch;
    }
    if (!function.has_value() || !functions[function->value].runs_on_server()) {
        return CloseReason::UnknownFunction;
    }
    if (!work.has_room_for(functions[function->value], call.payload.size())) {
        return std::nullopt;
    }
    details.function = functions[function->value].function->name;
    client.connection.blame(details);
    const CallKind kind =
        call_kind_of(call.is_reliable, functions[function->value].has(FunctionFlags::Update));
    if (!client.call_limiter.take(info.layout_number(), *function, kind, call.payload.size(),
                                  log_.now)) {
        if (call.is_reliable) {
            return CloseReason::TooManyCalls;
        }
        return strike(client, environment_.stats.calls_over_rate);
    }
    const ObjectOwnership& ownership = info.ownership();
    if (!ownership.has_owner || ownership.owner != client.connection.peer()) {
        // It may have had another owner a moment ago.
        return strike(client, environment_.stats.calls_not_owned);
    }
    const CurrentCall running{info.object(), objects_.id_at(index), client.connection.peer()};
    const RepFunction& called = functions[function->value];
    const auto outcome = runner_.run(called, environment_.world.object_memory(running.object),
                                     reader, true, running);
    work.spend(called, call.payload.size(), granted, budget);
    switch (outcome) {
        case CallRunner::Outcome::Malformed:
            return CloseReason::MalformedBunch;
        case CallRunner::Outcome::Refused:
            return CloseReason::CallRefused;
        case CallRunner::Outcome::Missing:
            ++environment_.stats.calls_dropped;
            break;
        case CallRunner::Outcome::Ran:
            break;
    }
    return CloseReason::None;
}

}  // namespace replayout
