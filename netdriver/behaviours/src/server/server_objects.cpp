// SPDX-License-Identifier: MIT
#include "server_objects.h"

#include "scene_name.h"
#include "server_parts.h"

#include <string>

namespace replayout {

NetworkServer::Objects::Objects(detail::ServerParts& parts)
    : PartOf(parts), made_(nullptr, parts.resource) {}

// Spawned objects.

bool NetworkServer::Objects::spawn(NetworkIdentity& object, NetworkConnection* owner) {
    if (!may_spawn(object)) {
        return false;
    }
    if (!begin_spawned(object)) {
        return parts_.log.refuse(owner == nullptr ? PeerId{} : owner->peer(),
                                 "an object is not spawned: the line before says why");
    }
    parts_.host.object_spawned(object);
    parts_.observers.object_spawned(object);
    if (owner != nullptr) {
        parts_.authority.set_owner(object, *owner);
    }
    parts_.states.begin(object);
    parts_.owner_values.add(object);
    detail::Inside::of(object).components.for_each(&NetworkBehaviour::on_start_server);
    return object.is_spawned();  // It may have ended itself.
}

bool NetworkServer::Objects::may_spawn(const NetworkIdentity& object) {
    const bool is_gone = detail::Inside::of(object).is_gone;
    if (object.is_spawned() || is_gone || is_channel(object)) {
        return parts_.log.refuse(object.connection_to_client(),
                                 "spawn: " + Log::name_of(object) +
                                     (is_gone ? " was destroyed" : " is spawned already"));
    }
    if (const auto twin = spawned_in_scene_.find(object.scene_id());
        twin != spawned_in_scene_.end()) {
        return parts_.log.refuse(PeerId{}, "an object of prefab \"" + object.prefab().name() +
                                               "\" is not spawned: its scene id " +
                                               std::to_string(object.scene_id()) +
                                               " is that of a spawned object of prefab \"" +
                                               twin->second->prefab().name() + "\"");
    }
    return true;
}

void NetworkServer::Objects::unspawn(NetworkIdentity& object) {
    detail::ObjectParts& parts = detail::Inside::of(object);
    if (!object.is_spawned() || parts.is_stopping || is_channel(object)) {
        parts_.log.refuse(object.connection_to_client(),
                          "unspawn: " + Log::name_of(object) + " is not spawned");
        return;
    }
    parts.is_stopping = true;
    parts_.host.stop(object);
    parts.components.for_each(&NetworkBehaviour::on_stop_server);
    parts_.states.keep_last_sections(object);
    parts.is_stopping = false;
    if (NetworkConnection* owner = parts_.connections.owner_of(object)) {
        if (owner->identity_ == &object) {
            parts_.authority.set_player(*owner, nullptr);
        }
        parts_.authority.clear_owner(object);
    }
    parts_.observers.forget(object);
    end_spawned(object);
    parts_.owner_values.remove(object);
    HostView::forget(object);
}

void NetworkServer::Objects::destroy(NetworkIdentity& object) {
    detail::ObjectParts& parts = detail::Inside::of(object);
    if (parts.is_gone || is_channel(object)) {
        parts_.log.refuse(PeerId{},
                          "destroy: " + Log::name_of(object) +
                              (parts.is_gone ? " was destroyed already" : " is the server's own"));
        return;
    }
    if (object.is_spawned() && !parts.is_stopping) {
        unspawn(object);
    }
    if (parts.scene_id != 0) {
        parts.components.keep_own_values();
        parts.components.restore_own_values();
        return;
    }
    made_.destroy(object);
}

void NetworkServer::Objects::destroy_owned(NetworkConnection& connection) {
    while (!connection.owned_.empty()) {
        NetworkIdentity* object = connection.owned_.back();
        destroy(*object);
        if (!connection.owned_.empty() && connection.owned_.back() == object) {
            connection.owned_.pop_back();
        }
    }
}

void NetworkServer::Objects::free_gone() {
    if (parts_.host.keeps_calls() || !made_.has_gone()) {
        return;
    }
    parts_.states.forget_gone();
    parts_.authority.forget_gone();
    parts_.host.forget_gone();
    made_.free_gone();
}

bool NetworkServer::Objects::begin_spawned(NetworkIdentity& object) {
    if (made_.has_left(object)) {
        made_.settle();  // It is another object from now on.
    }
    detail::ObjectParts& parts = detail::Inside::of(object);
    if (parts.scene_id != 0) {
        parts.components.keep_own_values();
    }
    const SceneName name(parts.scene_id);
    SpawnParameters parameters;
    parameters.stable_name = name.text();
    parameters.location = object.transform.position;
    parameters.rotation = object.transform.rotation;
    parameters.scale = object.transform.scale;
    NetDriver& driver = parts_.driver;
    parts.server.id =
        driver.add_object(object.prefab().layout(), detail::handle_of(object), parameters);
    if (parts.server.id.generation == 0) {
        return false;
    }
    parts.net_id = driver.guid_of(parts.server.id).value;
    parts.server.end = &parts_;
    spawned_.emplace(parts.net_id, &object);
    if (parts.scene_id != 0) {
        spawned_in_scene_.emplace(parts.scene_id, &object);
    }
    return true;
}

void NetworkServer::Objects::end_spawned(NetworkIdentity& object) {
    detail::ObjectParts& parts = detail::Inside::of(object);
    parts_.driver.remove_object(parts.server.id);
    parts_.driver.forget_destroyed(SceneName(parts.scene_id).text());
    spawned_.erase(parts.net_id);
    if (parts.scene_id != 0) {
        spawned_in_scene_.erase(parts.scene_id);
    }
    parts.net_id = 0;
    parts.server.id = {};
    parts.server.end = nullptr;
    parts.server.owner.peer = {};
    for (NetworkBehaviour* behaviour : object.components()) {
        detail::Inside::of(*behaviour).forget_changes();
    }
    made_.object_left(object);
}

// Channels.

bool NetworkServer::Objects::is_channel(const NetworkIdentity& object) const noexcept {
    return &object.prefab() == &parts_.types.connection_prefab();
}

NetworkIdentity* NetworkServer::Objects::make_channel(PeerId peer) {
    NetworkIdentity& channel = made_.make(parts_.types.connection_prefab());
    if (!begin_channel(channel, peer)) {
        made_.destroy(channel);
        return nullptr;
    }
    return &channel;
}

void NetworkServer::Objects::end_channel(NetworkIdentity& channel) {
    parts_.driver.remove_object(detail::Inside::of(channel).server.id);
    made_.destroy(channel);
}

bool NetworkServer::Objects::begin_channel(NetworkIdentity& channel, PeerId peer) {
    NetDriver& driver = parts_.driver;
    detail::ObjectParts& parts = detail::Inside::of(channel);
    parts.server.end = &parts_;
    parts.server.id = driver.add_object(channel.prefab().layout(), detail::handle_of(channel));
    if (parts.server.id.generation == 0) {
        return false;
    }
    parts.net_id = driver.guid_of(parts.server.id).value;
    parts.server.owner.peer = peer;
    driver.interest().set_relevancy(parts.server.id, NetRelevancy::OnlyToOwner);
    driver.set_owner(parts.server.id, peer);
    return true;
}

}  // namespace replayout
