// SPDX-License-Identifier: MIT
#include "spawned_objects.h"

#include "client_parts.h"
#include "inside.h"
#include "scene_name.h"

#include <replayout/behaviours/network_prefab.h>

#include <algorithm>

namespace replayout {

bool NetworkClient::SpawnedObjects::is_leaving(ObjectHandle handle) const noexcept {
    const NetworkIdentity* const named = detail::object_of(handle);
    return !handle.is_null() && parts_.objects.contains(named) && named->is_spawned() &&
           !detail::Inside::of(*named).client.is_kept &&
           parts_.driver.role_of(handle).role == NetRole::None;
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
            return detail::Inside::of(*entry.second).client.is_kept &&
                   entry.second->scene_id() == scene_id;
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
    if (parts_.objects.has_left(*object)) {
        parts_.objects.settle();  // It is another object from now on.
    }
    detail::ObjectParts& parts = detail::Inside::of(*object);
    if (parts.scene_id != 0) {
        parts.components.keep_own_values();
    }
    parts.net_id = info.guid.value;
    parts.client.end = &parts_;
    if (parts.local.is_started() || parts.scene_id != 0) {
        parts_.waiting.keep_values(*object);  // Hooks run for what differs from these.
    }
    parts.components.reset_values(detail::Inside::of(object->prefab().archetype()).components,
                                  parts.client.is_kept && object->is_owned() && info.role.is_owned);
    object->transform = {info.parameters.location.value_or(Vector3{}),
                         info.parameters.rotation.value_or(Quat{0, 0, 0, 1}),
                         info.parameters.scale.value_or(Vector3{1, 1, 1})};
    parts.local.set_role(info.role);
    parts.local.set_client(true);
    parts.client.is_initial = true;
    parts.client.is_kept = false;
    for (NetworkBehaviour* behaviour : object->components()) {
        detail::ObjectComponent& component = detail::Inside::of(*behaviour);
        component.changes().clear();
        component.owner().reset();
    }
    return object;
}

NetworkIdentity* NetworkClient::SpawnedObjects::spawn(const SpawnInfo& info) {
    NetworkIdentity* object = prepare(info);
    if (object == nullptr) {
        return nullptr;
    }
    if (object->is_local_player()) {
        local_player_ = object;
    }
    spawned_.insert_or_assign(object->net_id(), object);
    spawned_now_.push_back(object);
    return object;
}

void NetworkClient::SpawnedObjects::start_all(bool is_spawn_finished) {
    for (NetworkIdentity* object : spawned_now_) {
        detail::Inside::of(*object).client.is_initial = false;
    }
    if (!is_spawn_finished) {
        return;
    }
    std::vector<NetworkIdentity*> objects;
    objects.swap(spawned_now_);
    std::sort(objects.begin(), objects.end(),
              [](const auto* left, const auto* right) { return left->net_id() < right->net_id(); });
    for (NetworkIdentity* object : objects) {
        if (object->is_spawned()) {
            start(*object);
        }
    }
    parts_.waiting.run_all();
    parts_.driver.run_kept_calls();
}

bool NetworkClient::SpawnedObjects::start_early(NetworkIdentity& object) {
    const std::uint64_t net_id = object.net_id();
    std::erase(spawned_now_, &object);
    detail::Inside::of(object).client.is_initial = false;
    start(object);
    return find(net_id) == &object;
}

void NetworkClient::SpawnedObjects::start(NetworkIdentity& object) {
    // Each of these may end the object.
    detail::ObjectParts& parts = detail::Inside::of(object);
    parts.client.is_refreshed = false;
    parts_.waiting.run(object.net_id());
    if (object.is_spawned()) {
        parts.local.start(parts.components);
    }
    if (object.is_spawned()) {
        tell(object, parts.local.role());
    }
    if (object.is_spawned()) {
        parts_.driver.run_kept_calls(detail::handle_of(object));
    }
}

void NetworkClient::SpawnedObjects::despawn(NetworkIdentity& object, ChannelCloseReason reason) {
    if (reason == ChannelCloseReason::Relevancy && !parts_.readiness.is_spawn_finished() &&
        detail::Inside::of(object).local.is_started()) {
        // A client that is not ready keeps its started objects. Whether the server shows this one
        // again is known when all are there.
        detail::Inside::of(object).client.is_kept = true;
        parts_.objects.note_all(object);
        std::erase(spawned_now_, &object);
        return;
    }
    unspawn(object, reason);
}

void NetworkClient::SpawnedObjects::unspawn(NetworkIdentity& object, ChannelCloseReason reason) {
    std::erase(spawned_now_, &object);
    parts_.waiting.forget(object.net_id());
    parts_.wanted.forget(object.net_id());
    detail::ObjectParts& parts = detail::Inside::of(object);
    parts.local.stop(parts.components);
    forget_player(object);
    parts_.manager.on_client_unspawn(parts_.client, object, reason);
    spawned_.erase(parts.net_id);
    parts.net_id = 0;
    parts.local.set_client(false);
    parts.client.is_kept = false;
    parts.client.is_refreshed = false;
    for (NetworkBehaviour* behaviour : object.components()) {
        detail::ObjectComponent& component = detail::Inside::of(*behaviour);
        component.changes().clear();
        component.hooks().forget_waiting();
        component.owner().end();
    }
    parts_.objects.object_left(object);
    StoredReferences::clear_all(object);
    parts_.sources.give_back(object, reason);
}

void NetworkClient::SpawnedObjects::role_changed(NetworkIdentity& object, const ObjectRole& role) {
    if (role.is_owned && !object.is_owned()) {
        for (NetworkBehaviour* behaviour : object.components()) {
            detail::Inside::of(*behaviour).owner().forget_received();
        }
        parts_.updates.object_changed(object);
    }
    if (detail::LocalRole& local = detail::Inside::of(object).local; local.is_started()) {
        tell(object, role);
    } else {
        local.set_role(role);
    }
}

void NetworkClient::SpawnedObjects::tell(NetworkIdentity& object, const ObjectRole& role) {
    if (role.is_player) {
        local_player_ = &object;
    }
    detail::ObjectParts& parts = detail::Inside::of(object);
    parts.local.tell(parts.components, role);
    if (!role.is_player) {
        forget_player(object);
    }
}

void NetworkClient::SpawnedObjects::forget_player(const NetworkIdentity& object) {
    if (local_player_ != &object) {
        return;
    }
    // The one before it, where both changed back before this client was told of that.
    const auto other = std::find_if(spawned_.begin(), spawned_.end(), [&](const auto& entry) {
        return entry.second != &object && detail::Inside::of(*entry.second).local.is_told_player();
    });
    local_player_ = other == spawned_.end() ? nullptr : other->second;
}

void NetworkClient::SpawnedObjects::unspawn_kept() {
    std::vector<NetworkIdentity*> kept;
    for (const auto& [net_id, object] : spawned_) {
        if (detail::Inside::of(*object).client.is_kept) {
            kept.push_back(object);
        }
    }
    for (NetworkIdentity* object : kept) {
        // The end of another one may have ended it.
        if (detail::Inside::of(*object).client.is_kept) {
            unspawn(*object, ChannelCloseReason::Relevancy);
        }
    }
}

void NetworkClient::SpawnedObjects::unspawn_all() {
    while (!spawned_.empty()) {
        unspawn(*spawned_.begin()->second, ChannelCloseReason::Disconnected);
    }
}

}  // namespace replayout
