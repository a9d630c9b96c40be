// SPDX-License-Identifier: MIT
#include "owner_values.h"

#include "behaviour_section.h"
#include "driver_call.h"

#include <replayout/syncvar/behaviour_type.h>

namespace replayout::syncvar {

void NetworkServer::OwnerValues::add(NetworkIdentity& object) {
    if (object.prefab().has_calls_for_owner()) {
        objects_.push_back(&object);
    }
}

void NetworkServer::OwnerValues::remove(NetworkIdentity& object) {
    object.served_owner_ = {};
    object.was_open_for_owner_ = false;
    std::erase(objects_, &object);
}

void NetworkServer::OwnerValues::serve() {
    for (NetworkIdentity* object : objects_) {
        const PeerId owner = object->owner_;
        const bool is_shown = owner.value != 0 && driver_.is_relevant_for(owner, object->object_);
        const bool is_open =
            is_shown && driver_.connection_shadow(owner, object->object_).has_value();
        // Between two flushes it may have been hidden and shown: then its channel is opened anew.
        const bool was_closed = object->was_open_for_owner_ && !is_open &&
                                !(is_shown && driver_.is_dormant_for(owner, object->object_));
        object->was_open_for_owner_ = is_open;
        if (!is_shown || was_closed || object->served_owner_ != owner) {
            object->served_owner_ = {};
        }
        if (is_shown && object->served_owner_ != owner && serve_owner(*object)) {
            object->served_owner_ = owner;
        }
    }
}

void NetworkServer::OwnerValues::serve_ahead(NetworkIdentity& object) {
    const NetworkConnection* owner = connections_.owner_of(object);
    if (owner != nullptr && !owner->is_host() && object.served_owner_ != object.owner_ &&
        serve_owner(object)) {
        object.served_owner_ = object.owner_;
    }
}

bool NetworkServer::OwnerValues::serve_owner(NetworkIdentity& object) {
    for (NetworkBehaviour* component : object.components()) {
        const NetworkPrefab::Component& placed =
            object.prefab().components()[component->component_index()];
        if (placed.settings.sync_mode != SyncMode::Owner) {
            continue;
        }
        for (std::size_t i = 0; i < placed.collections.size(); ++i) {
            SyncCollection& collection = component->collection(i);
            const DriverCall call(driver_, object.object_, object.prefab(),
                                  placed.collections[i].items_function);
            if (collection.send_state(call) != CallResult::Sent) {
                return false;
            }
            collection.forget(collection.waiting_count());  // It contains them.
            collection.begin_anew();
        }
        if (!placed.type->has_custom_serialization) {
            continue;
        }
        detail::SectionCall call{component->initial_section()};
        call.section.number = component->section().state.section.number;
        if (driver_.call_function(object.object_, placed.section.initial_function, &call) !=
            CallResult::Sent) {
            return false;
        }
        component->has_waiting_section_ = false;
        component->dirty_bits_ = 0;
    }
    return true;
}

}  // namespace replayout::syncvar
