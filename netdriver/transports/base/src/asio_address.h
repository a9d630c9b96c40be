// SPDX-License-Identifier: MIT
//
// Addresses of Boost.Asio as text: "1.2.3.4:7777", "[::1]:7777".
#pragma once

#include "address_text.h"

#include <string>
#include <string_view>

#include <boost/asio/ip/address.hpp>

namespace replayout {

/// Of `boost::asio::ip::udp` or tcp. `kind` begins the sentence of an error.
template <typename Protocol>
[[nodiscard]] Result<typename Protocol::endpoint> parse_endpoint(std::string_view kind,
                                                                 std::string_view text) {
    const Result<AddressText> parts = split_address(kind, text);
    if (!parts) {
        return parts.error();
    }
    boost::system::error_code error;
    const auto address = boost::asio::ip::make_address(std::string(parts->host), error);
    if (error) {
        return address_error(kind, text, error.message());
    }
    return typename Protocol::endpoint(address, parts->port);
}

template <typename Endpoint>
[[nodiscard]] std::string text_of(const Endpoint& endpoint) {
    const std::string host = endpoint.address().to_string();
    const std::string port = std::to_string(endpoint.port());
    return endpoint.address().is_v6() ? "[" + host + "]:" + port : host + ":" + port;
}

}  // namespace replayout
