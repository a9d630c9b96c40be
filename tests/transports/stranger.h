// SPDX-License-Identifier: MIT
//
// Somebody at a UDP socket who says what he likes to a server of this machine.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"

namespace replayout::test {

/// The cookie that a server gave.
[[nodiscard]] inline Bytes cookie_of(const Bytes& challenge) {
    REQUIRE(challenge.size() == 17);
    REQUIRE(challenge[0] == std::byte{2});
    return {challenge.begin() + 9, challenge.end()};
}

/// Empty: nothing came. `from` is who sent it.
[[nodiscard]] inline Bytes receive_datagram(boost::asio::ip::udp::socket& socket,
                                            boost::asio::ip::udp::endpoint& from) {
    Bytes bytes(2'048);
    boost::system::error_code error;
    bytes.resize(
        socket.receive_from(boost::asio::buffer(bytes.data(), bytes.size()), from, 0, error));
    return error ? Bytes() : bytes;
}

/// A socket that says what it likes.
class Stranger {
  public:
    explicit Stranger(const std::string& server)
        : socket_(context_, boost::asio::ip::udp::endpoint(boost::asio::ip::udp::v4(), 0)) {
        const auto port =
            static_cast<std::uint16_t>(std::stoi(server.substr(server.rfind(':') + 1)));
        server_ = boost::asio::ip::udp::endpoint(boost::asio::ip::address_v4::loopback(), port);
        socket_.non_blocking(true);
    }

    /// As a server of this machine sees it.
    [[nodiscard]] std::string address() const {
        return "127.0.0.1:" + std::to_string(socket_.local_endpoint().port());
    }
    /// What it sends from now on goes to this address of the server's host.
    void turn_to(const std::string& host) { server_.address(boost::asio::ip::make_address(host)); }
    /// The address from which the last datagram came.
    [[nodiscard]] std::string answered_from() const { return from_.address().to_string(); }
    void send(const Bytes& bytes) {
        socket_.send_to(boost::asio::buffer(bytes.data(), bytes.size()), server_);
    }
    /// Empty: nothing came.
    [[nodiscard]] Bytes receive() {
        boost::asio::ip::udp::endpoint from;
        Bytes bytes = receive_datagram(socket_, from);
        if (!bytes.empty()) {
            from_ = from;
        }
        return bytes;
    }
    void drop_all() {
        while (!receive().empty()) {
        }
    }
    /// A request, and another one with the cookie that it was sent; what it was answered. By `hear`
    /// the server takes what was said to it.
    template <typename Hear>
    [[nodiscard]] Bytes ask_twice(std::uint64_t client, Hear hear) {
        drop_all();
        send(request(client, {}));
        hear();
        send(request(client, cookie_of(receive())));
        hear();
        return receive();
    }
    [[nodiscard]] static Bytes request(std::uint64_t client, std::span<const std::byte> cookie) {
        Bytes bytes(1'000);
        bytes[0] = std::byte{1};
        bytes[1] = static_cast<std::byte>(client);
        std::copy(cookie.begin(), cookie.end(), bytes.begin() + 9);
        return bytes;
    }

  private:
    boost::asio::io_context context_;
    boost::asio::ip::udp::socket socket_;
    boost::asio::ip::udp::endpoint server_;
    boost::asio::ip::udp::endpoint from_;
};

/// The token of a welcome.
[[nodiscard]] inline Bytes token_of(const Bytes& welcome) {
    REQUIRE(welcome.size() == 17);
    REQUIRE(welcome[0] == std::byte{3});
    return {welcome.begin() + 9, welcome.end()};
}

/// Of UDP: `size` bytes of a datagram behind the token.
[[nodiscard]] inline Bytes data_of(const Bytes& token, std::size_t size) {
    Bytes bytes(1);
    bytes.insert(bytes.end(), token.begin(), token.end());
    bytes.resize(bytes.size() + size);
    return bytes;
}

}  // namespace replayout::test
