// SPDX-License-Identifier: MIT
//
// What the drivers of a run are made with.
#pragma once

#include "simulation/swarm.h"

#include <replayout/netdriver/net_driver_settings.h>

#include <algorithm>

namespace replayout::test {

/// In which a run may differ from its twin. It changes no byte.
struct TwinSettings {
    SharingLevel sharing = SharingLevel::Bundles;
    bool is_pushed = true;
    std::uint32_t worker_count = 0;  ///< 0: no executor
};

/// Of both ends, as limits are agreed on. Those that work within its rights may reach are not made
/// smaller: they would end the connection again and again.
[[nodiscard]] inline NetConfig net_config(const SwarmConfig& swarm) {
    NetConfig config;
    config.timeout_ms = swarm.timeout_ms;
    config.keep_alive_ms = std::min(config.keep_alive_ms, swarm.timeout_ms / 4);
    config.probe_max_ms = std::min(config.probe_max_ms, config.keep_alive_ms);
    config.linger_ms = 500;
    config.has_congestion_control = swarm.has_congestion_control;
    config.reorder_packets_max = swarm.reorder_packets_max;
    config.first_sequence = swarm.first_sequence;
    const std::uint32_t divisor = swarm.limit_divisor;
    const auto smaller = [divisor](std::uint32_t limit, std::uint32_t least) {
        return std::max(limit / divisor, least);
    };
    config.packet_bytes_max = smaller(config.packet_bytes_max, 256);
    config.bunch_bytes_max = smaller(config.bunch_bytes_max, 32 * 1'024);
    config.reliable_waiting_max = smaller(config.reliable_waiting_max, 256);
    config.reliable_waiting_bytes_max =
        std::max(smaller(config.reliable_waiting_bytes_max, 65'536), config.bunch_bytes_max);
    config.initial_opens_per_flush_max = divisor == 1 ? config.initial_opens_per_flush_max : 3;
    config.connections_max = smaller(config.connections_max, 64);
    config.channels_max = smaller(config.channels_max, 1'024);
    config.datagrams_per_dispatch_max = smaller(config.datagrams_per_dispatch_max, 256);
    config.calls_waiting_max = smaller(config.calls_waiting_max, 16);
    config.destroyed_names_max = smaller(config.destroyed_names_max, 16);
    return config;
}

[[nodiscard]] inline LayoutPolicy layout_policy(const SwarmConfig& swarm) {
    return swarm.has(Feature::SchemaSkew) || swarm.has(Feature::MissingClass)
               ? LayoutPolicy::SkipUnknown
               : LayoutPolicy::Refuse;
}

}  // namespace replayout::test
