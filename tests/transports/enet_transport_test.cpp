// SPDX-License-Identifier: MIT
//
// The ENet transport: nothing reaches ENet before the address is proved.
#include <replayout/transports/enet_transport.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "support/catch.h"
#include "support/seeded_random.h"
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
    CHECK(stranger.receive().size() == 9);
    CHECK(server->peer_count() == 0);
}

TEST_CASE("EnetTransport: garbage on the port harms nobody", "[transport][enet]") {
    EnetEnds ends;
    ends.add_client();
    ends.connect_all();
    Stranger stranger(ends.server().local_address());
    SeededRandom random(4);
    for (int i = 0; i < 2'000; ++i) {
        Bytes bytes(random.below(1'400));
        for (std::byte& byte : bytes) {
            byte = std::byte(random.below(256));
        }
        stranger.send(bytes);
        if (i % 32 == 0) {
            ends.advance();
        }
    }
    ends.advance();
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

TEST_CASE("EnetTransport: who proved himself may say anything, and harms himself alone",
          "[transport][enet]") {
    EnetEnds ends;
    ends.add_client();
    ends.connect_all();
    Stranger stranger(ends.server().local_address());
    stranger.send(Stranger::request(5, {}));
    ends.advance();
    stranger.send(Stranger::request(5, cookie_of(stranger.receive())));
    ends.advance();
    SeededRandom random(5);
    for (int i = 0; i < 5'000; ++i) {
        Bytes bytes(random.below(200));
        for (std::byte& byte : bytes) {
            byte = std::byte(random.below(256));
        }
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

TEST_CASE("EnetTransport: an address that is none is refused with a sentence",
          "[transport][enet]") {
    for (const char* address : {"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "host:7"}) {
        const auto made = EnetTransport::listen(address);
        REQUIRE_FALSE(made.has_value());
        CHECK(made.error().code == ErrorCode::InvalidArgument);
    }
    EnetSettings settings;
    settings.datagram_bytes_max = 1'301;
    CHECK_FALSE(EnetTransport::listen("127.0.0.1:0", settings).has_value());
    settings.datagram_bytes_max = 1'300;
    CHECK(EnetTransport::listen("127.0.0.1:0", settings).has_value());
    settings.peers_max = 4'096;
    CHECK_FALSE(EnetTransport::listen("127.0.0.1:0", settings).has_value());
}

}  // namespace
}  // namespace replayout::test
