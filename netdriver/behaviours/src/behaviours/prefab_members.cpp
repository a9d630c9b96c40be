// SPDX-License-Identifier: MIT
#include "prefab_members.h"

#include "behaviour_section.h"
#include "client_parts.h"
#include "received_section.h"
#include "server_parts.h"

namespace replayout {

namespace {

/// On a client: the behaviour reads the section. One that it could not read is counted and logged.
void receive(detail::ObjectComponent& component, const detail::SectionParameters& section,
             bool initial_state) {
    const std::string misread = detail::read_section(component, section, initial_state);
    if (!misread.empty()) {
        detail::client_parts_of(component.identity())
            .log.write_failure(&NetworkClientCounters::sections_misread, misread);
    }
}

}  // namespace

// Notifies.

void NetworkPrefab::Members::tell_received(void* block, const void* previous, void* path) {
    const std::uint32_t variable = static_cast<const MemberPath*>(path)->index;
    detail::ObjectComponent& component = component_at(block, path);
    component.owner().note_received(variable);
    component.hooks().value_received(component, variable, previous);
}

void NetworkPrefab::Members::tell_items(void* block, const void* /*previous*/, void* path) {
    collection_at(component_at(block, path), path).items_received();
}

void NetworkPrefab::Members::tell_initial_section(void* block, const void* /*previous*/,
                                                  void* path) {
    detail::ObjectComponent& component = component_at(block, path);
    detail::SectionParameters& section = component.section().state.section;
    receive(component, section, true);
    section.bytes = {};
}

// Collections. A multicast runs on the server, too, which has it all.

void NetworkPrefab::Members::receive_from_owner(void* block, const void* params, void* path) {
    detail::ObjectComponent& component = component_at(block, path);
    if (detail::ServerParts* server = detail::Inside::of(component.identity()).server.end) {
        server->authority.take_operations(component, collection_at(component, path), params);
    }
}

// Sections.

template <bool IsInitial>
void NetworkPrefab::Members::receive_section(void* block, const void* params, void* path) {
    detail::ObjectComponent& component = component_at(block, path);
    if (component.identity().is_server()) {
        return;
    }
    const detail::SectionParameters& received =
        static_cast<const detail::SectionCall*>(params)->section;
    std::uint32_t& number = component.section().state.section.number;
    // The initial section contains earlier sections. One after a gap is for clients that have those
    // between.
    if (IsInitial || received.number == number) {
        number = received.number + (IsInitial ? 0 : 1);
        receive(component, received, IsInitial);
    }
}
template void NetworkPrefab::Members::receive_section<false>(void*, const void*, void*);
template void NetworkPrefab::Members::receive_section<true>(void*, const void*, void*);

// SyncVars of owners.

void NetworkPrefab::Members::take_from_owner(void* block, const void* params, void* path) {
    detail::ObjectComponent& component = component_at(block, path);
    detail::server_parts_of(component.identity())
        .authority.take_section(component, detail::ReceivedSection(params, component.type()));
}

void NetworkPrefab::Members::take_from_server(void* block, const void* params, void* path) {
    detail::ObjectComponent& component = component_at(block, path);
    if (detail::ClientParts* client = detail::Inside::of(component.identity()).client.end) {
        client->updates.take_section(component, detail::ReceivedSection(params, component.type()));
    }  // else a host, which has it already
}

}  // namespace replayout
