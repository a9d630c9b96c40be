// SPDX-License-Identifier: MIT
//
// The parts of a NetworkClient, each of which owns one of its subjects. Objects that the client
// shows know these parts, and not the client.
#pragma once

#include <replayout/behaviours/network_client.h>
#include <replayout/netdriver/time.h>

#include "client_log.h"
#include "client_readiness.h"
#include "owner_updates.h"
#include "spawn_sources.h"
#include "spawned_objects.h"
#include "stored_references.h"
#include "waiting_changes.h"
#include "wanted_collections.h"

namespace replayout::detail {

struct ClientParts {
    ClientParts(NetworkClient& client, const NetDriverSettings& settings, NetDriver& driver,
                const NetworkTypes& types, NetworkManager& manager);

    NetworkClient& client;  ///< for callbacks of the game
    NetworkManager& manager;
    NetDriver& driver;
    const NetworkTypes& types;
    MemoryResource* resource;
    NetTime now;
    NetworkClient::ClientLog log;
    NetworkClient::WaitingChanges waiting;
    StoredReferences objects;
    NetworkClient::SpawnSources sources;
    NetworkClient::SpawnedObjects spawned;
    NetworkClient::OwnerUpdates updates;
    NetworkClient::ClientReadiness readiness;
    NetworkClient::WantedCollections wanted;
};

/// The parts of the client that shows the object. Requires that one does; if not, the process ends.
[[nodiscard]] ClientParts& client_parts_of(const NetworkIdentity& object) noexcept;

}  // namespace replayout::detail
