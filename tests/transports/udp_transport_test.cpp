// SPDX-License-Identifier: MIT
//
// The UDP transport: who may speak to a server, and what strangers can do to it.
#include <replayout/transports/udp_transport.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/seeded_random.h"
#include "transports/stranger.h"
#include "transports/transport_ends.h"

namespace replayout::test {
namespace {

class Server {
  public:
    explicit Server(UdpSettings settings = {}) {
        auto made = UdpTransport::listen("127.0.0.1:0", settings);
        REQUIRE(made.has_value());
        transport = std::move(*made);
        pump();
    }
    /// What is there is read.
    std::size_t pump(std::int64_t milliseconds = 1) {
        now = now.plus_milliseconds(milliseconds);
        transport->tick(now);
        std::size_t count = 0;
        Bytes buffer(2'048);
        PeerId peer;
        while (transport->receive(peer, buffer) != Transport::nothing_received) {
            ++count;
        }
        return count;
    }

    std::unique_ptr<UdpTransport> transport;
    NetTime now;
};

TEST_CASE("UdpTransport: an address that proved nothing is answered with less than it sent",
          "[transport][udp]") {
    Server server;
    Stranger stranger(server.transport->local_address());
    stranger.send(Stranger::request(5, {}));
    CHECK(server.pump() == 0);
    const Bytes challenge = stranger.receive();
    CHECK(challenge.size() == 17);
    CHECK(server.transport->peer_count() == 0);
    // Data of it is not taken.
    stranger.send(Bytes(100));
    CHECK(server.pump() == 0);
    CHECK(server.transport->stats().dropped_unproved == 1);

    stranger.send(Stranger::request(5, cookie_of(challenge)));
    CHECK(server.pump() == 0);
    CHECK(stranger.receive().size() == 9);
    CHECK(server.transport->peer_count() == 1);
    stranger.send(Bytes(100));
    CHECK(server.pump() == 1);
}

TEST_CASE("UdpTransport: a cookie is good for its address, its client and a while",
          "[transport][udp]") {
    Server server;
    Stranger first(server.transport->local_address());
    Stranger second(server.transport->local_address());
    first.send(Stranger::request(5, {}));
    server.pump();
    const Bytes cookie = cookie_of(first.receive());
    second.send(Stranger::request(5, cookie));
    server.pump();
    CHECK(server.transport->peer_count() == 0);  // another address
    first.send(Stranger::request(6, cookie));
    server.pump();
    CHECK(server.transport->peer_count() == 0);  // another client
    first.send(Stranger::request(5, cookie));
    server.pump(21'000);
    CHECK(server.transport->peer_count() == 0);  // too late
    first.drop_all();
    first.send(Stranger::request(5, {}));
    server.pump();
    first.send(Stranger::request(5, cookie_of(first.receive())));
    server.pump();
    CHECK(server.transport->peer_count() == 1);
}

TEST_CASE("UdpTransport: garbage on the port harms nobody, and is counted", "[transport][udp]") {
    UdpEnds ends;
    ends.add_client();
    ends.connect_all();
    Stranger stranger(ends.server().local_address());
    SeededRandom random(3);
    std::uint64_t answered = 0;
    for (int i = 0; i < 2'000; ++i) {
        Bytes bytes(random.below(1'400));
        for (std::byte& byte : bytes) {
            byte = std::byte(random.below(256));
        }
        if (!bytes.empty() && random.percent(50)) {
            bytes[0] = std::byte(random.below(5));
        }
        stranger.send(bytes);
        if (i % 32 == 0) {
            PeerId peer;
            Bytes buffer(2'048);
            ends.advance();
            CHECK(ends.server().receive(peer, buffer) == Transport::nothing_received);
        }
        answered += stranger.receive().empty() ? 0u : 1u;
    }
    CHECK(ends.server().peer_count() == 1);
    ends.advance();
    PeerId nobody;
    Bytes nothing(2'048);
    CHECK(ends.server().receive(nobody, nothing) == Transport::nothing_received);
    const SocketStats& stats = ends.server().stats();
    // The client's own request was challenged once, too.
    CHECK(stats.dropped_malformed + stats.dropped_unproved + stats.challenges_sent == 2'000 + 1);
    CHECK(answered <= stats.challenges_sent);
    ends.client(0).send(ends.server_peer(0), Bytes(10));
    PeerId peer;
    Bytes buffer(2'048);
    ends.advance();
    CHECK(ends.server().receive(peer, buffer) == 10);
}

TEST_CASE("UdpTransport: between two ticks it reads so many datagrams, whatever they are",
          "[transport][udp]") {
    UdpSettings settings;
    settings.datagrams_per_tick_max = 10;
    Server server(settings);
    Stranger stranger(server.transport->local_address());
    for (int i = 0; i < 25; ++i) {
        stranger.send({});
    }
    server.pump();
    CHECK(server.transport->stats().dropped_malformed == 10);
    server.pump();
    server.pump();
    CHECK(server.transport->stats().dropped_malformed == 25);
}

TEST_CASE("UdpTransport: there is an end to peers, and who is silent is forgotten",
          "[transport][udp]") {
    UdpSettings settings;
    settings.peers_max = 2;
    Server server(settings);
    std::deque<Stranger> strangers;
    for (std::uint64_t i = 0; i < 3; ++i) {
        Stranger& stranger = strangers.emplace_back(server.transport->local_address());
        stranger.send(Stranger::request(i, {}));
        server.pump();
        stranger.send(Stranger::request(i, cookie_of(stranger.receive())));
        server.pump();
    }
    CHECK(server.transport->peer_count() == 2);
    CHECK(server.transport->stats().dropped_full == 1);
    server.pump(20'000);
    strangers[0].send(Bytes(1));
    CHECK(server.pump() == 1);
    server.pump(15'000);
    CHECK(server.transport->peer_count() == 1);
    CHECK(server.transport->stats().peers_forgotten == 1);
}

TEST_CASE("UdpTransport: an address that is none is refused with a sentence", "[transport][udp]") {
    for (const char* address :
         {"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "host:7", "[::1:7"}) {
        const auto made = UdpTransport::listen(address);
        REQUIRE_FALSE(made.has_value());
        CHECK(made.error().code == ErrorCode::InvalidArgument);
        CHECK(made.error().message.find("UDP address") == 0);
    }
    CHECK_FALSE(UdpTransport::connect("1.2.3.4").has_value());
}

}  // namespace
}  // namespace replayout::test
