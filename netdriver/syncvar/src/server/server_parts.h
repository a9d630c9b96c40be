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
#include "server_environment.h"
#include "server_log.h"
#include "server_objects.h"
#include "state_sender.h"

namespace replayout::syncvar {

struct NetworkServer::Parts {
    Parts(NetworkServer& server, const NetDriverSettings& settings,
          const InterestManagement& interest);

    Log log;
    const Environment environment;
    Connections connections;
    Objects objects;
    HostQueue host;
    Observers observers;
    Authority authority;
    OwnerValues owner_values;
    PartSender part_sender;
    StateSender states;
    Phases phases;
    HostView host_view;
    ObjectLives lives;
};

}  // namespace replayout::syncvar
