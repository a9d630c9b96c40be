// SPDX-License-Identifier: MIT
//
// The state of a NetworkIdentity, divided by the part of the library that keeps it:
//
//     ObjectComponents    its components and their memory, at both ends
//     ServerRecord        kept by the parts of the server that spawned it
//     ClientRecord        kept by the parts of the client that has a copy of it
//     HostRecord          kept by the view of a host, of an object of the server itself
//     LocalRole           its role to the client of this process, at both ends
//
// The library reaches them through one door (src/sections/inside.h). A game sees only what
// NetworkIdentity shows.
#pragma once

#include <replayout/behaviours/local_role.h>
#include <replayout/behaviours/object_components.h>
#include <replayout/netdriver/net_object_id.h>
#include <replayout/netdriver/spawn_parameters.h>
#include <replayout/netdriver/time.h>
#include <replayout/netdriver/transport.h>

#include <cstdint>
#include <optional>

namespace replayout {

class NetworkIdentity;
class StoredReferences;
enum class Visibility : std::uint8_t;

namespace detail {

struct ClientParts;
struct ServerParts;

/// The owner of the object, and how much that connection was sent.
struct OwnerRecord {
    PeerId peer;    ///< 0: nobody
    PeerId served;  ///< the owner that was sent all values for owners alone (OwnerValues)
    /// When the owner was sent the state that it decides (Authority).
    std::optional<NetTime> told_at;
    std::uint32_t epoch = 0;      ///< counts the owners (Authority)
    bool was_open = false;        ///< the owner's channel, in the flush before (OwnerValues)
    bool is_state_due = false;    ///< queued: the owner is to be sent the state (Authority)
    bool is_state_asked = false;  ///< because the owner asked for it (Authority)
};

/// The facts that decide which connections see the object (Observers).
struct InterestRecord {
    float range = 0;
    std::uint32_t game_group = 0;
    NetGroup group;  ///< the group of the driver that the object is in
    Visibility visibility{};
};

/// The state that a server keeps of an object.
struct ServerRecord {
    ServerParts* end = nullptr;  ///< null: this end is not its server, or it is not spawned
    NetObjectId id;
    OwnerRecord owner;
    InterestRecord interest;
};

/// The state that a client keeps of its copy of an object.
struct ClientRecord {
    ClientParts* end = nullptr;     ///< null: this end has no copy of it, or never spawned it
    std::uint32_t next_update = 0;  ///< the part with which its next turn begins (OwnerUpdates)
    bool is_initial = false;        ///< values that arrive are those of the spawn
    bool is_kept = false;           ///< not shown any longer, and kept until it is ready again
    bool is_refreshed = false;      ///< shown again, and its hooks have not run yet
};

/// The state that a host keeps of an object that its player may see.
struct HostRecord {
    bool is_visible = false;
    bool is_told = false;    ///< on_set_host_visibility() was called
    bool is_queued = false;  ///< to be looked at (HostView)
};

struct ObjectParts {
    ObjectParts(const NetworkPrefab& prefab, MemoryResource* resource)
        : components(prefab, resource) {}

    /// At a client: hooks and calls wait until the object is started.
    [[nodiscard]] bool must_wait() const noexcept;

    std::uint64_t net_id = 0;
    std::uint64_t scene_id = 0;
    StoredReferences* references = nullptr;  ///< of the end that made it; of a prefab null
    ServerRecord server;
    ClientRecord client;
    HostRecord host;
    LocalRole local;
    bool is_queued = false;       ///< changed, and waits to be sent, at either end
    bool is_named = false;        ///< by a SyncVar of this end, which its driver does not follow
    bool is_stopping = false;     ///< server: its stop callbacks run
    bool is_gone = false;         ///< destroyed, and freed when nothing of it runs any longer
    ObjectComponents components;  ///< last: a game's destructor may ask for the rest
};

}  // namespace detail

}  // namespace replayout
