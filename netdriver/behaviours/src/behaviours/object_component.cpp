// SPDX-License-Identifier: MIT
#include "behaviour_section.h"
#include "client_parts.h"
#include "inside.h"
#include "server_parts.h"
#include "stored_references.h"

#include <replayout/behaviours/collection_end.h>
#include <replayout/behaviours/object_component.h>
#include <replayout/reflection/printable.h>

namespace replayout::detail {

// Where it belongs.

void ObjectComponent::bind(NetworkIdentity& object, const BehaviourType& type,
                           const SyncSettings& settings, std::uint8_t index) {
    identity_ = &object;
    type_ = &type;
    settings_ = settings;
    index_ = index;
    for (std::uint32_t i = 0; i < type.sync_vars.size(); ++i) {
        const SyncVarInfo& variable = type.sync_vars[i];
        REPLAYOUT_ASSERT(variable.property.offset > type.behaviour_offset);
        SyncVarLink link;
        link.distance = (variable.property.offset - type.behaviour_offset) & sync_var_distance_max;
        link.bit = i & 0xFF;
        variable.bind(value_of(i), link);
    }
    for (std::uint32_t i = 0; i < type.collections.size(); ++i) {
        collection(i).bind(*this, static_cast<std::uint8_t>(i));
    }
}

CollectionEnd& ObjectComponent::collection(std::size_t index) const noexcept {
    const SyncCollectionInfo& info = type_->collections[index];
    return Inside::of(info.at(object() + info.offset));
}

BehaviourSection& ObjectComponent::section() const noexcept {
    const ObjectComponents& components = Inside::of(*identity_).components;
    const NetworkPrefab::Component& entry = components.prefab().components()[index_];
    return *reinterpret_cast<BehaviourSection*>(components.block() + entry.section.offset);
}

void ObjectComponent::log_line(LogLevel level, std::string_view text) const {
    const ObjectParts& object = Inside::of(*identity_);
    if (ServerParts* server = object.server.end) {
        server->log.write(level, object.server.owner.peer, text);
    } else if (ClientParts* client = object.client.end) {
        client->log.write(level, text);
    } else {
        log(level, printable(text));
    }
}

// Its changes.

void ObjectComponent::mark_sync_vars(std::uint64_t mask) {
    if (!identity_->is_spawned() || mask == 0 || !(identity_->is_server() || is_told_to_server())) {
        return;
    }
    changes_.mark_sync_vars(mask);
    tell_changed();
}

void ObjectComponent::mark_collection(std::size_t index) {
    if (!identity_->is_spawned()) {
        return;
    }
    changes_.mark_collection(index);
    tell_changed();
}

void ObjectComponent::tell_changed() {
    const ObjectParts& object = Inside::of(*identity_);
    if (object.server.end != nullptr) {
        object.server.end->states.add(*identity_);
    } else if (object.client.end != nullptr) {
        object.client.end->updates.object_changed(*identity_);
    }
}

bool ObjectComponent::holds_back(ParentIndex property) const noexcept {
    const NetworkPrefab::Component& entry = identity_->prefab().components()[index_];
    const auto has = [](std::uint64_t bits, std::uint32_t index) {
        return (bits >> index & 1) != 0;
    };
    for (std::uint32_t i = 0; i < entry.parents.size(); ++i) {
        const std::uint32_t first = entry.parents[i].value;
        const std::uint32_t count = type_->sync_vars[i].property.array_dim;
        if (property.value >= first && property.value < first + count) {
            return has(changes_.sync_vars(), i);
        }
    }
    if (settings_.sync_mode == SyncMode::Owner) {
        return false;  // All else goes by calls.
    }
    for (std::uint32_t i = 0; i < entry.collections.size(); ++i) {
        if (entry.collections[i].items == property) {
            return has(changes_.collections(), i);
        }
    }
    return type_->has_custom_serialization && entry.section.initial == property && has_changes();
}

void ObjectComponent::forget_changes() {
    changes_.clear();
    has_waiting_section_ = false;
    for (std::size_t i = 0; i < type_->collections.size(); ++i) {
        CollectionEnd& waiting = collection(i);
        waiting.forget(waiting.waiting_count());
        waiting.begin_anew();
    }
    if (type_->has_custom_serialization) {
        section().begin_anew(*this);
    }
}

// The ends that decide about it, and that are sent it.

bool ObjectComponent::is_told_to_server() const noexcept {
    return settings_.sync_direction == SyncDirection::ClientToServer && identity_->is_owned() &&
           !identity_->is_server();
}

bool ObjectComponent::is_sent_operations() const noexcept {
    const ServerRecord& object = Inside::of(*identity_).server;
    if (object.end == nullptr || !identity_->is_spawned()) {
        return false;
    }
    return settings_.sync_mode == SyncMode::Owner ? object.owner.served.value != 0
                                                  : !object.end->connections.is_empty();
}

bool ObjectComponent::must_wait() const noexcept {
    return Inside::of(*identity_).must_wait();
}

// SyncVars.

void ObjectComponent::note_references(std::uint32_t variable) const {
    if (StoredReferences* references = Inside::of(*identity_).references) {
        references->note(type_->sync_vars[variable].property, value_of(variable));
    }
}

}  // namespace replayout::detail
