// SPDX-License-Identifier: MIT
//
// What all parts of a server use, and none of them owns. The driver owns it.
#pragma once

#include <replayout/netdriver/memory_report.h>
#include <replayout/netdriver/net_driver_settings.h>
#include <replayout/netdriver/net_guid_cache.h>
#include <replayout/netdriver/net_stats.h>
#include <replayout/netdriver/net_world.h>
#include <replayout/netdriver/transport.h>

#include "layout_table.h"

namespace replayout {

struct ServerEnvironment {
    const NetDriverSettings& settings;
    const LayoutTable& layouts;
    Transport& transport;
    NetWorld& world;
    NetGUIDCache& guids;
    NetStats& stats;
    MemoryMeters& memory;
    bool& is_calling_out;  ///< the driver calls the game, which must not change the driver then
};

}  // namespace replayout
