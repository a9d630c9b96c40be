// SPDX-License-Identifier: MIT
#include "spawned_objects.h"

#include "client_parts.h"
#include "scene_name.h"

#include <replayout/syncvar/network_prefab.h>

#include <algorithm>
#include <vector>

namespace replayout::syncvar {

NetworkIdentity* NetworkClient::SpawnedObjects::find_other_player(
    const NetworkIdentity& object) const noexcept {
    const auto other = std::find_if(spawned_.begin(), spawned_.end(), [&](const auto& entry) {
        return entry.second != &object && entry.second->is_told_player_;
    });
    return other == spawned_.end() ? nullptr : other->second;
}

NetworkIdentity* NetworkClient::SpawnedObjects::find_or_take(const SpawnInfo& info) {
    // One that it kept while it was not ready.
    NetworkIdentity* known = find(info.guid.value);
    if (known != nullptr && &known->prefab().layout() == &info.layout) {
        return known;
    }
    if (known != nullptr) {
        unspawn(*known, ChannelCloseReason::Destroyed);
    }
    if (const std::uint64_t scene_id = SceneName::parse(info.parameters.stable_name);
        scene_id != 0) {
        const auto kept = std::find_if(spawned_.begin(), spawned_.end(), [&](const auto& entry) {
            return entry.second->is_kept_ && entry.second->scene_id() == scene_id;
        });
        if (kept != spawned_.end()) {
            unspawn(*kept->second, ChannelCloseReason::Destroyed);  // and spawned again meanwhile
        }
    }
    return parts_.sources.take(info);
}

NetworkIdentity* NetworkClient::SpawnedObjects::prepare(const SpawnInfo& info) {
    NetworkIdentity* object = find_or_take(info);
    if (object == nullptr) {
        return nullptr;
    }
    if (parts_.references.has_left(*object)) {
        parts_.references.settle();  // It is another object from now on.
    }
    object->keep_own_values();
    object->net_id_ = info.guid.value;
    object->client_ = &parts_;
    if (object->is_started_ || object->scene_id_ != 0) {
        parts_.waiting.keep_values(*object);  // Hooks run for what differs from these.
    }
    object->reset_values(object->prefab().archetype(),
                         object->is_kept_ && object->is_owned() && info.role.is_owned);
    object->transform = {info.parameters.location.value_or(Vector3{}),
                         info.parameters.rotation.value_or(Quat{0, 0, 0, 1}),
                         info.parameters.scale.value_or(Vector3{1, 1, 1})};
    object->role_ = info.role;
    object->is_client_ = true;
    object->is_initial_ = true;
    object->is_kept_ = false;
    for (NetworkBehaviour* component : object->components()) {
        component->dirty_bits_ = 0;
        component->collection_dirty_bits_ = 0;
        component->received_bits_ = 0;
        component->authority_epoch_ = 0;
        component->is_state_missed_ = false;
    }
    return object;
}

NetworkIdentity* NetworkClient::SpawnedObjects::spawn(const SpawnInfo& info) {
    NetworkIdentity* object = prepare(info);
    if (object == nullptr) {
        return nullptr;
    }
    parts_.roles.object_spawned(*object);
    spawned_.insert_or_assign(object->net_id_, object);
    parts_.starts.object_spawned(*object);
    return object;
}

void NetworkClient::SpawnedObjects::despawn(NetworkIdentity& object, ChannelCloseReason reason) {
    if (reason == ChannelCloseReason::Relevancy && !parts_.readiness.is_spawn_finished() &&
        object.is_started_) {
        // A client that is not ready keeps its started objects. Whether the server shows this one
        // again is known when all are there.
        object.is_kept_ = true;
        parts_.references.note_all(object);
        parts_.starts.forget(object);
        return;
    }
    unspawn(object, reason);
}

void NetworkClient::SpawnedObjects::unspawn(NetworkIdentity& object, ChannelCloseReason reason) {
    parts_.starts.forget(object);
    parts_.waiting.forget(object.net_id());
    parts_.wanted.forget(object.net_id());
    object.stop_client();
    parts_.roles.forget_player(object);
    parts_.manager.on_client_unspawn(parts_.client, object, reason);
    spawned_.erase(object.net_id_);
    object.net_id_ = 0;
    object.is_client_ = false;
    object.is_kept_ = false;
    object.is_refreshed_ = false;
    for (NetworkBehaviour* component : object.components()) {
        component->dirty_bits_ = 0;
        component->collection_dirty_bits_ = 0;
        component->waiting_hooks_ = 0;
        component->authority_epoch_ = 0;
    }
    parts_.references.object_left(object);
    StoredReferences::clear_all(object);
    parts_.sources.give_back(object, reason);
}

void NetworkClient::SpawnedObjects::unspawn_kept() {
    std::vector<NetworkIdentity*> kept;
    for (const auto& [net_id, object] : spawned_) {
        if (object->is_kept_) {
            kept.push_back(object);
        }
    }
    for (NetworkIdentity* object : kept) {
        if (object->is_kept_) {  // The end of another one may have ended it.
            unspawn(*object, ChannelCloseReason::Relevancy);
        }
    }
}

void NetworkClient::SpawnedObjects::unspawn_all() {
    while (!spawned_.empty()) {
        unspawn(*spawned_.begin()->second, ChannelCloseReason::Disconnected);
    }
}

}  // namespace replayout::syncvar
