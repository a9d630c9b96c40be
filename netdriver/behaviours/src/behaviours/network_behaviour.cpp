// SPDX-License-Identifier: MIT
#include "behaviour_call.h"
#include "client_parts.h"
#include "inside.h"
#include "server_parts.h"

#include <replayout/behaviours/network_behaviour.h>
#include <replayout/behaviours/network_identity.h>
#include <replayout/behaviours/network_server.h>
#include <replayout/reflection/diagnostics.h>

namespace replayout {

namespace {

/// False, and refused in the name of `function`: the behaviour was not made with an identity.
[[nodiscard]] bool belongs_to_object(const detail::ObjectComponent& component,
                                     const char* function) noexcept {
    REPLAYOUT_EXPECT(component.is_bound(), false,
                     "%s: this behaviour belongs to no object yet: make it by instantiate() of a "
                     "prefab, and use it after its constructor",
                     function);
    return true;
}

}  // namespace

NetworkBehaviour::~NetworkBehaviour() = default;

NetworkIdentity& NetworkBehaviour::identity() const noexcept {
    if (!component_.is_bound()) [[unlikely]] {
        replayout::detail::fail_assertion(
            "identity: this behaviour belongs to no object: make it by instantiate() of a prefab",
            __FILE__, __LINE__);
    }
    return component_.identity();
}

bool NetworkBehaviour::is_server() const noexcept {
    return belongs_to_object(component_, "is_server") && component_.identity().is_server();
}
bool NetworkBehaviour::is_client() const noexcept {
    return belongs_to_object(component_, "is_client") && component_.identity().is_client();
}
bool NetworkBehaviour::is_owned() const noexcept {
    return belongs_to_object(component_, "is_owned") && component_.identity().is_owned();
}
bool NetworkBehaviour::is_local_player() const noexcept {
    return belongs_to_object(component_, "is_local_player") &&
           component_.identity().is_local_player();
}

NetworkServer& NetworkBehaviour::server() const noexcept {
    return detail::server_parts_of(identity()).server;
}

NetworkClient& NetworkBehaviour::client() const noexcept {
    return detail::client_parts_of(identity()).client;
}

void NetworkBehaviour::set_dirty_bit(std::uint64_t mask) {
    if (belongs_to_object(component_, "set_dirty_bit")) {
        component_.mark_sync_vars(mask);
    }
}

bool NetworkBehaviour::is_dirty() const noexcept {
    if (!component_.has_changes()) {
        return false;
    }
    const detail::ObjectParts& object = detail::Inside::of(identity());
    return component_.is_due(object.server.end != nullptr ? object.server.end->now
                                                          : object.client.end->now);
}

CallResult NetworkBehaviour::call(std::string_view function, CallArguments params) {
    return belongs_to_object(component_, "call")
               ? detail::BehaviourCall(component_).run(function, params)
               : CallResult::Misused;
}

CallResult NetworkBehaviour::call_function(TypeKey function, CallArguments params) {
    return belongs_to_object(component_, "call")
               ? detail::BehaviourCall(component_).run(function, params)
               : CallResult::Misused;
}

bool NetworkBehaviour::on_serialize(NetworkWriter& /*writer*/, bool /*initial_state*/) {
    return false;
}

bool NetworkBehaviour::on_deserialize(NetworkReader& /*reader*/, bool /*initial_state*/) {
    return true;
}

}  // namespace replayout
