// SPDX-License-Identifier: MIT
#include "server_objects.h"

#include "scene_name.h"
#include "server_parts.h"

namespace replayout {

NetworkServer::Objects::Objects(detail::ServerParts& parts)
    : PartOf(parts), made_(nullptr, parts.resource) {}

// Spawned objects.

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
