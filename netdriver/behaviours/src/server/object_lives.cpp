// SPDX-License-Identifier: MIT
#include "object_lives.h"

#include "inside.h"
#include "server_parts.h"

#include <string>

namespace replayout {

bool NetworkServer::ObjectLives::spawn(NetworkIdentity& object, NetworkConnection* owner) {
    if (!may_spawn(object)) {
        return false;
    }
    if (!parts_.objects.begin_spawned(object)) {
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

bool NetworkServer::ObjectLives::may_spawn(const NetworkIdentity& object) {
    const bool is_gone = detail::Inside::of(object).is_gone;
    if (object.is_spawned() || is_gone || parts_.objects.is_channel(object)) {
        return parts_.log.refuse(object.connection_to_client(),
                                 "spawn: " + Log::name_of(object) +
                                     (is_gone ? " was destroyed" : " is spawned already"));
    }
    if (const NetworkIdentity* twin = parts_.objects.twin_of(object)) {
        return parts_.log.refuse(PeerId{}, "an object of prefab \"" + object.prefab().name() +
                                               "\" is not spawned: its scene id " +
                                               std::to_string(object.scene_id()) +
                                               " is that of a spawned object of prefab \"" +
                                               twin->prefab().name() + "\"");
    }
    return true;
}

void NetworkServer::ObjectLives::unspawn(NetworkIdentity& object) {
    detail::ObjectParts& parts = detail::Inside::of(object);
    if (!object.is_spawned() || parts.is_stopping || parts_.objects.is_channel(object)) {
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
    parts_.objects.end_spawned(object);
    parts_.owner_values.remove(object);
    HostView::forget(object);
}

void NetworkServer::ObjectLives::destroy(NetworkIdentity& object) {
    detail::ObjectParts& parts = detail::Inside::of(object);
    if (parts.is_gone || parts_.objects.is_channel(object)) {
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
    parts_.objects.made().destroy(object);
}

void NetworkServer::ObjectLives::destroy_owned(NetworkConnection& connection) {
    while (!connection.owned_.empty()) {
        NetworkIdentity* object = connection.owned_.back();
        destroy(*object);
        if (!connection.owned_.empty() && connection.owned_.back() == object) {
            connection.owned_.pop_back();
        }
    }
}

// Channels.

NetworkIdentity* NetworkServer::ObjectLives::make_channel(PeerId peer) {
    NetworkIdentity& channel = parts_.objects.made().make(parts_.types.connection_prefab());
    if (!parts_.objects.begin_channel(channel, peer)) {
        parts_.objects.made().destroy(channel);
        return nullptr;
    }
    return &channel;
}

void NetworkServer::ObjectLives::end_channel(NetworkIdentity& channel) {
    parts_.driver.remove_object(detail::Inside::of(channel).server.id);
    parts_.objects.made().destroy(channel);
}

void NetworkServer::ObjectLives::free_gone() {
    if (parts_.host.keeps_calls() || !parts_.objects.made().has_gone()) {
        return;
    }
    parts_.states.forget_gone();
    parts_.authority.forget_gone();
    parts_.host.forget_gone();
    parts_.objects.made().free_gone();
}

}  // namespace replayout
