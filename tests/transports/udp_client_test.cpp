// SPDX-License-Identifier: MIT
//
// The UDP transport: when a client asks, and what it takes of a server, and of others.
#include <replayout/transports/udp_transport.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "transports/false_server.h"
#include "transports/stranger.h"
#include "transports/transport_ends.h"

namespace replayout::test {
namespace {

constexpr std::uint64_t asked_token = 0x0102'0304'0506'0708;

/// A client, and what it takes for its server.
class UdpAsker {
  public:
    UdpAsker() : client(required(UdpTransport::connect(server.address()))) {}

    void tick_at(std::int64_t us) { client->tick(NetTime{us}); }
    [[nodiscard]] bool asks_at(std::int64_t us) {
        tick_at(us);
        return !server.receive().empty();
    }
    /// What its driver is given; nothing_received if nothing.
    [[nodiscard]] std::size_t receive() { return receive_one(*client); }
    /// It asks, and is welcome at once.
    void welcome_at(std::int64_t us) {
        tick_at(us);
        server.send(handshake_bytes(3, client_of(server.receive()), asked_token));
        CHECK(receive() == Transport::nothing_received);
        REQUIRE(client->is_connected());
    }

    FalseServer server;
    std::unique_ptr<UdpTransport> client;
};

TEST_CASE("UdpTransport: a client asks five times a second until it is welcome",
          "[transport][udp]") {
    UdpAsker asking;
    CHECK(asking.asks_at(0));
    CHECK_FALSE(asking.asks_at(199'999));
    CHECK(asking.asks_at(200'000));
    CHECK(asking.client->peer_count() == 0);
    asking.welcome_at(400'000);
    CHECK(asking.client->peer_count() == 1);
    CHECK_FALSE(asking.asks_at(600'000));
    CHECK(asking.client->stats().datagrams_sent == 0);
}

TEST_CASE("UdpTransport: one that nobody ticks logs that once", "[transport][udp]") {
    UdpAsker asking;
    const LogSpy log(LogLevel::Warning);
    for (int i = 0; i < 1'000; ++i) {
        CHECK(asking.receive() == Transport::nothing_received);
    }
    REQUIRE(LogSpy::messages().size() == 1);
    CHECK(LogSpy::messages()[0].find("UDP transport: receive() was called 256 times") == 0);
}

TEST_CASE("UdpTransport: a client that heard nothing for five seconds asks again",
          "[transport][udp]") {
    UdpAsker asking;
    asking.welcome_at(400'000);
    CHECK_FALSE(asking.asks_at(5'399'999));
    CHECK(asking.asks_at(5'400'000));
    CHECK_FALSE(asking.asks_at(5'599'999));
    CHECK(asking.asks_at(5'600'000));
    CHECK(asking.client->is_connected());
    asking.server.send(data_of(Bytes(8), 1));  // is no sign of life of its server
    CHECK(asking.receive() == Transport::nothing_received);
    CHECK(asking.client->stats().dropped_forged == 1);
    CHECK(asking.asks_at(5'800'000));
    asking.server.send(data_of(make_bytes(8, 7, 6, 5, 4, 3, 2, 1), 1));
    CHECK(asking.receive() == 1);
    CHECK_FALSE(asking.asks_at(10'799'999));
    CHECK(asking.asks_at(10'800'000));
}

TEST_CASE("UdpTransport: a client that was closed does not ask while goodbyes are waited for",
          "[transport][udp]") {
    UdpAsker asking;
    asking.welcome_at(0);
    asking.tick_at(4'000'000);
    asking.client->close(PeerId{2});  // is nobody
    asking.client->close(asking.client->server());
    CHECK_FALSE(asking.asks_at(5'000'000));
    CHECK_FALSE(asking.asks_at(7'000'000));
    CHECK(asking.client->is_connected());
    CHECK_FALSE(asking.asks_at(7'000'001));
    CHECK_FALSE(asking.client->is_connected());
    CHECK(asking.client->peer_count() == 0);
    asking.client->send(asking.client->server(), Bytes(1));
    CHECK(asking.asks_at(7'000'002));
}

TEST_CASE("UdpTransport: a client takes answers of its server alone, and to its own number",
          "[transport][udp]") {
    UdpAsker asking;
    asking.tick_at(0);
    const std::uint64_t number = client_of(asking.server.receive());
    FalseServer other;
    std::uint64_t malformed = 0;
    const auto is_dropped = [&](FalseServer& sender, const Bytes& bytes) {
        sender.send(bytes, asking.server);
        CHECK(asking.receive() == Transport::nothing_received);
        return asking.client->stats().dropped_malformed == ++malformed &&
               asking.server.receive().empty() && !asking.client->is_connected();
    };
    for (const int answer : {2, 3}) {
        CAPTURE(answer);
        CHECK(is_dropped(other, handshake_bytes(answer, number, 9)));
        CHECK(is_dropped(asking.server, handshake_bytes(answer, number - 1, 9)));
        CHECK(is_dropped(asking.server, handshake_bytes(answer, number + 1, 9)));
    }
    CHECK(is_dropped(asking.server, handshake_bytes(1, number, 9)));  // a request is no answer
    // What is its own it takes: a cookie, that it asks with at once, and then a welcome.
    asking.server.send(handshake_bytes(2, number, 9));
    CHECK(asking.receive() == Transport::nothing_received);
    CHECK(asking.server.receive() == handshake_bytes(1, number, 9));
    for (int i = 0; i < 2; ++i) {  // the second one is an answer to what it asked before
        asking.server.send(handshake_bytes(3, number, asked_token));
        CHECK(asking.receive() == Transport::nothing_received);
    }
    CHECK(asking.client->is_connected());
    CHECK(asking.client->stats().peers_welcomed == 1);
    CHECK(asking.client->stats().dropped_malformed == malformed);
}

TEST_CASE("UdpTransport: a client whose server answers from another address logs that once",
          "[transport][udp]") {
    UdpAsker asking;
    asking.tick_at(0);
    const std::uint64_t number = client_of(asking.server.receive());
    FalseServer other;
    const LogSpy log(LogLevel::Warning);
    for (const std::uint64_t others : {number - 1, number + 1}) {  // these answer somebody else
        other.send(handshake_bytes(2, others, 9), asking.server);
        other.send(handshake_bytes(3, others, 9), asking.server);
    }
    other.send(handshake_bytes(1, number, 9), asking.server);  // a request
    other.send(data_of(Bytes(8), 1), asking.server);
    asking.server.send(handshake_bytes(2, number - 1, 9));
    CHECK(asking.receive() == Transport::nothing_received);
    CHECK(LogSpy::messages().empty());
    for (int i = 0; i < 100; ++i) {
        other.send(handshake_bytes(2 + i % 2, number, 9), asking.server);
        CHECK(asking.receive() == Transport::nothing_received);
    }
    REQUIRE(LogSpy::messages().size() == 1);
    CHECK(LogSpy::messages()[0] ==
          "UDP: the client asked " + asking.server.address() + ", and " + other.address() +
              " answered. A client takes answers only from the address that it asked: connect to " +
              other.address() + ", or let the server listen on " + asking.server.address() +
              " itself");
    CHECK(asking.client->stats().dropped_malformed == 106);
    CHECK_FALSE(asking.client->is_connected());
}

TEST_CASE("UdpTransport: before a client is welcome no token is the right one",
          "[transport][udp]") {
    UdpAsker asking;
    CHECK(asking.asks_at(0));
    asking.server.send(data_of(Bytes(8), 1));
    CHECK(asking.receive() == Transport::nothing_received);
    CHECK(asking.client->stats().dropped_unproved == 1);
}

TEST_CASE("UdpTransport: what the system does not send counts as an error", "[transport][udp]") {
    auto client = required(UdpTransport::connect("127.0.0.1:0"));  // to port 0 nothing goes
    client->tick(NetTime{});
    CHECK(client->stats().send_errors == 1);
    client->tick(NetTime{200'000});
    CHECK(client->stats().send_errors == 2);
}

}  // namespace
}  // namespace replayout::test
