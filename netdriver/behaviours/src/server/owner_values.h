// SPDX-License-Identifier: MIT
//
// Sends owners what nobody else may see: collections and sections of behaviours of SyncMode::Owner.
// They are no properties of the object, so they go by calls: all of it once the owner is shown the
// object, and from then on what changes (state_sender.h). OwnerRecord::served is the
// owner that has it all.
#pragma once

#include <replayout/behaviours/network_server.h>

#include <vector>

#include "part_of.h"

namespace replayout {

class NetworkServer::OwnerValues : detail::PartOf<detail::ServerParts> {
  public:
    using PartOf::PartOf;

    /// The object was spawned. Does nothing if it has nothing for its owner alone.
    void add(NetworkIdentity& object);
    /// The object was unspawned.
    void remove(NetworkIdentity& object);
    /// With each late_update(): serves the owners that were not, and are shown their objects.
    void serve();
    /// Serves the owner of one object ahead of a call, if the owner was not served yet.
    void serve_ahead(NetworkIdentity& object);

  private:
    /// False: not all of it was sent.
    [[nodiscard]] bool serve_owner(NetworkIdentity& object);

    std::vector<NetworkIdentity*> objects_;  // spawned ones that have something for their owners
};

}  // namespace replayout
