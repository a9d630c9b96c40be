// SPDX-License-Identifier: MIT
#include "client_roles.h"

#include "client_parts.h"
#include "inside.h"

namespace replayout {

void NetworkClient::ClientRoles::object_spawned(NetworkIdentity& object) {
    if (object.is_local_player()) {
        local_player_ = &object;
    }
}

void NetworkClient::ClientRoles::role_changed(NetworkIdentity& object, const ObjectRole& role) {
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

void NetworkClient::ClientRoles::tell(NetworkIdentity& object, const ObjectRole& role) {
    if (role.is_player) {
        local_player_ = &object;
    }
    detail::ObjectParts& parts = detail::Inside::of(object);
    parts.local.tell(parts.components, role);
    if (!role.is_player) {
        forget_player(object);
    }
}

void NetworkClient::ClientRoles::forget_player(const NetworkIdentity& object) {
    if (local_player_ != &object) {
        return;
    }
    // The one before it, where both changed back before this client was told of that.
    local_player_ = parts_.spawned.find_other_player(object);
}

}  // namespace replayout
