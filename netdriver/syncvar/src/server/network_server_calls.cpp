// SPDX-License-Identifier: MIT
// What a server sends by calls: operations of collections, sections of behaviours that serialize
// themselves, and to owners what nobody else may see.
#include <replayout/netdriver/peer_log.h>
#include <replayout/syncvar/behaviour_type.h>
#include <replayout/syncvar/network_server.h>
#include <replayout/syncvar/sync_collection.h>

#include "behaviour_section.h"
#include "part_sender.h"
#include "prefab_params.h"

#include <bit>

namespace replayout::syncvar {

namespace {

class DriverCall final : public detail::CollectionCall {
  public:
    DriverCall(NetDriver& driver, NetObjectId object, const NetworkPrefab& prefab,
               FunctionIndex function)
        : driver_(driver), object_(object), prefab_(prefab), function_(function) {}

    [[nodiscard]] CallResult run(const void* params) const override {
        return driver_.call_function(object_, function_, params_of(prefab_, function_, params));
    }

  private:
    NetDriver& driver_;
    NetObjectId object_;
    const NetworkPrefab& prefab_;
    FunctionIndex function_;
};

}  // namespace

void NetworkServer::send_collections(NetworkIdentity& object, NetworkBehaviour& component) {
    const NetworkPrefab& prefab = object.prefab();
    const NetworkPrefab::Component& placed = prefab.components()[component.component_index()];
    const bool is_for_owner = placed.settings.sync_mode == SyncMode::Owner;
    for (std::uint64_t bits = component.collection_dirty_bits_; bits != 0; bits &= bits - 1) {
        const auto index = static_cast<std::size_t>(std::countr_zero(bits));
        const NetworkPrefab::Collection& collection = placed.collections[index];
        const DriverCall call(driver_, object.object_, prefab, collection.changes);
        component.collection(index).update_opening(parts_->whole_bytes_max());
        if (component.collection(index).send_waiting(call, prefab.limits().array_count_max)) {
            component.collection_dirty_bits_ &= ~(bits & (~bits + 1));
        }
        if (!is_for_owner) {
            driver_.mark_property_dirty(object.object_, collection.items);
        }
    }
}

void NetworkServer::send_section(NetworkIdentity& object, NetworkBehaviour& component) {
    if (!write_section(component)) {
        return;
    }
    const NetworkPrefab::Component& placed =
        object.prefab().components()[component.component_index()];
    if (placed.settings.sync_mode != SyncMode::Owner) {
        driver_.mark_property_dirty(object.object_, placed.section.initial);
    }
    switch (driver_.call_function(object.object_, placed.section.changes,
                                  &component.section().waiting)) {
        case CallResult::Full:
            return;  // It waits, as what it says cannot be asked for again.
        case CallResult::Ran:
        case CallResult::Sent:
        case CallResult::NotOwned:
            break;
        default:
            log_->write(
                LogLevel::Error, object.owner_,
                "the section of behaviour \"" + placed.type->name + "\" is too large to be sent",
                now_);
    }
    component.has_waiting_section_ = false;
}

bool NetworkServer::send_owner_collections(NetworkBehaviour& component, std::uint32_t epoch) {
    const NetworkIdentity& object = component.identity();
    const NetworkPrefab::Component& placed =
        object.prefab().components()[component.component_index()];
    for (std::size_t i = 0; i < placed.collections.size(); ++i) {
        const NetworkPrefab::Collection& functions = placed.collections[i];
        const DriverCall call(driver_, object.object_, object.prefab(),
                              epoch == 0 ? functions.to_last_owner : functions.to_owner);
        SyncCollection& collection = component.collection(i);
        const CallResult result = collection.send_to_owner(epoch, call);
        if (result == CallResult::Full) {
            return false;
        }
        if (result != CallResult::Sent && result != CallResult::NotOwned) {
            component.log_line(LogLevel::Error, "collection " + component.name_of(collection) +
                                                    " is too large for its owner to be told");
        }
    }
    return true;
}

void NetworkServer::serve_owners() {
    for (NetworkIdentity* object : with_calls_for_owner_) {
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

void NetworkServer::serve_owner_ahead(NetworkIdentity& object) {
    const NetworkConnection* owner = owner_of(object);
    if (owner != nullptr && !owner->is_host() && object.served_owner_ != object.owner_ &&
        serve_owner(object)) {
        object.served_owner_ = object.owner_;
    }
}

bool NetworkServer::serve_owner(NetworkIdentity& object) {
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
