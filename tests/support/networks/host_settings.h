// SPDX-License-Identifier: MIT
//
// What the games of the tests set up their network and their drivers with.
#pragma once

#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/simulated_network.h>

#include <cstdint>

namespace replayout::test {

/// For packets of any size; a peer that reads seldom loses nothing by it.
[[nodiscard]] inline SimulatedNetworkSettings wide_network(const LinkSettings& link) {
    SimulatedNetworkSettings settings;
    settings.link = link;
    settings.datagram_bytes_max = 1'400;
    settings.receive_queue_datagrams_max = 1u << 16;
    return settings;
}

[[nodiscard]] inline NetDriverSettings host_settings(const NetConfig& config, std::uint64_t seed,
                                                     SharingLevel sharing, bool is_validating) {
    NetDriverSettings settings;
    settings.may_leave_out_texts = true;
    settings.config = config;
    settings.seed = seed;
    settings.sharing = sharing;
    settings.is_validating = is_validating;
    return settings;
}

[[nodiscard]] inline NetDriverSettings with_resource(NetDriverSettings settings,
                                                     MemoryResource* memory) {
    settings.resource = memory;
    return settings;
}

}  // namespace replayout::test
