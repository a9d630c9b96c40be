// SPDX-License-Identifier: MIT
#include "object_lives.h"

#include <string>
#include <utility>

namespace replayout::syncvar {

bool NetworkServer::ObjectLives::spawn(NetworkIdentity& object, NetworkConnection* owner) {
    if (!may_spawn(object)) {
        return false;
    }
    if (!parts_.objects.begin_spawned(object)) {
        return environment_.log.refuse(owner == nullptr ? PeerId{} : owner->peer(),
                                       "an object is not spawned: the line before says why");
    }
    parts_.host_view.object_spawned(object);
    parts_.observers.object_spawned(object);
    if (owner != nullptr) {
        parts_.authority.set_owner(object, *owner);
    }
    parts_.states.begin(object);
    parts_.owner_values.add(object);
    object.for_each_component(&NetworkBehaviour::on_start_server);
    return object.is_spawned();  // It may have ended itself.
}

bool NetworkServer::ObjectLives::may_spawn(const NetworkIdentity& object) {
    if (object.is_spawned() || object.is_gone_ || parts_.objects.is_channel(object)) {
        return environment_.log.refuse(
            object.owner_, "spawn: " + Log::name_of(object) +
                               (object.is_gone_ ? " was destroyed" : " is spawned already"));
    }
    if (const NetworkIdentity* twin = parts_.objects.twin_of(object)) {
        return environment_.log.refuse(PeerId{}, "an object of prefab \"" + object.prefab().name() +
                                                     "\" is not spawned: its scene id " +
                                                     std::to_string(object.scene_id_) +
                                                     " is that of a spawned object of prefab \"" +
                                                     twin->prefab().name() + "\"");
    }
    return true;
}

void NetworkServer::ObjectLives::unspawn(NetworkIdentity& object) {
    if (!object.is_spawned() || object.is_stopping_ || parts_.objects.is_channel(object)) {
        environment_.log.refuse(object.owner_,
                                "unspawn: " + Log::name_of(object) + " is not spawned");
        return;
    }
    object.is_stopping_ = true;
    parts_.host_view.stop(object);
    object.for_each_component(&NetworkBehaviour::on_stop_server);
    parts_.states.keep_last_sections(object);
    object.is_stopping_ = false;
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
    if (object.is_gone_ || parts_.objects.is_channel(object)) {
        environment_.log.refuse(
            PeerId{}, "destroy: " + Log::name_of(object) +
                          (object.is_gone_ ? " was destroyed already" : " is the server's own"));
        return;
    }
    if (object.is_spawned() && !object.is_stopping_) {
        unspawn(object);
    }
    if (object.scene_id_ != 0) {
        object.keep_own_values();
        object.reset_values(*object.own_values_);
        return;
    }
    object.is_gone_ = true;
    has_gone_ = true;
    parts_.objects.references().object_left(object);
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
    NetworkIdentity& channel = parts_.objects.make(environment_.types.connection_prefab());
    if (!parts_.objects.begin_channel(channel, peer)) {
        channel.is_gone_ = true;
        has_gone_ = true;
        return nullptr;
    }
    return &channel;
}

void NetworkServer::ObjectLives::end_channel(NetworkIdentity& channel) {
    environment_.driver.remove_object(channel.object_);
    parts_.objects.references().object_left(channel);  // A client may name it in a call.
    channel.is_gone_ = true;
    has_gone_ = true;
}

void NetworkServer::ObjectLives::free_gone() {
    if (parts_.host_view.keeps_calls() || !std::exchange(has_gone_, false)) {
        return;
    }
    parts_.states.forget_gone();
    parts_.authority.forget_gone();
    parts_.host.forget_gone();
    parts_.objects.free_gone();
}

}  // namespace replayout::syncvar
