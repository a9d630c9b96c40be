// SPDX-License-Identifier: MIT
#include "prefab_members.h"

#include "behaviour_section.h"
#include "client_parts.h"

#include <replayout/syncvar/network_identity.h>
#include <replayout/syncvar/network_server.h>
#include <replayout/syncvar/sync_collection.h>

namespace replayout::syncvar {

// Notifies.

void NetworkPrefab::Members::tell_received(void* block, const void* previous, void* place) {
    const Place& received = *static_cast<const Place*>(place);
    Place::behaviour_at(block, place).sync_var_received(received.index, previous);
}

void NetworkPrefab::Members::tell_items(void* block, const void* /*previous*/, void* place) {
    NetworkBehaviour& behaviour = Place::behaviour_at(block, place);
    behaviour.collection(static_cast<const Place*>(place)->index).items_received();
}

void NetworkPrefab::Members::tell_initial_section(void* block, const void* /*previous*/,
                                                  void* place) {
    NetworkBehaviour& behaviour = Place::behaviour_at(block, place);
    detail::SectionParameters& section = behaviour.section().state.section;
    behaviour.section_received(section, true);
    section.bytes = {};
}

// Collections. A multicast runs on the server, too, which has it all.

void NetworkPrefab::Members::receive_changes(void* block, const void* params, void* place) {
    const NetworkBehaviour& behaviour = Place::behaviour_at(block, place);
    if (!behaviour.is_server()) {
        behaviour.collection(static_cast<const Place*>(place)->index).receive_changes(params);
    }
}

void NetworkPrefab::Members::receive_items(void* block, const void* params, void* place) {
    const NetworkBehaviour& behaviour = Place::behaviour_at(block, place);
    if (!behaviour.is_server()) {
        behaviour.collection(static_cast<const Place*>(place)->index).receive_state(params);
    }
}

void NetworkPrefab::Members::receive_from_owner(void* block, const void* params, void* place) {
    NetworkBehaviour& behaviour = Place::behaviour_at(block, place);
    if (behaviour.is_server()) {
        behaviour.server().take_operations(
            behaviour, behaviour.collection(static_cast<const Place*>(place)->index), params);
    }
}

void NetworkPrefab::Members::receive_as_owner(void* block, const void* params, void* place) {
    const NetworkBehaviour& behaviour = Place::behaviour_at(block, place);
    if (!behaviour.is_server()) {
        behaviour.collection(static_cast<const Place*>(place)->index).receive_as_owner(params);
    }
}

void NetworkPrefab::Members::receive_as_last_owner(void* block, const void* params, void* place) {
    const NetworkBehaviour& behaviour = Place::behaviour_at(block, place);
    if (!behaviour.is_server()) {
        behaviour.collection(static_cast<const Place*>(place)->index).receive_as_last_owner(params);
    }
}

// Sections.

void NetworkPrefab::Members::receive_section(void* block, const void* params, void* place) {
    NetworkBehaviour& behaviour = Place::behaviour_at(block, place);
    if (behaviour.is_server()) {
        return;
    }
    const detail::SectionParameters& received =
        static_cast<const detail::SectionCall*>(params)->section;
    std::uint32_t& number = behaviour.section().state.section.number;
    // The initial section contains earlier sections. One after a gap is for clients that have those
    // between.
    if (received.number == number) {
        ++number;
        behaviour.section_received(received, false);
    }
}

void NetworkPrefab::Members::receive_initial_section(void* block, const void* params, void* place) {
    NetworkBehaviour& behaviour = Place::behaviour_at(block, place);
    if (behaviour.is_server()) {
        return;
    }
    const detail::SectionParameters& received =
        static_cast<const detail::SectionCall*>(params)->section;
    behaviour.section().state.section.number = received.number;
    behaviour.section_received(received, true);
}

// SyncVars of owners.

void NetworkPrefab::Members::take_from_owner(void* block, const void* params, void* place) {
    NetworkBehaviour& behaviour = Place::behaviour_at(block, place);
    const std::byte* section = static_cast<const std::byte*>(params);
    behaviour.server().take_section(behaviour, *reinterpret_cast<const NetworkBehaviour*>(
                                                   section + behaviour.type_->behaviour_offset));
}

void NetworkPrefab::Members::take_from_server(void* block, const void* params, void* place) {
    NetworkBehaviour& behaviour = Place::behaviour_at(block, place);
    if (behaviour.identity().client_ == nullptr) {
        return;  // a host has it already
    }
    const std::byte* section = static_cast<const std::byte*>(params);
    behaviour.client_parts().updates.take_section(
        behaviour,
        *reinterpret_cast<const NetworkBehaviour*>(section + behaviour.type_->behaviour_offset));
}

}  // namespace replayout::syncvar
