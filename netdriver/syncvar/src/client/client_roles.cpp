// SPDX-License-Identifier: MIT
#include "client_roles.h"

#include "owner_updates.h"
#include "spawned_objects.h"

namespace replayout::syncvar {

void NetworkClient::ClientRoles::object_spawned(NetworkIdentity& object) {
    if (object.is_local_player()) {
        local_player_ = &object;
    }
}

void NetworkClient::ClientRoles::role_changed(NetworkIdentity& object, const ObjectRole& role) {
    if (role.is_owned && !object.is_owned()) {
        for (NetworkBehaviour* component : object.components()) {
            component->received_bits_ = 0;
        }
        updates_.object_changed(object);
    }
    if (object.is_started_) {
        tell(object, role);
    } else {
        object.role_ = role;
    }
}

void NetworkClient::ClientRoles::tell(NetworkIdentity& object, const ObjectRole& role) {
    if (role.is_player) {
        local_player_ = &object;
    }
    object.tell_role(role);
    if (!role.is_player) {
        forget_player(object);
    }
}

void NetworkClient::ClientRoles::forget_player(const NetworkIdentity& object) {
    if (local_player_ != &object) {
        return;
    }
    // The one before it, where both changed back before this client was told of that.
    local_player_ = spawned_.find_other_player(object);
}

}  // namespace replayout::syncvar
