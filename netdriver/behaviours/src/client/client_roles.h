// SPDX-License-Identifier: MIT
//
// The roles of a client: which objects it owns, and which one is its local player. Runs the
// callbacks when a role begins or ends.
#pragma once

#include <replayout/behaviours/network_client.h>
#include <replayout/netdriver/net_role.h>

#include "part_of.h"

namespace replayout {

class NetworkClient::ClientRoles : detail::PartOf<detail::ClientParts> {
  public:
    using PartOf::PartOf;

    /// Null: there is none.
    [[nodiscard]] NetworkIdentity* local_player() const noexcept { return local_player_; }

    /// The object was spawned with its role. Its callbacks run when it is started.
    void object_spawned(NetworkIdentity& object);
    /// The server gave the object another role.
    void role_changed(NetworkIdentity& object, const ObjectRole& role);
    /// Runs the callbacks of what begins and ends with `role`.
    void tell(NetworkIdentity& object, const ObjectRole& role);
    /// The object is the local player no longer.
    void forget_player(const NetworkIdentity& object);

  private:
    NetworkIdentity* local_player_ = nullptr;
};

}  // namespace replayout
