// SPDX-License-Identifier: MIT
#include <replayout/netdriver/net_rates.h>

#include "replication_server.h"

namespace replayout {

void NetRates::set_class_net_update_frequency(const RepLayout& layout,
                                              const NetUpdateFrequency& frequency) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(frequency.is_valid());
    server_.set_class_net_update_frequency(layout, frequency);
}

void NetRates::set_net_update_frequency(NetObjectId id, const NetUpdateFrequency& frequency) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(frequency.is_valid());
    server_.set_net_update_frequency(id, frequency);
}

NetUpdateFrequency NetRates::net_update_frequency_of(NetObjectId id) const {
    return server_.net_update_frequency_of(id);
}

void NetRates::force_net_update(NetObjectId id) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    server_.force_net_update(id);
}

void NetRates::set_bytes_per_second_max(PeerId peer, std::uint32_t bytes) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(bytes == 0 || (bytes >= 1'800 && bytes <= 1'000'000'000));
    server_.set_bytes_per_second_max(peer, bytes);
}

void NetRates::set_class_net_priority(const RepLayout& layout, float priority) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(priority > 0);
    server_.set_class_net_priority(layout, priority);
}

void NetRates::set_net_priority(NetObjectId id, float priority) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(priority > 0);
    server_.set_net_priority(id, priority);
}

void NetRates::set_priority_distance(float distance) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(distance >= 0);
    server_.set_priority_distance(distance);
}

OwedUpdate NetRates::owed_to(PeerId peer, NetObjectId id) const {
    return server_.owed_to(peer, id);
}

NetBandwidth NetRates::bandwidth_of(PeerId peer) const {
    const NetConnection* connection = server_.find(peer);
    if (connection == nullptr) {
        return {};
    }
    const PacketSender& packets = connection->packets();
    return {packets.bytes_per_second_max(), packets.effective_cap(), packets.round_trip_us()};
}

}  // namespace replayout
