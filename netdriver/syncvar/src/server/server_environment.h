// SPDX-License-Identifier: MIT
//
// What all parts of a NetworkServer use, and none of them owns.
#pragma once

#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/time.h>
#include <replayout/reflection/memory.h>
#include <replayout/syncvar/network_manager.h>
#include <replayout/syncvar/network_server.h>
#include <replayout/syncvar/network_types.h>

#include "server_end.h"
#include "server_log.h"

namespace replayout::syncvar {

struct NetworkServer::Environment {
    NetworkServer& server;   ///< the manager is called with it
    detail::ServerEnd& end;  ///< spawned objects ask it
    NetworkManager& manager;
    NetDriver& driver;
    const NetworkTypes& types;
    const NetTime& now;
    NetworkServerCounters& counters;
    Log& log;
    MemoryResource* resource;
};

}  // namespace replayout::syncvar
