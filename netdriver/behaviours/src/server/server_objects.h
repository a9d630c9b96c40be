// SPDX-License-Identifier: MIT
//
// The objects that a server made, and those of them that its driver has: spawned ones, and the
// channel of each connection (connection_channel.h). ObjectLives decides about all of these steps.
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
    /// The spawned object that has the scene id of `object`. Null: there is none.
    [[nodiscard]] const NetworkIdentity* twin_of(const NetworkIdentity& object) const noexcept {
        const auto found = spawned_in_scene_.find(object.scene_id());
        return found == spawned_in_scene_.end() ? nullptr : found->second;
    }
    /// Adds the object to the driver. False: the driver has no room for it, and logged that. Hooks
    /// of references may run.
    [[nodiscard]] bool begin_spawned(NetworkIdentity& object);
    /// Takes the object out of the driver.
    void end_spawned(NetworkIdentity& object);

    // Channels, by which clients speak of their connections. They are no objects of the game,
    // though a client may name one in a call.

    [[nodiscard]] bool is_channel(const NetworkIdentity& object) const noexcept;
    /// Adds the channel to the driver. False: the driver has no room for it.
    [[nodiscard]] bool begin_channel(NetworkIdentity& channel, PeerId peer);

  private:
    StoredReferences made_;
    Spawned spawned_;
    std::map<std::uint64_t, NetworkIdentity*> spawned_in_scene_;  // by scene id, which is not 0
};

}  // namespace replayout
