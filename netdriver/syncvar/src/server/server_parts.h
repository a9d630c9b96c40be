// SPDX-License-Identifier: MIT
//
// The parts of a NetworkServer, in an order in which each knows only those before it. They are
// destroyed in the opposite order, so what names an object goes before the objects.
#pragma once

#include <replayout/netdriver/net_driver_settings.h>
#include <replayout/syncvar/interest_management.h>
#include <replayout/syncvar/network_server.h>

#include "authority.h"
#include "connection_phases.h"
#include "host_queue.h"
#include "host_view.h"
#include "object_lives.h"
#include "observers.h"
#include "owner_values.h"
#include "part_sender.h"
#include "server_connections.h"
#include "server_end.h"
#include "server_environment.h"
#include "server_log.h"
#include "server_objects.h"
#include "state_sender.h"

namespace replayout::syncvar::detail {

struct ServerParts {
    ServerParts(NetworkServer& server, const NetDriverSettings& settings,
                const InterestManagement& interest);
    ServerParts(const ServerParts&) = delete;
    ServerParts& operator=(const ServerParts&) = delete;

    [[nodiscard]] static ServerParts& of(NetworkServer& server) noexcept { return *server.parts_; }

    ServerEnd end;
    NetworkServer::Log log;
    const NetworkServer::Environment environment;
    NetworkServer::Connections connections;
    NetworkServer::Objects objects;
    NetworkServer::HostQueue host;
    NetworkServer::Observers observers;
    NetworkServer::Authority authority;
    NetworkServer::OwnerValues owner_values;
    NetworkServer::PartSender part_sender;
    NetworkServer::StateSender states;
    NetworkServer::Phases phases;
    NetworkServer::HostView host_view;
    NetworkServer::ObjectLives lives;
};

}  // namespace replayout::syncvar::detail
