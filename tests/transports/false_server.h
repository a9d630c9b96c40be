// SPDX-License-Identifier: MIT
//
// A UDP socket that a client takes for its server, and that says what it likes; or somebody else's
// socket, for what it sends to the same client.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"
#include "transports/stranger.h"

namespace replayout::test {

class FalseServer {
  public:
    explicit FalseServer(const std::string& host = "127.0.0.1", std::uint16_t port = 0)
        : socket_(context_, {boost::asio::ip::make_address(host), port}) {
        socket_.non_blocking(true);
    }

    [[nodiscard]] std::string address() const {
        return socket_.local_endpoint().address().to_string() + ":" + std::to_string(port());
    }
    [[nodiscard]] std::uint16_t port() const { return socket_.local_endpoint().port(); }

    /// Empty: nothing came. Who sent it is the client from then on.
    [[nodiscard]] Bytes receive() {
        boost::asio::ip::udp::endpoint from;
        Bytes bytes = receive_datagram(socket_, from);
        if (!bytes.empty()) {
            client_ = from;
        }
        return bytes;
    }
    void send(const Bytes& bytes) { send(bytes, *this); }
    /// To the client of another one.
    void send(const Bytes& bytes, const FalseServer& other) {
        socket_.send_to(boost::asio::buffer(bytes.data(), bytes.size()), other.client_);
    }

  private:
    boost::asio::io_context context_;
    boost::asio::ip::udp::socket socket_;
    boost::asio::ip::udp::endpoint client_;
};

/// What addresses are proved with: 1 asks, with zeros up to 1,000 bytes, 2 brings a cookie, 3 a
/// token (docs/wire_format.md, section 17).
[[nodiscard]] inline Bytes handshake_bytes(int message, std::uint64_t client,
                                           std::uint64_t cookie) {
    Bytes bytes{static_cast<std::byte>(message)};
    for (const std::uint64_t number : {client, cookie}) {
        for (int shift = 0; shift < 64; shift += 8) {
            bytes.push_back(static_cast<std::byte>(number >> shift & 0xFF));
        }
    }
    bytes.resize(message == 1 ? 1'000 : bytes.size());
    return bytes;
}

/// Of a request: who asks.
[[nodiscard]] inline std::uint64_t client_of(const Bytes& request) {
    REQUIRE(request.size() == 1'000);
    REQUIRE(request[0] == std::byte{1});
    std::uint64_t client = 0;
    for (std::size_t i = 0; i < 8; ++i) {
        client |= std::to_integer<std::uint64_t>(request[1 + i]) << (8 * i);
    }
    return client;
}

}  // namespace replayout::test
