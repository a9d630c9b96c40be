// SPDX-License-Identifier: MIT
#include "server_calls.h"

#include "call_refusals.h"
#include "refusal_text.h"
#include "scoped_value.h"

namespace replayout {

ServerCalls::ServerCalls(const ServerEnvironment& environment, const Parts& parts, ServerLog& log)
    : environment_(environment),
      parts_(parts),
      log_(log),
      ids_(parts.objects, environment.guids, &environment.memory.scratch),
      called_(Allocator<ServerClient*>(&environment.memory.scratch)),
      scratch_(&environment.memory.scratch),
      context_{ids_,    environment.stats.replication,     scratch_, environment.settings.sharing,
               nullptr, environment.settings.is_validating},
      encoder_(ReceiveLimits::of_server(environment.settings.config), &environment.memory.scratch),
      runner_(environment.settings.config, environment.guids, environment.stats, environment.memory,
              environment.is_calling_out, log.peers, log.now) {}

bool ServerCalls::is_called(const ServerClient& client, const RepFunction& function,
                            ObjectIndex index) const noexcept {
    const bool is_everybodys = function.has(FunctionFlags::Multicast);
    const bool is_owner =
        parts_.objects.at(index)->ownership().role_of(client.connection.peer()).is_owned;
    return client.is_joined() && (is_everybodys || is_owner) &&
           client.sender.dormancy().is_shown(index) &&
           !(is_everybodys && client.sender.is_passed_over(index));
}

bool ServerCalls::may_run(const ServerClient& client, ObjectIndex index) const noexcept {
    return !client.other_versions.test(parts_.objects.at(index)->layout_number());
}

CallResult ServerCalls::call(NetObjectId id, FunctionIndex function, const void* params,
                             CallSendPolicy policy) {
    REPLAYOUT_ASSERT(parts_.objects.contains(id));
    const ServerObject& info = *parts_.objects.at(slot_of(id));
    const RepLayout& layout = info.changelist_state().layout();
    REPLAYOUT_ASSERT(function.value < layout.functions().size());
    const RepFunction& called = layout.functions()[function.value];
    REPLAYOUT_ASSERT((params != nullptr) == (called.parameters != nullptr));
    const ObjectHandle object = info.object();
    const bool is_multicast = called.has(FunctionFlags::Multicast);
    CallResult result = CallResult::Ran;
    const bool is_hosts_own = !is_multicast && parts_.clients.host().owns(info.ownership());
    const bool is_sent = called.runs_on_clients() && !is_hosts_own;
    const bool runs_here = !is_sent || is_multicast;
    void* const memory = runs_here ? memory_of(object) : nullptr;
    REPLAYOUT_EXPECT(memory != nullptr || !runs_here || !called.function->thunk,
                     CallResult::Misused, "%s",
                     without_memory("call_function", parts_.objects, slot_of(id)).c_str());
    if (is_sent) {
        const bool may_queue =
            !called.has(FunctionFlags::Reliable) && policy != CallSendPolicy::ForceSend;
        const bool is_queued = may_queue && (is_multicast || policy == CallSendPolicy::ForceQueue);
        result = send_to_clients(id, function, params, is_queued);
        const bool is_accepted = result == CallResult::Sent || result == CallResult::Queued ||
                                 (is_multicast && result == CallResult::Ran);
        if (!is_accepted || !is_multicast) {
            return result;
        }
    }
    const bool is_hosts_call =
        called.runs_on_server() && parts_.clients.host().owns(info.ownership());
    runner_.run_here(called, memory, params,
                     {object, id, is_hosts_call ? *parts_.clients.host().peer() : PeerId{}});
    return result;
}

CallProgress ServerCalls::progress(PeerId peer, NetObjectId id) const {
    const ServerClient* const client = parts_.clients.find_joined(peer);
    return client == nullptr ? CallProgress::Arrived
                             : client->sender.calls().progress(channel_of(slot_of(id)));
}

void* ServerCalls::memory_of(ObjectHandle object) {
    const ScopedValue calling_out(environment_.is_calling_out, true);
    return environment_.world.object_memory(object);
}

void ServerCalls::log_unknown_function(const RepLayout& layout, std::string_view function) {
    log_.peers.write(LogLevel::Warning, PeerId{}, unknown_function(layout, function).c_str(),
                     log_.now);
}

CallResult ServerCalls::send_to_clients(NetObjectId id, FunctionIndex function, const void* params,
                                        bool is_queued) {
    const ServerObject& info = *parts_.objects.at(slot_of(id));
    const RepLayout& layout = info.changelist_state().layout();
    const RepFunction& called = layout.functions()[function.value];
    const bool is_reliable = called.has(FunctionFlags::Reliable);
    // Nobody else waits for a call to one client alone.
    const bool is_multicast = called.has(FunctionFlags::Multicast);
    parts_.relevancy.update_of(slot_of(id));
    bool is_anybody = false;
    bool has_other_version = false;
    bool is_full = false;
    for (ServerClient* client : parts_.clients) {
        if (!is_called(*client, called, slot_of(id))) {
            continue;
        }
        if (!may_run(*client, slot_of(id))) {
            has_other_version = true;
            continue;
        }
        const bool has_room = !is_reliable || client->sender.call_sender().has_room_for_call(true);
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
        parts_.compare.force_paced(
            slot_of(id));  // clients that were passed over get it as it is now
        const CallResult refusal =
            has_other_version ? CallResult::NoSuchVersion : CallResult::NotOwned;
        return is_multicast ? CallResult::Ran : refusal;
    }
    // A net_serialize of parameters, and whoever takes a line of the log, are the game's.
    const ScopedValue calling_out(environment_.is_calling_out, true);
    ids_.forget();
    const CallResult result =
        encoder_.set(layout, function, params, ids_, environment_.stats.replication);
    if (result != CallResult::Sent) {
        return result;
    }
    return add_calls({slot_of(id), function, is_reliable, is_queued}, called);
}

bool ServerCalls::falls_behind(ServerClient& client) {
    if (!client.sender.calls().has_waited()) {
        return false;
    }
    // It ends alone: all others go on, and no call that it is to run is missing at one that stays.
    client.connection.close(CloseReason::CallsStalled, log_.now);
    return true;
}

CallResult ServerCalls::add_calls(const NewCall& call, const RepFunction& function) {
    called_.clear();
    std::uint64_t dropped_count = 0;
    CallResult result = CallResult::Sent;
    for (ServerClient* client : parts_.clients) {
        ReplicationSender& sender = client->sender;
        if (!is_called(*client, function, call.index) || !may_run(*client, call.index)) {
            continue;
        }
        const bool has_room =
            sender.call_sender().has_room_for_call(call.is_reliable) &&
            (!call.is_queued || sender.call_sender().may_queue_call(call.index, call.function));
        if (!has_room) {
            ++dropped_count;
            continue;
        }
        const CallResult written = sender.edit_call_sender().add_call(call, encoder_, context_);
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
            for (ServerClient* called : called_) {
                called->sender.edit_calls().take_back();
            }
            return written;
        }
        sender.edit_call_sender().name_in_last_call(ids_.named());
        called_.push_back(client);
        result = written == CallResult::Queued ? CallResult::Queued : result;
    }
    if (called_.empty()) {
        return CallResult::Full;
    }
    environment_.stats.calls_dropped += dropped_count;
    // Only now: what is refused wakes nothing.
    for (ServerClient* called : called_) {
        if (called->sender.dormancy().dormant.test(call.index)) {
            parts_.dormancy.wake_for(*called, call.index);
        }
    }
    parts_.dormancy.end_rest(call.index);  // for clients that are just being shown it
    // What the call means is what these are now.
    parts_.compare.force_paced(call.index);
    for (const ObjectIndex index : ids_.named()) {
        parts_.compare.force_paced(index);
    }
    return result;
}

}  // namespace replayout
