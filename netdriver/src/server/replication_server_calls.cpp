// SPDX-License-Identifier: MIT
// Remote calls of a server: those that it makes, and those of its clients.
#include "call_refusals.h"
#include "replication_server_client.h"
#include "value_scope.h"

namespace replayout {

bool ReplicationServer::is_called(const Client& client, const RepFunction& function,
                                  std::uint32_t index) const noexcept {
    const bool is_everybodys = function.has(FunctionFlags::Multicast);
    const bool is_owner = objects_.at(index)->facts().role_of(client.connection.peer()).is_owned;
    return is_joined(client) && (is_everybodys || is_owner) &&
           client.sender.dormancy().is_shown(index) &&
           !(is_everybodys && client.sender.is_passed_over(index));
}

bool ReplicationServer::may_run(const Client& client, std::uint32_t index) const noexcept {
    return !client.other_versions.test(objects_.at(index)->layout_number());
}

CallResult ReplicationServer::call_function(NetObjectId id, FunctionIndex function,
                                            const void* params, RemoteFunctionSendPolicy policy) {
    REPLAYOUT_ASSERT(objects_.contains(id));
    const NetworkObjectInfo& info = *objects_.at(id.index);
    const RepLayout& layout = info.changelist_state().layout();
    REPLAYOUT_ASSERT(function.value < layout.functions().size());
    const RepFunction& called = layout.functions()[function.value];
    REPLAYOUT_ASSERT((params != nullptr) == (called.parameters != nullptr));
    const ObjectHandle object = info.object();
    const bool is_multicast = called.has(FunctionFlags::Multicast);
    CallResult result = CallResult::Ran;
    const bool is_hosts_own = !is_multicast && is_owned_by_host(info.facts());
    if (called.runs_on_clients() && !is_hosts_own) {
        const bool may_queue =
            !called.has(FunctionFlags::Reliable) && policy != RemoteFunctionSendPolicy::ForceSend;
        const bool is_queued =
            may_queue && (is_multicast || policy == RemoteFunctionSendPolicy::ForceQueue);
        result = send_to_clients(id, function, params, is_queued);
        const bool is_accepted = result == CallResult::Sent || result == CallResult::Queued ||
                                 (is_multicast && result == CallResult::Ran);
        if (!is_accepted || !is_multicast) {
            return result;
        }
    }
    const bool is_hosts_call = called.runs_on_server() && is_owned_by_host(info.facts());
    call_runner_.run_here(called, world_.object_memory(object), params,
                          {object, id, is_hosts_call ? *host_ : PeerId{}});
    return result;
}

void ReplicationServer::log_unknown_function(const RepLayout& layout, std::string_view function) {
    peer_log_.write(LogLevel::Warning, PeerId{}, unknown_function(layout, function).c_str(), now_);
}

CallResult ReplicationServer::send_to_clients(NetObjectId id, FunctionIndex function,
                                              const void* params, bool is_queued) {
    const NetworkObjectInfo& info = *objects_.at(id.index);
    const RepLayout& layout = info.changelist_state().layout();
    const RepFunction& called = layout.functions()[function.value];
    const bool is_reliable = called.has(FunctionFlags::Reliable);
    // Nobody else waits for a call to one client alone.
    const bool is_multicast = called.has(FunctionFlags::Multicast);
    update_relevancy_of(id.index);
    bool is_anybody = false;
    bool has_other_version = false;
    bool is_full = false;
    for (Client* client : clients_) {
        if (!is_called(*client, called, id.index)) {
            continue;
        }
        if (!may_run(*client, id.index)) {
            has_other_version = true;
            continue;
        }
        const bool has_room = !is_reliable || client->sender.has_room_for_call(true);
        if (!has_room && is_multicast && falls_behind(*client)) {
            continue;
        }
        is_anybody = true;
        if (!has_room) {
            is_full = true;
            if (is_multicast) {
                client->sender.note_refused_call();
            }
        }
    }
    if (is_full) {
        return CallResult::Full;  // to all, or to nobody
    }
    if (!is_anybody) {
        force_paced(id.index);  // clients that were passed over get it as it is now
        const CallResult refusal =
            has_other_version ? CallResult::NoSuchVersion : CallResult::NotOwned;
        return is_multicast ? CallResult::Ran : refusal;
    }
    // A net_serialize of parameters, and whoever takes a line of the log, are the game's.
    const ValueScope calling_out(is_calling_out_, true);
    call_ids_.forget();
    const CallResult result =
        call_encoder_.set(layout, function, params, call_ids_, stats_.replication);
    if (result != CallResult::Sent) {
        return result;
    }
    return add_calls({id.index, function, is_reliable, is_queued}, called);
}

bool ReplicationServer::falls_behind(Client& client) {
    if (!client.sender.has_waited_for_calls()) {
        return false;
    }
    // It ends alone: all others go on, and no call that it is to run is missing at one that stays.
    client.connection.close(CloseReason::CallsStalled, now_);
    return true;
}

CallResult ReplicationServer::add_calls(const NewCall& call, const RepFunction& function) {
    called_.clear();
    std::uint64_t dropped_count = 0;
    CallResult result = CallResult::Sent;
    for (Client* client : clients_) {
        ReplicationSender& sender = client->sender;
        if (!is_called(*client, function, call.index) || !may_run(*client, call.index)) {
            continue;
        }
        const bool has_room = sender.has_room_for_call(call.is_reliable) &&
                              (!call.is_queued || sender.may_queue_call(call.index, call.function));
        if (!has_room) {
            ++dropped_count;
            continue;
        }
        const CallResult written = sender.add_call(call, call_encoder_, call_context_);
        if (written == CallResult::Full && !call.is_reliable) {
            ++dropped_count;
            continue;
        }
        const bool is_multicast = function.has(FunctionFlags::Multicast);
        if (written == CallResult::Full && is_multicast && falls_behind(*client)) {
            continue;
        }
        if (written == CallResult::Full && is_multicast) {
            sender.note_refused_call();
        }
        if (written != CallResult::Sent && written != CallResult::Queued) {
            // Whoever has it already does not get it either: a call is to all, or to nobody.
            for (Client* called : called_) {
                called->sender.take_back_call();
            }
            return written;
        }
        sender.name_in_last_call(call_ids_.named());
        called_.push_back(client);
        result = written == CallResult::Queued ? CallResult::Queued : result;
    }
    if (called_.empty()) {
        return CallResult::Full;
    }
    stats_.calls_dropped += dropped_count;
    // Only now: what is refused wakes nothing.
    for (Client* called : called_) {
        if (called->sender.dormancy().dormant.test(call.index)) {
            wake_for(*called, call.index);
        }
    }
    if (dormancy_.dormant.test(call.index)) {
        resume_compare(call.index);  // for clients that are just being shown it
    }
    // What the call means is what these are now.
    force_paced(call.index);
    for (const std::uint32_t index : call_ids_.named()) {
        force_paced(index);
    }
    return result;
}

CloseReason ReplicationServer::Client::handle_bunch(const BunchHeader& header,
                                                    std::span<const std::byte> payload,
                                                    DecodeBudget&) {
    if (!header.is_call) {
        return CloseReason::NotAllowed;
    }
    switch (sender.callable(header.channel)) {
        case CallableState::Yes: {
            may_have_due_calls = true;
            const CloseReason reason = sender.incoming_calls().receive(header, payload);
            if (reason != CloseReason::None) {
                const NetworkObjectInfo& info =
                    *server_.objects_.at(ObjectStore::index_of(header.channel));
                connection.blame({info.changelist_state().layout().name(), {}, info.guid()});
            }
            return reason;
        }
        case CallableState::Late:
            server_.stats_.calls_dropped += !header.is_partial || header.is_partial_final ? 1u : 0u;
            return CloseReason::None;
        case CallableState::No:
            break;
    }
    return CloseReason::UnknownChannel;
}

CloseReason ReplicationServer::run_calls(Client& client) {
    RemoteFunctionReceiver& calls = client.sender.incoming_calls();
    DueCall call;
    CallWork work;
    client.may_have_due_calls = false;
    while (calls.take_due(call)) {
        // A call may do anything, also end this connection.
        const std::optional<CloseReason> reason =
            is_joined(client) ? run_call(client, call, work) : CloseReason::Requested;
        if (!reason.has_value()) {
            calls.put_off();
            client.may_have_due_calls = true;
            has_put_off_calls_ = true;
            break;
        }
        if (*reason != CloseReason::None) {
            calls.drop_due();
            return is_joined(client) ? *reason : CloseReason::None;
        }
        client.connection.blame({});
    }
    return CloseReason::None;
}

void ReplicationServer::run_put_off_calls(NetTime now) {
    if (!has_put_off_calls_) {
        return;
    }
    now_ = now;
    has_put_off_calls_ = false;
    for (std::size_t i = 0; i < clients_.size(); ++i) {
        Client& client = *clients_[i];
        if (client.may_have_due_calls) {
            const CloseReason reason = run_calls(client);
            if (reason != CloseReason::None) {
                client.connection.close(reason, now);
            }
        }
    }
}

CloseReason ReplicationServer::strike(Client& client, std::uint64_t& count) {
    ++count;
    return client.strikes.take(1, now_) ? CloseReason::None : CloseReason::TooManyCalls;
}

std::optional<CloseReason> ReplicationServer::run_call(Client& client, const DueCall& call,
                                                       CallWork& work) {
    const std::uint32_t index = ObjectStore::index_of(call.channel);
    if (client.sender.callable(call.channel) != CallableState::Yes ||
        objects_.at(index)->is_departing()) {
        ++stats_.calls_dropped;  // a call before it removed the object, or it is nobody's any more
        return CloseReason::None;
    }
    const NetworkObjectInfo& info = *objects_.at(index);
    const DecodeBudget granted = call_runner_.budget_for(call.payload.size());
    DecodeBudget budget = granted;
    BitReader reader(call.payload, &budget);
    const std::span<const RepFunction> functions = info.changelist_state().layout().functions();
    std::optional<FunctionIndex> function;
    ClosePlace place{info.changelist_state().layout().name(), {}, info.guid()};
    client.connection.blame(place);
    if (!read_call_head(reader, functions, function)) {
        return CloseReason::MalformedBunch;
    }
    if (!function.has_value() || !functions[function->value].runs_on_server()) {
        return CloseReason::UnknownFunction;
    }
    if (!work.has_room_for(functions[function->value], call.payload.size())) {
        return std::nullopt;
    }
    place.function = functions[function->value].function->name;
    client.connection.blame(place);
    const CallKind kind =
        call_kind_of(call.is_reliable, functions[function->value].has(FunctionFlags::Update));
    if (!client.call_limiter.take(info.layout_number(), *function, kind, call.payload.size(),
                                  now_)) {
        if (call.is_reliable) {
            return CloseReason::TooManyCalls;
        }
        return strike(client, stats_.calls_over_rate);
    }
    const ObjectFacts& facts = info.facts();
    if (!facts.has_owner || facts.owner != client.connection.peer()) {
        // It may have had another owner a moment ago.
        return strike(client, stats_.calls_not_owned);
    }
    const RemoteFunctionCall running{info.object(), objects_.id_at(index),
                                     client.connection.peer()};
    const RepFunction& called = functions[function->value];
    const auto outcome =
        call_runner_.run(called, world_.object_memory(running.object), reader, true, running);
    work.spend(called, call.payload.size(), granted, budget);
    switch (outcome) {
        case RemoteFunctionRunner::Outcome::Malformed:
            return CloseReason::MalformedBunch;
        case RemoteFunctionRunner::Outcome::Refused:
            return CloseReason::CallRefused;
        case RemoteFunctionRunner::Outcome::Missing:
            ++stats_.calls_dropped;
            break;
        case RemoteFunctionRunner::Outcome::Ran:
            break;
    }
    return CloseReason::None;
}

}  // namespace replayout
