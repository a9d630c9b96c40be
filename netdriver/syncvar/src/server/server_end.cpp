// SPDX-License-Identifier: MIT
#include "server_end.h"

#include "inside.h"
#include "server_parts.h"

#include <replayout/reflection/diagnostics.h>

namespace replayout::syncvar::detail {

// Objects and their components.

void ServerEnd::component_changed(NetworkIdentity& object) {
    parts_.states.add(object);
}

bool ServerEnd::send_state_of(NetworkIdentity& object) {
    return parts_.states.send_ahead(object);
}

bool ServerEnd::has_connections() const noexcept {
    return !parts_.connections.is_empty();
}

void ServerEnd::apply_visibility(NetworkIdentity& object) {
    parts_.observers.apply_visibility(object);
}

void ServerEnd::interest_group_changed(NetworkIdentity& object, std::uint32_t previous) {
    parts_.observers.interest_group_changed(object, previous);
}

void ServerEnd::position_changed(NetworkIdentity& object) {
    parts_.observers.position_changed(object);
}

bool ServerEnd::host_hears(NetworkIdentity& object, const Function& function, const void* values,
                           void* place) {
    return parts_.host_view.hears(object, function, values, place);
}

void ServerEnd::take_section(ObjectComponent& component, const ReceivedSection& section) {
    parts_.authority.take_section(component, section);
}

void ServerEnd::take_operations(ObjectComponent& component, CollectionEnd& collection,
                                const void* params) {
    parts_.authority.take_operations(component, collection, params);
}

void ServerEnd::write_log(LogLevel level, PeerId peer, std::string_view text) const {
    parts_.log.write(level, peer, text);
}

// Requests of a client on the channel of its connection.

void ServerEnd::ready(PeerId peer) {
    parts_.phases.ready(peer);
}

void ServerEnd::add_player(PeerId peer) {
    parts_.phases.add_player(peer);
}

void ServerEnd::not_ready_heard(PeerId peer) {
    parts_.phases.not_ready_heard(peer);
}

void ServerEnd::collections_wanted(PeerId peer, const CollectionsWanted& wanted) {
    parts_.part_sender.wanted(peer, wanted);
}

ServerEnd& server_end_of(const NetworkIdentity& object) noexcept {
    ServerEnd* const end = Inside::of(object).server.end;
    if (end == nullptr) [[unlikely]] {
        replayout::detail::fail_assertion(
            "server: this object is not spawned by a server: ask is_server() before", __FILE__,
            __LINE__);
    }
    return *end;
}

}  // namespace replayout::syncvar::detail
