// SPDX-License-Identifier: MIT
#include <replayout/netdriver/net_rates.h>

#include "replication_server.h"

namespace replayout {

void NetRates::set_net_update_frequency(const RepLayout& layout,
                                        const NetUpdateFrequency& frequency) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    server_.set_net_update_frequency(layout, frequency);
}

void NetRates::set_net_update_frequency(NetObjectId id, const NetUpdateFrequency& frequency) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    server_.set_net_update_frequency(id, frequency);
}

NetUpdateFrequency NetRates::net_update_frequency_of(NetObjectId id) const {
    return server_.net_update_frequency_of(id);
}

void NetRates::force_net_update(NetObjectId id) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    server_.force_net_update(id);
}

}  // namespace replayout
