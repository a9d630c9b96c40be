// SPDX-License-Identifier: MIT
//
// Addresses of Boost.Asio as text: "1.2.3.4:7777", "[::1]:7777".
#pragma once

#include "address_text.h"
#include "peer_slots.h"

#include <cstring>
#include <string>
#include <string_view>

#include <boost/asio/ip/address.hpp>

namespace replayout {

/// Not one address but all of a host: 0.0.0.0, ::, and ::ffff:0.0.0.0.
[[nodiscard]] inline bool is_all_addresses(const boost::asio::ip::address& address) {
    if (address.is_v4() || !address.to_v6().is_v4_mapped()) {
        return address.is_unspecified();
    }
    return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, address.to_v6())
        .is_unspecified();
}

/// Of `boost::asio::ip::udp` or tcp. `kind` begins the sentence of an error. A client cannot
/// connect to all addresses of a host.
template <typename Protocol>
[[nodiscard]] Result<typename Protocol::endpoint> parse_endpoint(std::string_view kind,
                                                                 std::string_view text,
                                                                 bool is_server) {
    const Result<AddressText> parts = split_address(kind, text);
    if (!parts) {
        return parts.error();
    }
    boost::system::error_code error;
    const auto address = boost::asio::ip::make_address(std::string(parts->host), error);
    if (error) {
        return address_error(kind, text, error.message());
    }
    if (!is_server && is_all_addresses(address)) {
        return all_addresses_error(kind, text);
    }
    return typename Protocol::endpoint(address, parts->port);
}

/// For slots of one address.
[[nodiscard]] inline AddressKey key_of(const boost::asio::ip::address& address) {
    boost::asio::ip::address_v6 v6;
    if (address.is_v6()) {
        v6 = address.to_v6();
    } else {
        v6 = boost::asio::ip::make_address_v6(boost::asio::ip::v4_mapped, address.to_v4());
    }
    const auto bytes = v6.to_bytes();
    AddressKey key{};
    std::memcpy(key.data(), bytes.data(), bytes.size());
    return key;
}

template <typename Endpoint>
[[nodiscard]] std::string text_of(const Endpoint& endpoint) {
    const std::string host = endpoint.address().to_string();
    const std::string port = std::to_string(endpoint.port());
    if (endpoint.address().is_v6()) {
        return "[" + host + "]:" + port;
    }
    return host + ":" + port;
}

}  // namespace replayout
