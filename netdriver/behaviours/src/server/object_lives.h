// SPDX-License-Identifier: MIT
//
// What becomes of the objects of a server: they are made, spawned, unspawned, destroyed and, after
// the update, freed. Tells the other parts of each step, and the behaviours of the object.
//
//     make() --> spawn() <--> unspawn() --> destroy() --> free_gone()
//
// An object of the scene outlives destroy(), which gives it back its own values.
#pragma once

#include <replayout/behaviours/network_server.h>
#include <replayout/netdriver/transport.h>

#include "part_of.h"

namespace replayout {

class NetworkServer::ObjectLives : detail::PartOf<detail::ServerParts> {
  public:
    using PartOf::PartOf;

    // See NetworkServer. Requires objects and connections of this server, which listens.
    bool spawn(NetworkIdentity& object, NetworkConnection* owner);
    void unspawn(NetworkIdentity& object);
    void destroy(NetworkIdentity& object);
    void destroy_owned(NetworkConnection& connection);

    /// A client joined: makes its channel. Null: the driver has no room for it.
    [[nodiscard]] NetworkIdentity* make_channel(PeerId peer);
    /// The client left.
    void end_channel(NetworkIdentity& channel);

    /// Frees the objects that are gone, unless a kept call of the host may name one of them.
    /// References are settled.
    void free_gone();

  private:
    /// False, and refused: the object is spawned, or gone, or another object of its scene id is
    /// spawned.
    [[nodiscard]] bool may_spawn(const NetworkIdentity& object);
};

}  // namespace replayout
