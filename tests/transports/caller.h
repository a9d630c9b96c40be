// SPDX-License-Identifier: MIT
//
// Somebody at the other end of a TCP connection who says what he likes to a server of this machine.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "support/checks/byte_dump.h"

namespace replayout::test {

/// A TCP connection that says what it likes.
class Caller {
  public:
    explicit Caller(const std::string& server, const std::string& from = "127.0.0.1")
        : socket_(context_, {boost::asio::ip::make_address(from), 0}) {
        const auto port =
            static_cast<std::uint16_t>(std::stoi(server.substr(server.rfind(':') + 1)));
        socket_.set_option(boost::asio::ip::tcp::no_delay(true));
        socket_.connect({boost::asio::ip::address_v4::loopback(), port});
    }
    void send(const Bytes& bytes) {
        boost::system::error_code error;
        socket_.send(boost::asio::buffer(bytes.data(), bytes.size()), 0, error);
    }
    void say(const std::string& text) {
        const auto bytes = std::as_bytes(std::span(text));
        send({bytes.begin(), bytes.end()});
    }
    /// Of up to 125 bytes, as who answers a server masks it, here with nothing.
    void say_message(int kind, const Bytes& message) {
        Bytes frame = make_bytes(0x80 | kind, 0x80 | message.size(), 0, 0, 0, 0);
        frame.insert(frame.end(), message.begin(), message.end());
        send(frame);
    }
    static constexpr int text_message = 1;
    static constexpr int binary_message = 2;
    /// Gone at once, and what is under way with it.
    void break_off() {
        socket_.set_option(boost::asio::socket_base::linger(true, 0));
        socket_.close();
    }
    /// The server has closed the connection. Whatever it said is thrown away.
    [[nodiscard]] bool is_closed() {
        boost::system::error_code error;
        (void)drain(error);
        return error != boost::asio::error::would_block && error != boost::asio::error::try_again;
    }
    /// How many bytes the server has sent since the last call. They are thrown away.
    std::uint64_t take_answers() {
        boost::system::error_code error;
        return drain(error);
    }

  private:
    std::uint64_t drain(boost::system::error_code& error) {
        socket_.non_blocking(true);
        std::uint64_t bytes = 0;
        do {
            char buffer[512];
            bytes += socket_.receive(boost::asio::buffer(buffer), 0, error);
        } while (!error);
        socket_.non_blocking(false);
        return bytes;
    }

    boost::asio::io_context context_;
    boost::asio::ip::tcp::socket socket_;
};

/// A request of a browser's, with headers of so many bytes besides.
[[nodiscard]] inline std::string browser_request(std::size_t more_bytes = 0) {
    std::string text =
        "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n";
    while (more_bytes > 0) {
        const std::size_t bytes = std::min<std::size_t>(more_bytes, 1'000);
        text += "X: " + std::string(bytes, 'x') + "\r\n";
        more_bytes -= bytes;
    }
    return text + "\r\n";
}

}  // namespace replayout::test
