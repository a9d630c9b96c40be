// SPDX-License-Identifier: MIT
//
// The ENet transport: nothing reaches ENet before the address is proved.
#include <replayout/transports/enet_transport.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"
#include "support/checks/seeded_random.h"
#include "transports/false_server.h"
#include "transports/random_bytes.h"
#include "transports/stranger.h"
#include "transports/transport_ends.h"

namespace replayout::test {
namespace {

TEST_CASE("EnetTransport: an address that proved nothing is answered with less than it sent",
          "[transport][enet]") {
    auto server = required(EnetTransport::listen("127.0.0.1:0"));
    Stranger stranger(server->local_address());
    NetTime now = NetTime::from_milliseconds(1);
    // A connect of ENet's own: 0x8FFF, no session, its time, command 2 that asks for an answer.
    Bytes connect(52);
    connect[0] = std::byte{0x8F};
    connect[1] = std::byte{0xFF};
    connect[4] = std::byte{0x82};
    connect[5] = std::byte{0xFF};
    stranger.send(connect);
    server->tick(now);
    server->flush();
    CHECK(stranger.receive().empty());
    CHECK(server->stats().dropped_unproved == 1);

    stranger.send(Stranger::request(5, {}));
    server->tick(now);
    const Bytes challenge = stranger.receive();
    CHECK(challenge.size() == 17);
    stranger.send(Stranger::request(5, cookie_of(challenge)));
    server->tick(now);
    CHECK(stranger.receive().size() == 17);
    CHECK(server->peer_count() == 0);
}

TEST_CASE("EnetTransport: whatever strangers send, they are sent less, and nothing is kept of them",
          "[transport][enet]") {
    CountingResource memory;
    EnetSettings settings;
    settings.resource = &memory;
    auto server = required(EnetTransport::listen("127.0.0.1:0", settings));
    NetTime now = NetTime::from_milliseconds(1);
    server->tick(now);
    const std::uint64_t before = memory.allocation_count();
    SeededRandom random(12);
    std::uint64_t bytes_out = 0;
    for (int i = 0; i < 1'000; ++i) {
        Stranger stranger(server->local_address());
        Bytes bytes = Stranger::request(random.below(256), {});
        bytes[9 + random.below(8)] = std::byte(random.below(256));  // a cookie that is none
        if (random.percent(30)) {
            bytes.resize(random.between(1, 999));
        }
        stranger.send(bytes);
        server->tick(now);
        const Bytes answer = stranger.receive();
        CHECK(answer.size() <= bytes.size());
        bytes_out += answer.size();
    }
    CHECK(bytes_out == 17 * server->stats().challenges_sent);
    CHECK(server->stats().challenges_sent > 500);
    CHECK(memory.allocation_count() == before);
}

TEST_CASE("EnetTransport: one address has so many places, and who leaves gives his back",
          "[transport][enet]") {
    EnetSettings settings;
    settings.peers_per_address_max = 2;
    auto server = required(EnetTransport::listen("127.0.0.1:0", settings));
    std::vector<std::unique_ptr<EnetTransport>> clients;
    NetTime now;
    bool is_speaking = false;
    const auto pump = [&](int ticks, std::int64_t milliseconds) {
        for (int i = 0; i < ticks; ++i) {
            now = now.plus_milliseconds(milliseconds);
            for (const auto& client : clients) {
                client->tick(now);
                client->flush();
            }
            server->tick(now);
            server->flush();
            if (is_speaking) {
                clients[1]->send(clients[1]->server(), Bytes(1));
                server->send(PeerId{2}, Bytes(1));
            }
        }
    };
    for (int i = 0; i < 3; ++i) {
        clients.push_back(required(EnetTransport::connect(server->local_address())));
        is_speaking = i > 0;
        pump(200, 5);
    }
    CHECK(server->peer_count() == 2);
    CHECK_FALSE(clients[2]->is_connected());
    CHECK(server->stats().dropped_full > 0);
    server->close(PeerId{1});  // the driver's connections ended, here and there
    clients[0]->close(clients[0]->server());
    for (int i = 0; i < 500 && server->peer_count() > 1; ++i) {
        pump(10, 10);
    }
    CHECK(server->peer_count() == 1);
    for (int i = 0; i < 500 && !clients[2]->is_connected(); ++i) {
        pump(10, 10);
    }
    CHECK(clients[2]->is_connected());
    CHECK_FALSE(clients[0]->is_connected());
}

TEST_CASE("EnetTransport: who is welcome and does not connect has no place for long",
          "[transport][enet]") {
    EnetSettings settings;
    settings.peers_max = 1;
    auto server = required(EnetTransport::listen("127.0.0.1:0", settings));
    NetTime now = NetTime::from_milliseconds(1);
    const auto ask = [&](Stranger& stranger) {
        return stranger.ask_twice(5, [&] { server->tick(now); });
    };
    Stranger first(server->local_address());
    CHECK(ask(first).size() == 17);
    Stranger second(server->local_address());
    now = now.plus_milliseconds(4'900);
    server->tick(now);
    CHECK(ask(second).empty());
    now = now.plus_milliseconds(1'200);
    server->tick(now);
    CHECK(ask(second).size() == 17);
}

TEST_CASE("EnetTransport: who does not connect has no place for longer than one that is silent",
          "[transport][enet]") {
    EnetSettings settings;
    settings.forget_ms = 1'000;
    settings.peers_max = 1;
    auto server = required(EnetTransport::listen("127.0.0.1:0", settings));
    const auto ask_at = [&](std::int64_t us, Stranger& stranger) {
        return stranger.ask_twice(5, [&] { server->tick(NetTime{us}); });
    };
    Stranger first(server->local_address());
    CHECK(ask_at(0, first).size() == 17);
    server->tick(NetTime{1'000'000});
    Stranger second(server->local_address());
    CHECK(ask_at(1'000'000, second).empty());
    CHECK(server->stats().dropped_full == 1);
    server->tick(NetTime{2'000'000});
    CHECK(ask_at(2'000'000, second).size() == 17);
}

/// A server and a client, and what each of them says in a tick.
class EnetPair {
  public:
    explicit EnetPair(EnetSettings settings = {})
        : server(required(EnetTransport::listen("127.0.0.1:0", settings))),
          client(required(EnetTransport::connect(server->local_address()))) {}

    void pump(int ticks, bool client_speaks, bool server_speaks) {
        for (int i = 0; i < ticks; ++i) {
            now = now.plus_milliseconds(20);
            if (client_speaks) {
                client->send(client->server(), Bytes(1));
            }
            if (server_speaks) {
                server->send(PeerId{1}, Bytes(1));
            }
            client->tick(now);
            client->flush();
            server->tick(now);
            server->flush();
        }
    }
    void connect() {
        for (int i = 0; i < 1'000 && !(client->is_connected() && server->peer_count() == 1); ++i) {
            pump(1, false, false);
        }
        REQUIRE(client->is_connected());
        REQUIRE(server->peer_count() == 1);
    }

    std::unique_ptr<EnetTransport> server;
    std::unique_ptr<EnetTransport> client;
    NetTime now;
};

TEST_CASE("EnetTransport: a peer that was closed leaves soon, and its client asks again",
          "[transport][enet]") {
    EnetPair pair;
    pair.connect();
    pair.pump(10, true, true);
    pair.server->close(PeerId{2});  // is nobody
    pair.pump(200, true, true);
    CHECK(pair.server->peer_count() == 1);
    pair.server->close(PeerId{1});  // the driver's connection ended, here alone
    pair.pump(150, true, false);
    CHECK(pair.server->peer_count() == 1);
    pair.pump(1, true, false);
    CHECK(pair.server->peer_count() == 0);
    CHECK(pair.server->stats().peers_forgotten == 1);
    pair.connect();
    CHECK(pair.server->stats().peers_welcomed == 2);
}

TEST_CASE("EnetTransport: a client that was closed asks again when something is sent to its server",
          "[transport][enet]") {
    EnetPair pair;
    pair.connect();
    pair.client->close(pair.client->server());
    pair.pump(500, false, false);
    CHECK_FALSE(pair.client->is_connected());
    CHECK(pair.server->peer_count() == 0);
    CHECK(pair.server->stats().peers_welcomed == 1);
    pair.client->send(pair.client->server(), Bytes(1));
    pair.connect();
    CHECK(pair.server->stats().peers_welcomed == 2);
}

TEST_CASE("EnetTransport: of what arrived so much waits, and more is dropped",
          "[transport][enet]") {
    EnetSettings settings;
    settings.datagrams_per_tick_max = 10;
    EnetPair pair(settings);
    pair.connect();
    for (int i = 0; i < 25; ++i) {
        pair.client->send(pair.client->server(), Bytes(100));
    }
    for (int i = 0; i < 1'000 && pair.server->stats().dropped_full < 15; ++i) {
        pair.pump(1, false, false);
    }
    CHECK(pair.server->stats().dropped_full == 15);
    CHECK(pair.server->stats().datagrams_received == 10);
    for (int i = 0; i < 10; ++i) {
        CHECK(receive_one(*pair.server) == 100);
    }
    CHECK(receive_one(*pair.server) == Transport::nothing_received);
}

TEST_CASE("EnetTransport: a tick reads a bounded number of datagrams of one peer",
          "[transport][enet]") {
    EnetSettings settings;
    settings.datagrams_per_peer_max = 10;
    EnetPair pair(settings);
    pair.connect();
    for (int tick = 1; tick <= 5; ++tick) {
        for (int i = 0; i < 200; ++i) {
            pair.client->send(pair.client->server(), Bytes(10));
            pair.client->flush();
        }
        pair.pump(1, false, true);
        const std::uint64_t received = pair.server->stats().datagrams_received;
        CHECK(received <= 10u * static_cast<unsigned>(tick));
        (void)receive_all(*pair.server);
    }
    CHECK(pair.server->stats().dropped_full > 900);
    CHECK(pair.server->peer_count() == 1);
}

TEST_CASE("EnetTransport: a flood does not keep a tick for as long as it lasts",
          "[transport][enet]") {
    EnetSettings settings;
    settings.datagrams_per_tick_max = 10;
    auto server = required(EnetTransport::listen("127.0.0.1:0", settings));
    Stranger stranger(server->local_address());
    for (int i = 0; i < 300; ++i) {
        stranger.send(Bytes(5));
    }
    server->tick(NetTime{});
    CHECK(server->stats().dropped_unproved >= 10);
    CHECK(server->stats().dropped_unproved < 300);  // ENet itself ends at 256
    server->tick(NetTime{});
    CHECK(server->stats().dropped_unproved == 300);
}

TEST_CASE("EnetTransport: what is larger than ENet reads does not hide what came behind it",
          "[transport][enet]") {
    EnetPair pair;
    pair.connect();
    Stranger stranger(pair.server->local_address());
    for (int i = 0; i < 10; ++i) {
        stranger.send(Bytes(5'000));
    }
    pair.client->send(pair.client->server(), Bytes(10));
    pair.client->flush();
    pair.server->tick(pair.now);
    CHECK(receive_one(*pair.server) == 10);
}

TEST_CASE("EnetTransport: a server answers requests alone, and hears no stranger",
          "[transport][enet]") {
    auto server = required(EnetTransport::listen("127.0.0.1:0"));
    Stranger stranger(server->local_address());
    for (const int answer : {2, 3}) {
        stranger.send(handshake_bytes(answer, 5, 0));
        server->tick(NetTime{});
        CHECK(stranger.receive().empty());
    }
    CHECK(server->stats().dropped_unproved == 2);
}

TEST_CASE("EnetTransport: garbage on the port harms nobody", "[transport][enet]") {
    EnetEnds ends;
    connect_clients(ends);
    Stranger stranger(ends.server().local_address());
    SeededRandom random(4);
    for (int i = 0; i < 2'000; ++i) {
        stranger.send(random_bytes(random, random.below(1'400)));
        if (i % 32 == 0) {
            ends.advance();
        }
    }
    ends.advance();
    CHECK(ends.server().peer_count() == 1);
    check_heard(ends);
}

TEST_CASE("EnetTransport: who proved himself may say anything, and harms himself alone",
          "[transport][enet]") {
    EnetEnds ends;
    connect_clients(ends);
    Stranger stranger(ends.server().local_address());
    (void)token_of(stranger.ask_twice(5, [&] { ends.advance(); }));
    SeededRandom random(5);
    for (int i = 0; i < 5'000; ++i) {
        Bytes bytes = random_bytes(random, random.below(200));
        if (bytes.size() > 5 && random.percent(70)) {
            bytes[0] = std::byte{0x8F};
            bytes[1] = std::byte{0xFF};
            bytes[4] = std::byte(0x80 + random.below(14));
        }
        stranger.send(bytes);
        if (i % 32 == 0) {
            ends.advance();
        }
    }
    ends.advance();
    CHECK(ends.client(0).is_connected());
}

TEST_CASE("EnetTransport: what ENet cannot do is refused with a sentence", "[transport][enet]") {
    const auto refusal = [](std::size_t datagram_bytes_max, std::uint32_t peers_max) {
        EnetSettings settings;
        settings.datagram_bytes_max = datagram_bytes_max;
        settings.peers_max = peers_max;
        const auto server = EnetTransport::listen("127.0.0.1:0", settings);
        const auto client = EnetTransport::connect("127.0.0.1:7", settings);
        CHECK(server.has_value() == client.has_value());
        return server.has_value() ? "" : server.error().message;
    };
    const std::string refused =
        "ENet address \"127.0.0.1:0\": ENet has no datagrams so large, or peers so many";
    CHECK(refusal(1'300, 1).empty());
    CHECK(refusal(1'301, 1) == refused);
    CHECK(refusal(1'200, 0) == refused);
    CHECK(refusal(1'200, 4'095).empty());
    CHECK(refusal(1'200, 4'096) == refused);
}

}  // namespace
}  // namespace replayout::test
