// SPDX-License-Identifier: MIT
//
// The WebSocket transport: what a stranger's TCP connection can do, and what waits is bounded.
#include <replayout/transports/websocket_transport.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/byte_dump.h"
#include "support/catch.h"
#include "support/seeded_random.h"
#include "transports/transport_ends.h"

namespace replayout::test {
namespace {

using boost::asio::ip::tcp;

/// A TCP connection that says what it likes.
class Caller {
  public:
    explicit Caller(const std::string& server) : socket_(context_) {
        const auto port =
            static_cast<std::uint16_t>(std::stoi(server.substr(server.rfind(':') + 1)));
        socket_.connect({boost::asio::ip::address_v4::loopback(), port});
    }
    void send(const Bytes& bytes) {
        boost::system::error_code error;
        socket_.send(boost::asio::buffer(bytes.data(), bytes.size()), 0, error);
    }

  private:
    boost::asio::io_context context_;
    tcp::socket socket_;
};

TEST_CASE("WebSocketTransport: garbage on the port harms nobody", "[transport][websocket]") {
    WebSocketEnds ends;
    ends.add_client();
    ends.connect_all();
    SeededRandom random(6);
    for (int i = 0; i < 50; ++i) {
        Caller caller(ends.server().local_address());
        const std::string line = "GET / HTTP/1.1\r\nUpgrade: websocket\r\n";
        Bytes bytes(line.size() + random.below(20'000));
        for (std::byte& byte : bytes) {
            byte = std::byte(random.below(256));
        }
        if (random.percent(50)) {
            for (std::size_t at = 0; at < line.size(); ++at) {
                bytes[at] = static_cast<std::byte>(line[at]);
            }
        }
        caller.send(bytes);
        ends.advance();
        ends.advance();
    }
    CHECK(ends.server().peer_count() == 1);
    ends.client(0).send(ends.server_peer(0), Bytes(10));
    PeerId peer;
    Bytes buffer(2'048);
    std::size_t size = Transport::nothing_received;
    for (int i = 0; i < 100 && size == Transport::nothing_received; ++i) {
        ends.advance();
        size = ends.server().receive(peer, buffer);
    }
    CHECK(size == 10);
}

TEST_CASE("WebSocketTransport: for who does not read, what waits is bounded",
          "[transport][websocket]") {
    WebSocketSettings settings;
    settings.send_bytes_max = 10'000;
    auto server = required(WebSocketTransport::listen("127.0.0.1:0", settings));
    auto client = required(WebSocketTransport::connect(server->local_address()));
    NetTime now;
    for (int i = 0; i < 10'000 && !client->is_connected(); ++i) {
        now = now.plus_milliseconds(1);
        server->tick(now);
        client->tick(now);
    }
    client->send(client->server(), Bytes(1));
    client->flush();
    PeerId peer;
    Bytes buffer(2'048);
    std::size_t size = Transport::nothing_received;
    for (int i = 0; i < 10'000 && size == Transport::nothing_received; ++i) {
        server->tick(now);
        size = server->receive(peer, buffer);
    }
    REQUIRE(size == 1);
    for (int i = 0; i < 10'000; ++i) {
        server->send(peer, Bytes(1'000));
        server->flush();
    }
    CHECK(server->stats().send_errors > 0);
    // What was not dropped arrives.
    const std::uint64_t taken = 10'000 - server->stats().send_errors;
    std::uint64_t arrived = 0;
    for (int i = 0; i < 100'000 && arrived < taken; ++i) {
        server->tick(now);
        client->tick(now);
        while (client->receive(peer, buffer) != Transport::nothing_received) {
            ++arrived;
        }
    }
    CHECK(arrived == taken);
}

TEST_CASE("WebSocketTransport: there is an end to connections, and who leaves makes room",
          "[transport][websocket]") {
    WebSocketSettings settings;
    settings.peers_max = 2;
    auto server = required(WebSocketTransport::listen("127.0.0.1:0", settings));
    std::vector<std::unique_ptr<WebSocketTransport>> clients;
    NetTime now;
    const auto pump = [&] {
        for (int i = 0; i < 20; ++i) {
            now = now.plus_milliseconds(100);
            server->tick(now);
            for (const auto& client : clients) {
                client->tick(now);
            }
        }
    };
    for (int i = 0; i < 3; ++i) {
        clients.push_back(required(WebSocketTransport::connect(server->local_address())));
        pump();
    }
    CHECK(server->peer_count() == 2);
    CHECK_FALSE(clients[2]->is_connected());
    CHECK(server->stats().dropped_full >= 1);
    clients.erase(clients.begin());
    pump();
    CHECK(server->peer_count() == 2);
    CHECK(clients[1]->is_connected());
    CHECK(server->stats().peers_forgotten == 1);
}

}  // namespace
}  // namespace replayout::test
