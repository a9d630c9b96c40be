// SPDX-License-Identifier: MIT
//
// The objects that a server made, and those of them that its driver has: spawned ones, and the
// channel of each connection (connection_channel.h). An object that is gone keeps its memory until
// free_gone(), as callbacks and calls may still name it. ObjectLives decides about all of these
// steps.
#pragma once

#include <replayout/behaviours/network_server.h>
#include <replayout/netdriver/transport.h>

#include <cstdint>
#include <map>

#include "inside.h"
#include "stored_references.h"

namespace replayout {

class NetworkServer::Objects {
  public:
    using Spawned = std::map<std::uint64_t, NetworkIdentity*>;  // by net id

    explicit Objects(detail::ServerParts& parts);
    Objects(const Objects&) = delete;
    Objects& operator=(const Objects&) = delete;

    /// A new object, not spawned.
    [[nodiscard]] NetworkIdentity& make(const NetworkPrefab& prefab);
    /// Whether this server made the object, and still has it. Does not read it.
    [[nodiscard]] bool owns(const NetworkIdentity& object) const noexcept {
        return made_.contains(&object);
    }
    /// The same for an object that the driver names.
    [[nodiscard]] bool has(ObjectHandle object) const noexcept {
        return made_.contains(detail::object_of(object));
    }
    /// The references that SyncVars of these objects hold.
    [[nodiscard]] StoredReferences& references() noexcept { return references_; }

    // Spawned objects.

    [[nodiscard]] const Spawned& spawned() const noexcept { return spawned_; }
    /// Null: no object of that net id is spawned.
    [[nodiscard]] NetworkIdentity* find(std::uint64_t net_id) const noexcept;
    /// The spawned object that has the scene id of `object`. Null: there is none.
    [[nodiscard]] const NetworkIdentity* twin_of(const NetworkIdentity& object) const noexcept;
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

    /// Frees the objects that are gone. No row holds one of them, and references are settled.
    void free_gone();
    /// The server ends: objects count as not spawned, so a destructor of the game that assigns a
    /// SyncVar marks nothing, and runs no hook.
    void disown_all() noexcept;

  private:
    detail::ServerParts& parts_;
    StoredReferences::Objects made_;
    Spawned spawned_;
    std::map<std::uint64_t, NetworkIdentity*> spawned_in_scene_;  // by scene id, which is not 0
    StoredReferences references_;
};

}  // namespace replayout
