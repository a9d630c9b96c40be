// SPDX-License-Identifier: MIT
#include "behaviour_call.h"

#include "client_parts.h"
#include "inside.h"
#include "server_parts.h"

#include <replayout/behaviours/behaviour_type.h>
#include <replayout/behaviours/network_prefab.h>
#include <replayout/behaviours/network_server.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace replayout::detail {

namespace {

/// Null: it was made, or may be another time.
[[nodiscard]] const char* why_never(CallResult result) noexcept {
    switch (result) {
        case CallResult::UnknownFunction:
            return "the class has no such function";
        case CallResult::NoSuchVersion:
            return "the other end has another version of the prefab, and so none of its functions";
        case CallResult::ValueOverLimit:
            return "a parameter is beyond its limit (RepLimits), or text that is not UTF-8";
        case CallResult::SerializeFailed:
            return "a parameter cannot be written";
        case CallResult::TooLarge:
            return "it is larger than NetConfig::call_bytes_max";
        default:
            return nullptr;
    }
}

}  // namespace

BehaviourCall::BehaviourCall(const ObjectComponent& component) noexcept
    : component_(component), object_(Inside::of(component.identity())) {}

CallResult BehaviourCall::run(std::string_view function, CallArguments params) const {
    const std::string name = NetworkPrefab::member_name(component_.index(), function);
    const RepLayout& layout = object_.components.prefab().layout();
    if (const std::optional<FunctionIndex> found = layout.find_function(name)) {
        log_wrong_end(layout.functions()[found->value].function->flags, function);
    }
    return make(name, name, params, function);
}

CallResult BehaviourCall::run(TypeKey function, CallArguments params) const {
    const std::vector<BehaviourFunction>& functions = component_.type().functions;
    const auto found =
        std::find_if(functions.begin(), functions.end(),
                     [&](const BehaviourFunction& candidate) { return candidate.key == function; });
    if (found == functions.end()) {
        return logged(CallResult::UnknownFunction, "(not of this class)");
    }
    const NetworkPrefab& prefab = object_.components.prefab();
    const auto number = static_cast<std::size_t>(found - functions.begin());
    const FunctionIndex index = prefab.components()[component_.index()].functions[number];
    const std::string& name = found->function.name;
    log_wrong_end(found->function.flags, name);
    return make(index, prefab.layout().functions()[index.value].function->name, params, name);
}

template <typename ServersName>
CallResult BehaviourCall::make(const ServersName& name, std::string_view clients_name,
                               CallArguments params, std::string_view shown) const {
    if (!send_state_ahead()) {
        return CallResult::Full;
    }
    if (ServerParts* server = object_.server.end) {
        return logged(server->driver.call_function(object_.server.id, name, params,
                                                   CallSendPolicy::ForceSend),
                      shown);
    }
    if (ClientParts* client = object_.client.end) {
        return logged(
            client->driver.call_function(handle_of(component_.identity()), clients_name, params),
            shown);
    }
    return CallResult::NoChannel;
}

bool BehaviourCall::send_state_ahead() const {
    NetworkIdentity& object = component_.identity();
    if (ServerParts* server = object_.server.end) {
        return server->states.send_ahead(object);
    }
    ClientParts* client = object_.client.end;
    return client == nullptr || client->updates.send_state_of(object);
}

CallResult BehaviourCall::logged(CallResult result, std::string_view function) const {
    if (const char* why = why_never(result)) {
        component_.log_line(LogLevel::Error, "call of \"" + component_.type().name + "." +
                                                 std::string(function) + "\" is not made: " + why);
    }
    return result;
}

void BehaviourCall::log_wrong_end(FunctionFlags flags, std::string_view function) const {
    const char* why = nullptr;
    const ServerParts* const server = object_.server.end;
    if (server == nullptr && object_.client.end == nullptr) {
        why = "the object is not spawned, so nobody is called: spawn it before";
    } else if (server == nullptr && !has_flag(flags, FunctionFlags::Server)) {
        why = "a client calls what a server calls, so it runs here alone: use a command";
    } else if (server != nullptr && has_flag(flags, FunctionFlags::Server) &&
               object_.server.owner.peer.value == 0) {
        why =
            "a server calls a command of an object without an owner, so it runs here alone: call "
            "the function itself";
    }
    if (why != nullptr) {
        component_.log_line(LogLevel::Warning, "call of \"" + component_.type().name + "." +
                                                   std::string(function) + "\": " + why);
    }
}

}  // namespace replayout::detail
