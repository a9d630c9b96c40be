// SPDX-License-Identifier: MIT
//
// The parts of a NetworkServer, and what all of them use. Spawned objects, their components and the
// channels of connections ask the parts. They are destroyed in the opposite order, so what names an
// object goes before the objects.
#pragma once

#include <replayout/behaviours/interest_management.h>
#include <replayout/behaviours/network_server.h>
#include <replayout/netdriver/net_driver_settings.h>

#include "authority.h"
#include "connection_phases.h"
#include "host_view.h"
#include "observers.h"
#include "owner_values.h"
#include "part_sender.h"
#include "server_connections.h"
#include "server_log.h"
#include "server_objects.h"
#include "state_sender.h"

namespace replayout::detail {

struct ServerParts {
    ServerParts(NetworkServer& server, const NetDriverSettings& settings,
                const InterestManagement& interest);

    [[nodiscard]] static ServerParts& of(NetworkServer& server) noexcept { return *server.parts_; }

    NetworkServer& server;  ///< the manager is called with it
    NetworkManager& manager;
    NetDriver& driver;
    const NetworkTypes& types;
    const NetTime& now;
    NetworkServerCounters& counters;
    MemoryResource* resource;
    /// Counts the flushes, from 1 on. A value that is made once in each flush notes the number of
    /// its flush.
    std::uint64_t flush_number = 0;
    NetworkServer::Log log;
    NetworkServer::Connections connections;
    NetworkServer::Objects objects;
    NetworkServer::HostView host;
    NetworkServer::Observers observers;
    NetworkServer::Authority authority;
    NetworkServer::OwnerValues owner_values;
    NetworkServer::PartSender part_sender;
    NetworkServer::StateSender states;
    NetworkServer::Phases phases;
};

/// Returns the parts of the server that spawned the object. Without one, the process ends.
[[nodiscard]] ServerParts& server_parts_of(const NetworkIdentity& object) noexcept;

}  // namespace replayout::detail
