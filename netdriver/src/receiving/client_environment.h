// SPDX-License-Identifier: MIT
//
// What all parts of a client's receiving end use, and none of them owns.
#pragma once

#include <replayout/netdriver/memory_report.h>
#include <replayout/netdriver/net_config.h>
#include <replayout/netdriver/net_guid_cache.h>
#include <replayout/netdriver/net_stats.h>
#include <replayout/netdriver/net_world.h>
#include <replayout/netdriver/peer_log.h>
#include <replayout/netdriver/time.h>

#include "session_layouts.h"

#include <string_view>
#include <unordered_map>

namespace replayout {

/// By the layout of what is spawned; looked up, never walked.
using SpawnHandlers = std::pmr::unordered_map<const RepLayout*, SpawnHandler*>;

struct ClientEnvironment {
    const NetConfig& config;
    const NetTime& now;  ///< of what the connection receives
    const SessionLayouts& layouts;
    NetWorld& world;
    NetGUIDCache& guids;
    NetStats& stats;
    MemoryMeters& memory;
    const SpawnHandlers& handlers;
    bool& is_calling_out;  ///< the driver's: off while the world may call it
    PeerId server;
    PeerLog& peer_log;

    void log(LogLevel level, std::string_view text) const {
        peer_log.write(level, server, text, now);
    }
    /// The same for text that holds no bytes of the server.
    void log_printable(LogLevel level, std::string_view text) const {
        peer_log.write_printable(level, server, text, now);
    }
};

}  // namespace replayout
