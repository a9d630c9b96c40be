// SPDX-License-Identifier: MIT
//
// The ENet transport: what a client takes of its server, and of others.
#include <replayout/transports/enet_transport.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <enet/enet.h>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
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

TEST_CASE("EnetTransport: a client whose server answers from another address logs that once",
          "[transport][enet]") {
    EnetAsker asking;
    FalseServer other;
    const LogSpy log(LogLevel::Warning);
    CHECK(asking.answer(handshake_bytes(2, asking.number - 1, 9), other).empty());
    CHECK(asking.answer(handshake_bytes(1, asking.number, 9), other).empty());
    CHECK(asking.answer(OwnClient::connect_bytes(1, 0), other).empty());
    CHECK(asking.answer(handshake_bytes(2, asking.number + 1, 9)).empty());
    CHECK(LogSpy::messages().empty());
    for (int i = 0; i < 100; ++i) {
        CHECK(asking.answer(handshake_bytes(2 + i % 2, asking.number, 9), other).empty());
    }
    REQUIRE(LogSpy::messages().size() == 1);
    CHECK(LogSpy::messages()[0] ==
          "ENet: the client asked " + asking.server.address() + ", and " + other.address() +
              " answered. A client takes answers only from the address that it asked: connect to " +
              other.address() + ", or let the server listen on " + asking.server.address() +
              " itself");
    CHECK(asking.client->stats().dropped_unproved == 103);
}

TEST_CASE("EnetTransport: to a client nobody connects, nor does its server", "[transport][enet]") {
    EnetAsker asking;
    CHECK(asking.answer(OwnClient::connect_bytes(1, 0)).empty());
    CHECK(asking.client->stats().dropped_unproved == 1);
    CHECK_FALSE(asking.client->is_connected());
}

TEST_CASE("EnetTransport: of its server ENet sees no command that this transport does not use",
          "[transport][enet]") {
    EnetAsker asking;
    // To nobody: a connect, it may be, though it has two bytes.
    CHECK(asking.answer(make_bytes(0x8F, 0xFF)).empty());
    CHECK(asking.client->stats().dropped_unproved == 1);
    // To peers that there are not; and the head, the checksum, and what is not taken.
    const Bytes rows[] = {
        make_bytes(0x8F),
        make_bytes(0x8F, 0xFE),
        make_bytes(0x8E, 0xFF),
        make_bytes(0, 0, 1, 2, 3),
        make_bytes(0, 0, 1, 2, 3, 4, ENET_PROTOCOL_COMMAND_SEND_RELIABLE, 0, 0, 1, 0, 0),
        make_bytes(0, 0, 1, 2, 3, 4, 0)};
    std::uint64_t count = 0;
    for (const Bytes& row : rows) {
        CAPTURE(++count);
        CHECK(asking.answer(row).empty());
        CHECK(asking.client->stats().dropped_malformed == count);
    }
    CHECK(asking.client->stats().dropped_unproved == 1);
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

/// Commands to the client that said this connect, behind the number of its peer, the time, as it
/// says that there is one, and the checksum, in whose place the number of the connection is when it
/// is taken.
[[nodiscard]] Bytes bytes_to(const Bytes& connect, const Bytes& commands) {
    ENetProtocolConnect asked;
    std::memcpy(&asked, connect.data() + 8, sizeof(asked));
    Bytes bytes(8);
    bytes[0] = std::byte{0x80};
    std::memcpy(bytes.data() + 4, &asked.connectID, sizeof(asked.connectID));
    bytes.insert(bytes.end(), commands.begin(), commands.end());
    ENetBuffer buffer{};
    buffer.data = bytes.data();
    buffer.dataLength = bytes.size();
    const enet_uint32 checksum = enet_crc32(&buffer, 1);
    std::memcpy(bytes.data() + 4, &checksum, sizeof(checksum));
    return bytes;
}

/// ENet's answer to a connect, of a server that takes datagrams of no more than these bytes.
[[nodiscard]] Bytes verify_bytes(const Bytes& connect, enet_uint32 mtu) {
    ENetProtocolConnect asked;
    std::memcpy(&asked, connect.data() + 8, sizeof(asked));
    ENetProtocolVerifyConnect command{};
    command.header.command =
        ENET_PROTOCOL_COMMAND_VERIFY_CONNECT | std::uint8_t{ENET_PROTOCOL_COMMAND_FLAG_ACKNOWLEDGE};
    command.header.channelID = 0xFF;
    command.header.reliableSequenceNumber = ENET_HOST_TO_NET_16(1);
    command.mtu = ENET_HOST_TO_NET_32(mtu);
    command.windowSize = asked.windowSize;
    command.channelCount = asked.channelCount;
    command.packetThrottleInterval = asked.packetThrottleInterval;
    command.packetThrottleAcceleration = asked.packetThrottleAcceleration;
    command.packetThrottleDeceleration = asked.packetThrottleDeceleration;
    command.connectID = asked.connectID;
    Bytes bytes(sizeof(command));
    std::memcpy(bytes.data(), &command, sizeof(command));
    return bytes_to(connect, bytes);
}

TEST_CASE("EnetTransport: what its server sends reliably a client does not take",
          "[transport][enet]") {
    EnetAsker asking;
    const Bytes connect = asking.answer(handshake_bytes(3, asking.number, 9));
    REQUIRE(connect.size() == 56);
    asking.server.send(verify_bytes(connect, 1'400));
    asking.tick();
    REQUIRE(asking.client->is_connected());
    // The first of channel 0, one byte.
    asking.server.send(bytes_to(connect, make_bytes(0x86, 0, 0, 1, 0, 1, 7)));
    asking.tick();
    CHECK(asking.client->stats().datagrams_received == 0);
    CHECK(asking.client->stats().dropped_malformed == 1);
    asking.server.send(bytes_to(connect, make_bytes(0x49, 0, 0, 0, 0, 1, 0, 1, 7)));
    asking.tick();
    CHECK(asking.client->stats().datagrams_received == 1);
    CHECK(asking.client->stats().dropped_malformed == 1);
}

TEST_CASE("EnetTransport: a client whose server takes datagrams too small asks again",
          "[transport][enet]") {
    for (const enet_uint32 mtu : {1'291u, 1'292u}) {  // of datagrams of 1,200 bytes
        INFO("MTU " << mtu);
        EnetAsker asking;
        const Bytes connect = asking.answer(handshake_bytes(3, asking.number, 9));
        REQUIRE(connect.size() == 56);
        asking.server.send(verify_bytes(connect, mtu));
        asking.tick();
        const bool is_enough = mtu == 1'292;
        CHECK(asking.client->is_connected() == is_enough);
        CHECK(asking.client->stats().dropped_malformed == (is_enough ? 0 : 1));
        Bytes said;
        for (int i = 0; i < 300 && said.size() != 1'000; ++i) {
            asking.tick();
            said = asking.server.receive();
        }
        CHECK((said.size() == 1'000) == !is_enough);
        if (!is_enough) {
            CHECK(client_of(said) != asking.number);
        }
    }
}

TEST_CASE("EnetTransport: what the system does not send counts as an error", "[transport][enet]") {
    auto client = required(EnetTransport::connect("127.0.0.1:0"));  // to port 0 nothing goes
    client->tick(NetTime{});
    CHECK(client->stats().send_errors == 1);
}

}  // namespace
}  // namespace replayout::test
