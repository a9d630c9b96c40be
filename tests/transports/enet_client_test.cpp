// SPDX-License-Identifier: MIT
//
// The ENet transport: what a client takes of its server, and of others.
#include <replayout/transports/enet_transport.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <enet/enet.h>

#include "support/catch.h"
#include "transports/false_server.h"
#include "transports/own_enet_client.h"
#include "transports/transport_ends.h"

namespace replayout::test {
namespace {

/// A client, and what it takes for its server, which was asked once.
class EnetAsker {
  public:
    explicit EnetAsker(const std::string& host = "127.0.0.1")
        : server(host), client(required(EnetTransport::connect(server.address()))) {
        tick();
        number = client_of(server.receive());
    }

    void tick(std::int64_t milliseconds = 1) {
        now = now.plus_milliseconds(milliseconds);
        client->tick(now);
        client->flush();
    }
    /// What it says to its server when it has heard that.
    [[nodiscard]] Bytes answer(const Bytes& bytes) { return answer(bytes, server); }
    [[nodiscard]] Bytes answer(const Bytes& bytes, FalseServer& sender) {
        sender.send(bytes, server);
        tick();
        return server.receive();
    }

    FalseServer server;
    std::unique_ptr<EnetTransport> client;
    NetTime now;
    std::uint64_t number = 0;
};

TEST_CASE("EnetTransport: a client hears its server alone", "[transport][enet]") {
#if defined(__linux__)  // answers to all of 127.0.0.0/8
    EnetAsker asking("127.0.0.2");
    FalseServer others[] = {FalseServer("127.0.0.1", asking.server.port()),
                            FalseServer("127.0.0.3", asking.server.port()),
                            FalseServer("127.0.0.2")};
#else
    EnetAsker asking;
    FalseServer others[] = {FalseServer()};
#endif
    std::uint64_t dropped = 0;
    for (FalseServer& other : others) {
        CAPTURE(other.address());
        CHECK(asking.answer(handshake_bytes(2, asking.number, 9), other).empty());
        CHECK(asking.client->stats().dropped_unproved == ++dropped);
        CHECK(asking.answer(handshake_bytes(3, asking.number, 9), other).empty());
        CHECK(asking.client->stats().dropped_unproved == ++dropped);
        CHECK(asking.answer(OwnClient::connect_bytes(1, 0), other).empty());
        CHECK(asking.client->stats().dropped_unproved == ++dropped);
    }
    CHECK(asking.answer(handshake_bytes(2, asking.number, 9)) ==
          handshake_bytes(1, asking.number, 9));
    CHECK(asking.client->stats().dropped_unproved == dropped);
}

TEST_CASE("EnetTransport: to a client nobody connects, nor does its server", "[transport][enet]") {
    EnetAsker asking;
    CHECK(asking.answer(OwnClient::connect_bytes(1, 0)).empty());
    CHECK(asking.client->stats().dropped_unproved == 1);
    CHECK_FALSE(asking.client->is_connected());
}

TEST_CASE("EnetTransport: a client takes answers to its own number, and connects as it was told",
          "[transport][enet]") {
    EnetAsker asking;
    for (const std::uint64_t number : {asking.number - 1, asking.number + 1}) {
        CHECK(asking.answer(handshake_bytes(2, number, 9)).empty());
        CHECK(asking.answer(handshake_bytes(3, number, 9)).empty());
    }
    CHECK(asking.answer(handshake_bytes(1, asking.number, 9)).empty());  // asks, and answers not
    CHECK(asking.answer(handshake_bytes(2, asking.number, 9)) ==
          handshake_bytes(1, asking.number, 9));
    // What comes behind an answer, and is none, is not taken for another one.
    asking.server.send(handshake_bytes(2, asking.number, 9));
    CHECK(asking.answer(make_bytes(2)) == handshake_bytes(1, asking.number, 9));
    CHECK(asking.server.receive().empty());
    const Bytes connect = asking.answer(handshake_bytes(3, asking.number, 0xFEDC'BA98'7654'3210));
    REQUIRE(connect.size() == 56);
    CHECK(Bytes(connect.begin(), connect.begin() + 2) == make_bytes(0x8F, 0xFF));
    CHECK(Bytes(connect.end() - 4, connect.end()) == make_bytes(0x76, 0x54, 0x32, 0x10));
    // Once: what it is told again it was told before.
    CHECK(asking.answer(handshake_bytes(3, asking.number, 9)).empty());
    CHECK_FALSE(asking.client->is_connected());
}

TEST_CASE("EnetTransport: a client whose connect nobody answers asks again, as another one",
          "[transport][enet]") {
    EnetAsker asking;
    CHECK(asking.answer(handshake_bytes(3, asking.number, 9)).size() == 56);
    enet_time_set(enet_time_get() + 40'000);  // ENet waits for half a minute, by its own clock
    asking.tick();
    while (!asking.server.receive().empty()) {
    }
    asking.tick(200);
    CHECK(client_of(asking.server.receive()) != asking.number);
    CHECK(asking.client->stats().peers_forgotten == 0);
}

TEST_CASE("EnetTransport: what the system does not send counts as an error", "[transport][enet]") {
    auto client = required(EnetTransport::connect("127.0.0.1:0"));  // to port 0 nothing goes
    client->tick(NetTime{});
    CHECK(client->stats().send_errors == 1);
}

}  // namespace
}  // namespace replayout::test
