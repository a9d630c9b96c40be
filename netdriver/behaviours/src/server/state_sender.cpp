// SPDX-License-Identifier: MIT
#include "state_sender.h"

#include "behaviour_section.h"
#include "prefab_params.h"
#include "server_parts.h"

#include <replayout/behaviours/behaviour_type.h>
#include <replayout/unet/network_writer.h>

#include <bit>

namespace replayout {

void NetworkServer::StateSender::begin(NetworkIdentity& object) {
    for (NetworkBehaviour* behaviour : object.components()) {
        detail::ObjectComponent& component = detail::Inside::of(*behaviour);
        component.forget_changes();  // All of it is new.
        for (std::size_t i = 0; i < component.type().collections.size(); ++i) {
            component.collection(i).update_opening(parts_.part_sender.whole_bytes_max());
        }
    }
}

void NetworkServer::StateSender::send_changed() {
    is_sending_ = true;
    // A behaviour that serializes itself may change others.
    sending_.swap(changed_);
    for (NetworkIdentity* object : sending_) {
        detail::Inside::of(*object).is_queued = false;
        bool is_waiting = false;
        for (NetworkBehaviour* behaviour : object->components()) {
            detail::ObjectComponent& component = detail::Inside::of(*behaviour);
            if (component.is_due(parts_.now)) {
                send(*object, component);
            }
            is_waiting = is_waiting || component.has_changes();
        }
        if (is_waiting) {
            add(*object);  // It is not due yet.
        }
    }
    sending_.clear();
    is_sending_ = false;
}

bool NetworkServer::StateSender::send_ahead(NetworkIdentity& object) {
    if (is_sending_ || !object.is_spawned()) {
        return true;  // within on_serialize() nothing is whole
    }
    const bool was_sending = std::exchange(is_sending_, true);
    if (object.prefab().has_calls_for_owner()) {
        parts_.owner_values.serve_ahead(object);
    }
    bool is_sent = parts_.authority.send_state_ahead(object);
    for (NetworkBehaviour* behaviour : object.components()) {
        detail::ObjectComponent& component = detail::Inside::of(*behaviour);
        if (!component.has_changes()) {
            continue;
        }
        send(object, component);
        is_sent =
            is_sent && !component.has_waiting_section() && component.changes().collections() == 0;
        for (std::size_t i = 0; i < component.type().collections.size(); ++i) {
            // The object is compared in the flush, after more may have changed.
            component.collection(i).stop_coalescing();
        }
    }
    is_sending_ = was_sending;
    return is_sent;
}

void NetworkServer::StateSender::keep_last_sections(NetworkIdentity& object) {
    if (parts_.connections.is_empty()) {
        return;
    }
    const bool was_sending = std::exchange(is_sending_, true);
    for (NetworkBehaviour* behaviour : object.components()) {
        detail::ObjectComponent& component = detail::Inside::of(*behaviour);
        if (component.type().has_custom_serialization) {
            component.section().keep_last(component);
        }
    }
    is_sending_ = was_sending;
}

void NetworkServer::StateSender::send(NetworkIdentity& object, detail::ObjectComponent& component) {
    if (component.type().has_custom_serialization) {
        send_section(object, component);
    } else {
        mark_sync_vars(object, component);
    }
    send_collections(object, component);
    component.changes().sent(parts_.now);
}

void NetworkServer::StateSender::mark_sync_vars(NetworkIdentity& object,
                                                detail::ObjectComponent& component) {
    const NetworkPrefab::Component& entry = object.prefab().components()[component.index()];
    const NetObjectId id = detail::Inside::of(object).server.id;
    std::uint64_t bits = component.changes().sync_vars();
    for (; bits != 0; bits &= bits - 1) {
        const auto variable = static_cast<std::size_t>(std::countr_zero(bits));
        if (variable >= entry.parents.size()) {
            break;  // Bits of the game's own, without a variable.
        }
        const std::uint32_t first = entry.parents[variable].value;
        const std::uint32_t count = entry.type->sync_vars[variable].property.array_dim;
        for (std::uint32_t i = 0; i < count; ++i) {
            parts_.driver.mark_property_dirty(id,
                                              ParentIndex{static_cast<std::uint16_t>(first + i)});
        }
    }
    component.changes().clear_sync_vars();
}

void NetworkServer::StateSender::send_collections(NetworkIdentity& object,
                                                  detail::ObjectComponent& component) {
    const NetworkPrefab& prefab = object.prefab();
    const NetworkPrefab::Component& entry = prefab.components()[component.index()];
    const NetObjectId id = detail::Inside::of(object).server.id;
    const bool is_for_owner = entry.settings.sync_mode == SyncMode::Owner;
    for (std::uint64_t bits = component.changes().collections(); bits != 0; bits &= bits - 1) {
        const auto index = static_cast<std::size_t>(std::countr_zero(bits));
        const NetworkPrefab::Collection& collection = entry.collections[index];
        const auto call = call_of(parts_.driver, id, prefab, collection.changes);
        component.collection(index).update_opening(parts_.part_sender.whole_bytes_max());
        if (component.collection(index).send_waiting(call, prefab.limits().array_count_max)) {
            component.changes().clear_collection(index);
        }
        if (!is_for_owner) {
            parts_.driver.mark_property_dirty(id, collection.items);
        }
    }
}

void NetworkServer::StateSender::send_section(NetworkIdentity& object,
                                              detail::ObjectComponent& component) {
    if (!write_section(component)) {
        return;
    }
    const NetworkPrefab::Component& entry = object.prefab().components()[component.index()];
    const NetObjectId id = detail::Inside::of(object).server.id;
    if (entry.settings.sync_mode != SyncMode::Owner) {
        parts_.driver.mark_property_dirty(id, entry.section.initial);
    }
    switch (parts_.driver.call_function(id, entry.section.changes, &component.section().waiting)) {
        case CallResult::Full:
            return;  // It waits, as what it says cannot be asked for again.
        case CallResult::Ran:
        case CallResult::Sent:
        case CallResult::NotOwned:
            break;
        default:
            parts_.log.write(
                LogLevel::Error, object.connection_to_client(),
                "the section of behaviour \"" + entry.type->name + "\" is too large to be sent");
    }
    component.set_waiting_section(false);
}

bool NetworkServer::StateSender::write_section(detail::ObjectComponent& component) {
    if (component.has_waiting_section()) {
        return true;
    }
    detail::PendingChanges& changes = component.changes();
    if (changes.sync_vars() == 0) {
        return false;
    }
    if (!component.is_sent_operations()) {
        changes.clear_sync_vars();  // A client that joins later is sent all of it.
        return false;
    }
    if (section_room_ == nullptr) {
        section_room_ = std::make_unique_for_overwrite<std::byte[]>(detail::section_bytes_max);
    }
    NetworkWriter writer({section_room_.get(), detail::section_bytes_max});
    const bool is_done = detail::Inside::behaviour_of(component).on_serialize(writer, false);
    if (writer.failed()) {
        // It would fail in each flush.
        parts_.log.write(LogLevel::Error, component.identity().connection_to_client(),
                         detail::describe_writer(component.type().name, writer));
        changes.clear_sync_vars();
        return false;
    }
    if (!is_done) {
        return false;
    }
    changes.clear_sync_vars();
    component.set_waiting_section(true);
    component.section().changes_written(writer.bytes());
    return true;
}

}  // namespace replayout
