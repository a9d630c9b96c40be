// SPDX-License-Identifier: MIT
//
// The ENet transport: what others send in a peer's name, and what no ENet would say.
#include <replayout/transports/enet_transport.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <enet/enet.h>

#include "support/checks/catch.h"
#include "support/checks/seeded_random.h"
#include "transports/own_enet_client.h"
#include "transports/transport_ends.h"

namespace replayout::test {
namespace {

/// So many connects without the token, at the same time: no place is forgotten for its age.
void guess(OwnClient& client, EnetServer& server, enet_uint32 data, int count) {
    for (int i = 0; i < count; ++i) {
        client.send(OwnClient::connect_bytes(1, ~data));
        if (i % 64 == 63) {
            server->tick(server.now);
        }
    }
    server->tick(server.now);
}

TEST_CASE("EnetTransport: nobody says goodbye in a peer's name who does not know its number",
          "[transport][enet]") {
    EnetServer server;
    OwnClient client;
    client.connect(server);
    SeededRandom random(11);
    for (int i = 0; i < 1'000; ++i) {
        client.send(client.goodbye(client.number() ^
                                   static_cast<enet_uint32>(1 + random.below(0xFFFF'FFFF))));
        server.tick();
    }
    CHECK(server->peer_count() == 1);
    CHECK(server->stats().peers_forgotten == 0);
    // That the test knows how: who knows the number is believed.
    client.send(client.goodbye(client.number()));
    for (int i = 0; i < 1'000 && server->peer_count() > 0; ++i) {
        server.tick();
    }
    CHECK(server->peer_count() == 0);
}

/// A command of ENet's, as many bytes of zeros behind its head as it has.
[[nodiscard]] Bytes command_of(int command, std::size_t byte_count) {
    Bytes bytes(byte_count);
    bytes[0] = static_cast<std::byte>(command);
    return bytes;
}

[[nodiscard]] Bytes repeated(const Bytes& command, int count) {
    Bytes bytes;
    for (; count > 0; --count) {
        bytes.insert(bytes.end(), command.begin(), command.end());
    }
    return bytes;
}

TEST_CASE("EnetTransport: of a peer ENet sees no command that this transport does not use",
          "[transport][enet]") {
    // The first part of an unreliable packet of two bytes, of 1,048,576 parts by its own words:
    // ENet took 128 KiB for these 25 bytes.
    Bytes fragment = command_of(ENET_PROTOCOL_COMMAND_SEND_UNRELIABLE_FRAGMENT, 25);
    fragment[7] = std::byte{1};   // bytes of this part
    fragment[9] = std::byte{16};  // parts
    fragment[19] = std::byte{2};  // bytes of all
    // A packet without bytes that waits for a reliable one: ENet kept any number of these.
    Bytes waiting = command_of(ENET_PROTOCOL_COMMAND_SEND_UNRELIABLE, 8);
    waiting[3] = waiting[5] = std::byte{1};
    const Bytes ping = command_of(ENET_PROTOCOL_COMMAND_PING, 4);
    Bytes longer = command_of(ENET_PROTOCOL_COMMAND_SEND_UNSEQUENCED, 10);
    longer[7] = std::byte{3};  // of which two bytes are there
    struct Row {
        const char* what;
        Bytes commands;
        int flags;
    };
    const Row rows[] = {
        {"part", fragment, 0},
        {"reliable part", command_of(ENET_PROTOCOL_COMMAND_SEND_FRAGMENT, 24), 0},
        {"waiting", waiting, 0},
        {"reliable", command_of(ENET_PROTOCOL_COMMAND_SEND_RELIABLE, 6), 0},
        {"connect", command_of(ENET_PROTOCOL_COMMAND_CONNECT, 48), 0},
        {"none", command_of(ENET_PROTOCOL_COMMAND_NONE, 4), 0},
        {"unknown", command_of(13, 48), 0},
        {"behind others", repeated(ping, 2), 0},
        {"half a command", Bytes(ping.begin(), ping.begin() + 3), 0},
        {"more payload than there is", longer, 0},
        {"33 commands", repeated(ping, 33), 0},
        {"packed", ping, ENET_PROTOCOL_HEADER_FLAG_COMPRESSED},
        {"no time where one is said", {}, ENET_PROTOCOL_HEADER_FLAG_SENT_TIME},
        {"half a time", Bytes(1), ENET_PROTOCOL_HEADER_FLAG_SENT_TIME},
        {"half a command with payload", Bytes(longer.begin(), longer.begin() + 7), 0},
    };
    EnetServer server;
    OwnClient client;
    client.connect(server);
    const auto dropped_of = [&](const Bytes& commands, int flags) {
        const std::uint64_t before = server->stats().dropped_malformed;
        client.send(client.datagram(client.number(), commands, flags));
        for (int i = 0; i < 50; ++i) {
            server.tick();
        }
        return server->stats().dropped_malformed - before;
    };
    for (Row row : rows) {
        INFO(row.what);
        if (row.what == std::string("behind others")) {
            row.commands.insert(row.commands.end(), waiting.begin(), waiting.end());
        }
        CHECK(dropped_of(row.commands, row.flags) == 1);
    }
    CHECK(server->peer_count() == 1);
    CHECK(server->stats().datagrams_received == 0);
    // What it does use is seen, as many as ENet puts into a datagram.
    CHECK(dropped_of(repeated(ping, 32), 0) == 0);
    longer[7] = std::byte{2};
    CHECK(dropped_of(longer, 0) == 0);
    CHECK(server->stats().datagrams_received == 1);
}

TEST_CASE("EnetTransport: at a proved address nobody connects who was not told the token",
          "[transport][enet]") {
    EnetServer server;
    OwnClient client;
    const enet_uint32 data = client.prove(server);
    // The bytes of the document.
    const Bytes connect = OwnClient::connect_bytes(1, 0x7654'3210);
    CHECK(connect.size() == 56);
    CHECK(Bytes(connect.end() - 4, connect.end()) ==
          Bytes{std::byte{0x76}, std::byte{0x54}, std::byte{0x32}, std::byte{0x10}});
    SeededRandom random(13);
    for (enet_uint32 i = 0; i < 1'000; ++i) {
        const auto wrong = static_cast<enet_uint32>(1 + random.below(0xFFFF'FFFF));
        client.send(OwnClient::connect_bytes(i + 1, data ^ wrong));
        server.tick();
    }
    CHECK(server->stats().dropped_forged == 1'000);
    CHECK(server->stats().peers_welcomed == 0);
    CHECK(client.connect_with(server, data));
    // Nor does he take the place of who has connected.
    for (enet_uint32 i = 0; i < 1'000; ++i) {
        client.send(OwnClient::connect_bytes(i + 1, data ^ (i + 1)));
        server.tick();
    }
    CHECK(server->peer_count() == 1);
    CHECK(server->stats().peers_forgotten == 0);
}

TEST_CASE("EnetTransport: who guesses 65,536 times has the address proved again",
          "[transport][enet]") {
    EnetServer server;
    OwnClient client;
    const enet_uint32 data = client.prove(server);
    guess(client, server, data, 65'535);
    CHECK(server->stats().dropped_forged == 65'535);
    CHECK(client.prove(server) == data);  // to ask again begins no new count
    CHECK(server->stats().dropped_unproved == 0);
    guess(client, server, data, 1);
    CHECK(server->stats().dropped_forged == 65'536);
    CHECK_FALSE(client.connect_with(server, data));
    CHECK(server->stats().dropped_unproved > 0);
    // Proved again, it connects.
    OwnClient again;
    again.connect(server);
    CHECK(server->peer_count() == 1);
}

TEST_CASE(
    "EnetTransport: a client that begins anew at its address gets in at once, as the same "
    "peer",
    "[transport][enet]") {
    EnetSettings settings;
    settings.peers_max = 2;
    EnetServer server(settings);
    OwnClient other;
    other.connect(server);
    ENetAddress address{};
    {
        OwnClient client;
        REQUIRE(client.connect_with(server, client.prove(server, 8)));
        address = client.address();
    }  // without a word
    CHECK(server->peer_count() == 2);
    OwnClient client(&address);
    const NetTime begun = server.now;
    CHECK(client.connect_with(server, client.prove(server, 9)));
    CHECK(server.now.microseconds - begun.microseconds < 2'000'000);
    CHECK(server->peer_count() == 2);
    CHECK(server->stats().peers_forgotten == 1);
    server->send(PeerId{1}, Bytes(1));
    server->send(PeerId{2}, Bytes(1));  // it is peer 2 still: the driver replaces its session
    CHECK(server->stats().datagrams_sent == 2);
}

TEST_CASE("EnetTransport: to nobody there is nothing to say but one whole connect",
          "[transport][enet]") {
    EnetServer server;
    OwnClient client;
    const enet_uint32 data = client.prove(server);
    const Bytes connect = OwnClient::connect_bytes(1, data);
    const auto malformed = [&](const Bytes& bytes) {
        const std::uint64_t before = server->stats().dropped_malformed;
        client.send(bytes);
        server.tick();
        return server->stats().dropped_malformed - before;
    };
    // Without a time, of a session, compressed.
    for (const int head : {0x0F, 0x9F, 0xCF}) {
        CAPTURE(head);
        Bytes bytes = connect;
        bytes[0] = static_cast<std::byte>(head);
        CHECK(malformed(bytes) == 1);
    }
    for (int command = 0; command < 16; ++command) {
        CAPTURE(command);
        if (command != ENET_PROTOCOL_COMMAND_CONNECT) {
            Bytes bytes = connect;
            bytes[8] = static_cast<std::byte>(0x80 | command);
            CHECK(malformed(bytes) == 1);
        }
    }
    Bytes longer = connect;
    longer.push_back(std::byte{0});
    CHECK(malformed(longer) == 1);
    CHECK(malformed({connect.begin(), connect.end() - 1}) == 1);
    CHECK(malformed(make_bytes(0x8F, 0xFF)) == 1);
    CHECK(server->stats().dropped_forged == 0);
    // To peers that there are not, or to none that could be told.
    CHECK(malformed(make_bytes(0x8F)) == 1);
    CHECK(malformed(make_bytes(0x8F, 0xFE)) == 1);
    CHECK(malformed(make_bytes(0x8E, 0xFF)) == 1);
    CHECK(server->stats().peers_welcomed == 0);
    CHECK(client.connect_with(server, data));
}

TEST_CASE("EnetTransport: who takes no datagrams of our size is no peer", "[transport][enet]") {
    EnetServer server;
    // Our 1,200 bytes, and 92 that ENet says to need besides.
    OwnClient small;
    small.set_mtu(1'291);
    const enet_uint32 data = small.prove(server);
    CHECK_FALSE(small.connect_with(server, data));
    CHECK(server->stats().dropped_malformed == 1);
    CHECK(server->peer_count() == 0);
    OwnClient large;
    large.set_mtu(1'292);
    CHECK(large.connect_with(server, large.prove(server)));
    CHECK(server->stats().dropped_malformed == 1);
}

TEST_CASE("EnetTransport: who guesses at a peer's address locks its door, and harms no peer",
          "[transport][enet]") {
    EnetServer server;
    OwnClient client;
    const enet_uint32 data = client.prove(server);
    REQUIRE(client.connect_with(server, data));
    guess(client, server, data, 65'536);
    CHECK(server->stats().dropped_forged == 65'536);
    // Nobody begins anew there now, whatever he knows.
    client.send(OwnClient::connect_bytes(2, data));
    server->tick(server.now);
    CHECK(server->stats().dropped_forged == 65'537);
    CHECK(server->stats().peers_forgotten == 0);
    CHECK(server->peer_count() == 1);
    // Until it is proved again, by which it is told the same token.
    CHECK(client.prove(server) == data);
    client.send(OwnClient::connect_bytes(2, data));
    server->tick(server.now);
    CHECK(server->stats().dropped_forged == 65'537);
    CHECK(server->stats().peers_forgotten == 1);
}

TEST_CASE("EnetTransport: who begins anew before he was answered takes the place of himself alone",
          "[transport][enet]") {
    EnetServer server;
    OwnClient client;
    const enet_uint32 before = client.prove(server, 7);
    client.send(OwnClient::connect_bytes(1, before));
    server.tick();
    client.send(OwnClient::connect_bytes(1, before));  // again, as nothing came
    server.tick();
    const enet_uint32 data = client.prove(server, 8);
    client.send(OwnClient::connect_bytes(1, data));
    server.tick();
    CHECK(server->peer_count() == 0);
    CHECK(server->stats().dropped_forged == 0);
    CHECK(client.connect_with(server, data));
    CHECK(server->peer_count() == 1);
    CHECK(server->stats().peers_forgotten == 0);
}

TEST_CASE("EnetTransport: in a place that a peer had before nobody is taken for it",
          "[transport][enet]") {
    EnetServer server;
    OwnClient first;
    first.connect(server);
    ENetAddress address{};
    {
        OwnClient second;
        second.connect(server);
        address = second.address();
    }
    first.send(first.goodbye(first.number()));
    for (int i = 0; i < 1'000 && server->peer_count() > 1; ++i) {
        server.tick();
    }
    OwnClient second(&address);  // begins anew, in the first one's place of ENet's
    REQUIRE(second.connect_with(server, second.prove(server, 9)));
    const std::uint64_t forgotten = server->stats().peers_forgotten;
    OwnClient third;
    const enet_uint32 data = third.prove(server);
    for (const enet_uint32 id : {1u, 2u}) {  // begins, and begins anew, where the second one was
        third.send(OwnClient::connect_bytes(id, data));
        server.tick();
    }
    CHECK(server->stats().peers_forgotten == forgotten);
    CHECK(server->peer_count() == 1);
}

TEST_CASE("EnetTransport: what is sent to who has just said goodbye is an error, and harms nobody",
          "[transport][enet]") {
    EnetSettings settings;
    settings.datagrams_per_tick_max = 1;
    EnetServer server(settings);
    OwnClient leaves;
    leaves.connect(server);
    OwnClient comes;
    comes.begin_to_connect(comes.prove(server));
    for (int i = 0; i < 10; ++i) {
        server.tick();
    }
    CHECK(server->peer_count() == 1);
    // ENet hears both at once, and tells of the second one first.
    leaves.send(leaves.goodbye(leaves.number()));
    comes.go_on();
    server.tick();
    REQUIRE(server->peer_count() == 2);
    server->send(PeerId{1}, Bytes(1));
    CHECK(server->stats().send_errors == 1);
    CHECK(server->stats().datagrams_sent == 0);
    for (int i = 0; i < 10; ++i) {
        server.tick();
    }
    CHECK(server->peer_count() == 1);
    server->send(PeerId{2}, Bytes(1));
    CHECK(server->stats().datagrams_sent == 1);
}

}  // namespace
}  // namespace replayout::test
