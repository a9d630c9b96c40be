// SPDX-License-Identifier: MIT
//
// The WebSocket transport: what a stranger's TCP connection can do, and what waits is bounded.
#include <replayout/transports/websocket_transport.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"
#include "support/checks/seeded_random.h"
#include "transports/caller.h"
#include "transports/random_bytes.h"
#include "transports/transport_ends.h"

namespace replayout::test {
namespace {

/// A millisecond of all of them.
template <typename Clients>
void tick_all(WebSocketTransport& server, const Clients& clients, NetTime& now) {
    now = now.plus_milliseconds(1);
    for (const auto& client : clients) {
        client->tick(now);
        client->flush();
    }
    server.tick(now);
}

/// Until the client is connected, or so many milliseconds are over.
void tick_until_connected(WebSocketTransport& server, WebSocketTransport& client, NetTime& now,
                          int milliseconds_max = 10'000) {
    for (int i = 0; i < milliseconds_max && !client.is_connected(); ++i) {
        now = now.plus_milliseconds(1);
        server.tick(now);
        client.tick(now);
    }
}

TEST_CASE("WebSocketTransport: garbage on the port harms nobody", "[transport][websocket]") {
    WebSocketEnds ends;
    connect_clients(ends);
    SeededRandom random(6);
    for (int i = 0; i < 50; ++i) {
        Caller caller(ends.server().local_address());
        const std::string line = "GET / HTTP/1.1\r\nUpgrade: websocket\r\n";
        Bytes bytes = random_bytes(random, line.size() + random.below(20'000));
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
    check_heard(ends);
}

TEST_CASE("WebSocketTransport: for who does not read, what waits is bounded",
          "[transport][websocket]") {
    WebSocketSettings settings;
    settings.send_bytes_max = 10'000;
    auto server = required(WebSocketTransport::listen("127.0.0.1:0", settings));
    auto client = required(WebSocketTransport::connect(server->local_address()));
    NetTime now;
    tick_until_connected(*server, *client, now);
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
        arrived += receive_all(*client);
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
            now = now.plus_milliseconds(60);
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

TEST_CASE("WebSocketTransport: a request with headers beyond 8 KiB is refused",
          "[transport][websocket]") {
    auto server = required(WebSocketTransport::listen("127.0.0.1:0"));
    Caller good(server->local_address());
    Caller endless(server->local_address());
    good.say(browser_request(7'000));
    endless.say(browser_request(9'000));
    NetTime now;
    for (int i = 0; i < 10'000 && !(server->peer_count() == 1 && endless.is_closed()); ++i) {
        now = now.plus_milliseconds(1);
        server->tick(now);
    }
    CHECK(server->peer_count() == 1);
    CHECK(endless.is_closed());
    CHECK_FALSE(good.is_closed());
}

TEST_CASE("WebSocketTransport: who connects and does not ask has no place for long",
          "[transport][websocket]") {
    WebSocketSettings settings;
    settings.handshake_ms = 200;
    settings.peers_max = 1;
    auto server = required(WebSocketTransport::listen("127.0.0.1:0", settings));
    Caller silent(server->local_address());
    silent.say("GET / HTTP/1.1\r\n");
    NetTime now;
    const auto begin = std::chrono::steady_clock::now();
    while (!silent.is_closed() &&
           std::chrono::steady_clock::now() - begin < std::chrono::seconds(30)) {
        now = now.plus_milliseconds(1);
        server->tick(now);
    }
    CHECK(silent.is_closed());
    CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(190));
    auto client = required(WebSocketTransport::connect(server->local_address()));
    tick_until_connected(*server, *client, now);
    CHECK(client->is_connected());
}

TEST_CASE("WebSocketTransport: one address has so many places, and who leaves gives his back",
          "[transport][websocket]") {
    WebSocketSettings settings;
    settings.peers_per_address_max = 1;
    auto server = required(WebSocketTransport::listen("127.0.0.1:0", settings));
    auto first = required(WebSocketTransport::connect(server->local_address()));
    auto second = required(WebSocketTransport::connect(server->local_address()));
    NetTime now;
    const auto pump = [&](int ticks, auto&& is_done) {
        for (int i = 0; i < ticks && !is_done(); ++i) {
            now = now.plus_milliseconds(20);
            server->tick(now);
            first->tick(now);
            second->tick(now);
        }
    };
    pump(1'000, [&] { return first->is_connected() && server->stats().dropped_full > 0; });
    CHECK(first->is_connected());
    CHECK_FALSE(second->is_connected());
    CHECK(server->stats().dropped_full > 0);
    first->close(first->server());  // the driver's connections ended, here and there
    server->close(PeerId{1});
    pump(1'000, [&] { return second->is_connected(); });
    CHECK(second->is_connected());
    CHECK_FALSE(first->is_connected());
    CHECK(server->peer_count() == 1);
}

TEST_CASE("WebSocketTransport: of one peer so much waits to be received, and nothing is lost",
          "[transport][websocket]") {
    WebSocketSettings settings;
    settings.datagrams_waiting_per_peer_max = 10;
    auto server = required(WebSocketTransport::listen("127.0.0.1:0", settings));
    auto greedy = required(WebSocketTransport::connect(server->local_address()));
    auto modest = required(WebSocketTransport::connect(server->local_address()));
    NetTime now;
    const auto pump = [&] { tick_all(*server, std::array{greedy.get(), modest.get()}, now); };
    for (int i = 0; i < 10'000 && !(greedy->is_connected() && modest->is_connected()); ++i) {
        pump();
    }
    for (int i = 0; i < 100; ++i) {
        greedy->send(greedy->server(), Bytes(100));
    }
    modest->send(modest->server(), Bytes(7));
    for (int i = 0; i < 10'000 && server->stats().datagrams_received < 11; ++i) {
        pump();
    }
    for (int i = 0; i < 50; ++i) {
        pump();
    }
    CHECK(server->stats().datagrams_received == 11);
    std::size_t of_greedy = 0;
    std::size_t of_modest = 0;
    for (int i = 0; i < 10'000 && of_greedy + of_modest < 101; ++i) {
        pump();
        for (std::size_t size = receive_one(*server); size != Transport::nothing_received;
             size = receive_one(*server)) {
            ++(size == 7 ? of_modest : of_greedy);
        }
    }
    CHECK(of_greedy == 100);
    CHECK(of_modest == 1);
    CHECK(server->stats().dropped_full == 0);
}

TEST_CASE("WebSocketTransport: of one address so much waits to be received, and others get through",
          "[transport][websocket]") {
    WebSocketSettings settings;
    settings.datagrams_waiting_per_address_max = 20;
    auto server = required(WebSocketTransport::listen("127.0.0.1:0", settings));
    std::vector<std::unique_ptr<WebSocketTransport>> clients;
    for (int i = 0; i < 8; ++i) {
        clients.push_back(required(WebSocketTransport::connect(server->local_address())));
    }
    NetTime now;
    const auto pump = [&] { tick_all(*server, clients, now); };
    const auto is_connected = [](const auto& client) { return client->is_connected(); };
    for (int i = 0; i < 3'000 && !std::all_of(clients.begin(), clients.end(), is_connected); ++i) {
        pump();
    }
    REQUIRE(server->peer_count() == 8);
    for (const auto& client : clients) {
        for (int i = 0; i < 50; ++i) {
            client->send(client->server(), Bytes(10));
        }
    }
    for (int i = 0; i < 300; ++i) {
        pump();
    }
    CHECK(server->stats().datagrams_received >= 20);
    CHECK(server->stats().datagrams_received <= 28);  // and one that each connection was reading
    std::size_t received = 0;
    for (int i = 0; i < 10'000 && received < 400; ++i) {
        now = now.plus_milliseconds(-1);  // it takes as long as it takes
        pump();
        received += receive_all(*server);
    }
    CHECK(received == 400);
    CHECK(server->stats().dropped_full == 0);
}

TEST_CASE("WebSocketTransport: what a connection left behind counts for its address until received",
          "[transport][websocket]") {
    WebSocketSettings settings;
    settings.datagrams_waiting_per_address_max = 10;
    auto server = required(WebSocketTransport::listen("127.0.0.1:0", settings));
    NetTime now;
    const auto flood = [&] {
        auto client = required(WebSocketTransport::connect(server->local_address()));
        for (int i = 0; i < 500; ++i) {
            now = now.plus_milliseconds(1);
            client->tick(now);
            client->send(client->server(), Bytes(10));
            client->flush();
            server->tick(now);
        }
    };
    for (int i = 0; i < 4; ++i) {
        flood();
    }
    CHECK(server->stats().datagrams_received == 10);
    CHECK(receive_all(*server) == 10);
    flood();
    CHECK(server->stats().datagrams_received >= 20);
    CHECK(server->stats().datagrams_received <= 24);  // and one of each connection that was held up
}

TEST_CASE("WebSocketTransport: a client that begins anew gets in at once",
          "[transport][websocket]") {
    WebSocketSettings settings;
    settings.peers_max = 1;
    auto server = required(WebSocketTransport::listen("127.0.0.1:0", settings));
    NetTime now;
    for (int i = 0; i < 3; ++i) {
        auto client = required(WebSocketTransport::connect(server->local_address()));
        const NetTime begun = now;
        tick_until_connected(*server, *client, now, 1'500);
        CHECK(client->is_connected());
        CHECK(now.microseconds - begun.microseconds < 1'500'000);
    }
}

}  // namespace
}  // namespace replayout::test
