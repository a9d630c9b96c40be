// SPDX-License-Identifier: MIT
#include "server_objects.h"

#include "scene_name.h"

#include <memory>
#include <utility>

namespace replayout::syncvar {

NetworkServer::Objects::Objects(const Environment& environment)
    : environment_(environment), references_(made_, nullptr, environment.resource) {}

NetworkIdentity& NetworkServer::Objects::make(const NetworkPrefab& prefab) {
    auto made = std::make_unique<NetworkIdentity>(prefab, environment_.resource);
    NetworkIdentity& object = *made;
    made_.emplace(&object, std::move(made));
    object.references_ = &references_;
    references_.object_made(object);
    return object;
}

// Spawned objects.

NetworkIdentity* NetworkServer::Objects::find(std::uint64_t net_id) const noexcept {
    const auto found = spawned_.find(net_id);
    return found == spawned_.end() ? nullptr : found->second;
}

const NetworkIdentity* NetworkServer::Objects::twin_of(
    const NetworkIdentity& object) const noexcept {
    const auto found = spawned_in_scene_.find(object.scene_id_);
    return found == spawned_in_scene_.end() ? nullptr : found->second;
}

bool NetworkServer::Objects::begin_spawned(NetworkIdentity& object) {
    if (references_.has_left(object)) {
        references_.settle();  // It is another object from now on.
    }
    object.keep_own_values();
    const SceneName name(object.scene_id_);
    SpawnParameters parameters;
    parameters.stable_name = name.text();
    parameters.location = object.transform.position;
    parameters.rotation = object.transform.rotation;
    parameters.scale = object.transform.scale;
    NetDriver& driver = environment_.driver;
    object.object_ = driver.add_object(object.prefab().layout(), object.handle(), parameters);
    if (object.object_.generation == 0) {
        return false;
    }
    object.net_id_ = driver.guid_of(object.object_).value;
    object.server_ = &environment_.server;
    spawned_.emplace(object.net_id_, &object);
    if (object.scene_id_ != 0) {
        spawned_in_scene_.emplace(object.scene_id_, &object);
    }
    return true;
}

void NetworkServer::Objects::end_spawned(NetworkIdentity& object) {
    environment_.driver.remove_object(object.object_);
    environment_.driver.forget_destroyed(SceneName(object.scene_id_).text());
    spawned_.erase(object.net_id_);
    if (object.scene_id_ != 0) {
        spawned_in_scene_.erase(object.scene_id_);
    }
    object.net_id_ = 0;
    object.object_ = {};
    object.server_ = nullptr;
    object.owner_ = {};
    for (NetworkBehaviour* component : object.components()) {
        component->forget_changes();
    }
    references_.object_left(object);
}

// Channels.

bool NetworkServer::Objects::is_channel(const NetworkIdentity& object) const noexcept {
    return &object.prefab() == &environment_.types.connection_prefab();
}

bool NetworkServer::Objects::begin_channel(NetworkIdentity& channel, PeerId peer) {
    NetDriver& driver = environment_.driver;
    channel.server_ = &environment_.server;
    channel.object_ = driver.add_object(channel.prefab().layout(), channel.handle());
    if (channel.object_.generation == 0) {
        return false;
    }
    channel.net_id_ = driver.guid_of(channel.object_).value;
    channel.owner_ = peer;
    driver.interest().set_relevancy(channel.object_, NetRelevancy::OnlyToOwner);
    driver.set_owner(channel.object_, peer);
    return true;
}

// The end of objects.

void NetworkServer::Objects::free_gone() {
    references_.forget_gone();
    std::erase_if(made_, [](const auto& entry) { return entry.second->is_gone_; });
}

void NetworkServer::Objects::disown_all() noexcept {
    for (const auto& [key, object] : made_) {
        object->net_id_ = 0;
        object->server_ = nullptr;
        object->references_ = nullptr;
    }
}

}  // namespace replayout::syncvar
