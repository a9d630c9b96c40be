// SPDX-License-Identifier: MIT
//
// The objects that a server made, and those of them that its driver has: spawned ones, and the
// channel of each connection (connection_channel.h). Tells the other parts of each step, and the
// behaviours of the object.
//
//     make() --> spawn() <--> unspawn() --> destroy() --> free_gone()
//
// An object of the scene outlives destroy(), which gives it back its own values.
#pragma once

#include <replayout/behaviours/network_server.h>
#include <replayout/netdriver/transport.h>

#include <cstdint>
#include <map>

#include "inside.h"
#include "part_of.h"
#include "stored_references.h"

namespace replayout {

class NetworkServer::Objects : detail::PartOf<detail::ServerParts> {
  public:
    using Spawned = std::map<std::uint64_t, NetworkIdentity*>;  // by net id

    explicit Objects(detail::ServerParts& parts);

    /// All, spawned or not.
    [[nodiscard]] StoredReferences& made() noexcept { return made_; }

    // Spawned objects.

    [[nodiscard]] const Spawned& spawned() const noexcept { return spawned_; }
    /// Null: no object of that net id is spawned.
    [[nodiscard]] NetworkIdentity* find(std::uint64_t net_id) const noexcept {
        const auto found = spawned_.find(net_id);
        return found == spawned_.end() ? nullptr : found->second;
    }
    // See NetworkServer. Requires objects and connections of this server, which listens.
    bool spawn(NetworkIdentity& object, NetworkConnection* owner);
    void unspawn(NetworkIdentity& object);
    void destroy(NetworkIdentity& object);
    void destroy_owned(NetworkConnection& connection);
    /// Frees the objects that are gone, unless a kept call of the host may name one of them.
    /// References are settled.
    void free_gone();

    // Channels, by which clients speak of their connections. They are no objects of the game,
    // though a client may name one in a call.

    [[nodiscard]] bool is_channel(const NetworkIdentity& object) const noexcept;
    /// A client joined: makes its channel. Null: the driver has no room for it.
    [[nodiscard]] NetworkIdentity* make_channel(PeerId peer);
    /// The client left.
    void end_channel(NetworkIdentity& channel);

  private:
    /// False, and refused: the object is spawned, or gone, or another object of its scene id is
    /// spawned.
    [[nodiscard]] bool may_spawn(const NetworkIdentity& object);
    /// Adds the object to the driver. False: the driver has no room for it, and logged that. Hooks
    /// of references may run.
    [[nodiscard]] bool begin_spawned(NetworkIdentity& object);
    /// Takes the object out of the driver.
    void end_spawned(NetworkIdentity& object);
    [[nodiscard]] bool begin_channel(NetworkIdentity& channel, PeerId peer);

    StoredReferences made_;
    Spawned spawned_;
    std::map<std::uint64_t, NetworkIdentity*> spawned_in_scene_;  // by scene id, which is not 0
};

}  // namespace replayout
