// SPDX-License-Identifier: MIT
//
// Addresses of ENet as text: "1.2.3.4:7777".
#pragma once

#include <string>

#include <enet/enet.h>

namespace replayout {

[[nodiscard]] inline std::string text_of(const ENetAddress& address) {
    char host[32] = {};  // holds any address of IPv4
    (void)enet_address_get_host_ip(&address, host, sizeof(host));
    return std::string(host) + ":" + std::to_string(address.port);
}

}  // namespace replayout
