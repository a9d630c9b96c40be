// SPDX-License-Identifier: MIT
#include "owner_values.h"

#include "behaviour_section.h"
#include "inside.h"
#include "prefab_params.h"
#include "server_parts.h"

#include <replayout/behaviours/behaviour_type.h>

namespace replayout {

void NetworkServer::OwnerValues::add(NetworkIdentity& object) {
    if (object.prefab().has_calls_for_owner()) {
        objects_.push_back(&object);
    }
}

void NetworkServer::OwnerValues::remove(NetworkIdentity& object) {
    detail::OwnerRecord& owner = detail::Inside::of(object).server.owner;
    owner.served = {};
    owner.was_open = false;
    std::erase(objects_, &object);
}

void NetworkServer::OwnerValues::serve() {
    for (NetworkIdentity* object : objects_) {
        const NetObjectId id = detail::Inside::of(*object).server.id;
        detail::OwnerRecord& record = detail::Inside::of(*object).server.owner;
        const PeerId owner = record.peer;
        const bool is_shown = owner.value != 0 && parts_.driver.is_relevant_for(owner, id);
        const bool is_open = is_shown && parts_.driver.connection_shadow(owner, id).has_value();
        // Between two flushes it may have been hidden and shown: then its channel is opened anew.
        const bool was_closed =
            record.was_open && !is_open && !(is_shown && parts_.driver.is_dormant_for(owner, id));
        record.was_open = is_open;
        if (!is_shown || was_closed || record.served != owner) {
            record.served = {};
        }
        if (is_shown && record.served != owner && serve_owner(*object)) {
            record.served = owner;
        }
    }
}

void NetworkServer::OwnerValues::serve_ahead(NetworkIdentity& object) {
    const NetworkConnection* owner = parts_.connections.owner_of(object);
    detail::OwnerRecord& record = detail::Inside::of(object).server.owner;
    if (owner != nullptr && !owner->is_host() && record.served != record.peer &&
        serve_owner(object)) {
        record.served = record.peer;
    }
}

bool NetworkServer::OwnerValues::serve_owner(NetworkIdentity& object) {
    const NetObjectId id = detail::Inside::of(object).server.id;
    for (NetworkBehaviour* behaviour : object.components()) {
        detail::ObjectComponent& component = detail::Inside::of(*behaviour);
        const NetworkPrefab::Component& entry = object.prefab().components()[component.index()];
        if (entry.settings.sync_mode != SyncMode::Owner) {
            continue;
        }
        for (std::size_t i = 0; i < entry.collections.size(); ++i) {
            detail::CollectionEnd& collection = component.collection(i);
            const auto call =
                call_of(parts_.driver, id, object.prefab(), entry.collections[i].items_function);
            if (collection.send_state(call) != CallResult::Sent) {
                return false;
            }
            collection.forget(collection.waiting_count());  // It contains them.
            collection.begin_anew();
        }
        if (!entry.type->has_custom_serialization) {
            continue;
        }
        detail::BehaviourSection& section = component.section();
        detail::SectionCall call{section.write_initial(component)};
        call.section.number = section.state.section.number;
        if (parts_.driver.call_function(id, entry.section.initial_function, &call) !=
            CallResult::Sent) {
            return false;
        }
        component.set_waiting_section(false);
        component.changes().clear_sync_vars();
    }
    return true;
}

}  // namespace replayout
