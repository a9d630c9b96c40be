// SPDX-License-Identifier: MIT
//
// What every transport must be to the driver, whatever carries it. Who brings one of his own adds
// it to transport_ends.h.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"
#include "support/checks/seeded_random.h"
#include "transports/random_bytes.h"
#include "transports/transport_ends.h"

namespace replayout::test {
namespace {

TEMPLATE_TEST_CASE("Transport: datagrams of every size arrive as they were sent", "[transport]",
                   REPLAYOUT_ALL_ENDS) {
    TestType ends;
    connect_clients(ends);
    SeededRandom random(1);
    const std::size_t largest = ends.server().datagram_bytes_max();
    REQUIRE(largest >= 1'000);
    for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{11},
                                   std::size_t{576}, largest - 1, largest}) {
        const Bytes sent = random_bytes(random, size);
        ends.client(0).send(ends.server_peer(0), sent);
        PeerId client;
        Bytes received;
        REQUIRE(receive_soon(ends, ends.server(), client, received));
        CHECK(received == sent);
        const Bytes answer = random_bytes(random, size);
        ends.server().send(client, answer);
        PeerId server;
        REQUIRE(receive_soon(ends, ends.client(0), server, received));
        CHECK(received == answer);
        CHECK(server == ends.server_peer(0));
    }
}

TEMPLATE_TEST_CASE("Transport: a clock that begins below zero is as good as any", "[transport]",
                   REPLAYOUT_ALL_ENDS) {
    // An hour below, and so little below that it passes zero amid the exchange.
    for (const std::int64_t begin_ms : {std::int64_t{-3'600'000}, std::int64_t{-20}}) {
        TestType ends;
        ends.begin_at(NetTime::from_milliseconds(begin_ms));
        connect_clients(ends, 3);
        SeededRandom random(7);
        for (int round = 0; round < 60; ++round) {
            const std::size_t index = random.below(3);
            const Bytes sent = random_bytes(random, random.between(1, 900));
            ends.client(index).send(ends.server_peer(index), sent);
            PeerId client;
            Bytes received;
            REQUIRE(receive_soon(ends, ends.server(), client, received));
            CHECK(received == sent);
            ends.server().send(client, sent);
            PeerId server;
            REQUIRE(receive_soon(ends, ends.client(index), server, received));
            CHECK(received == sent);
            ends.advance();
        }
    }
}

TEMPLATE_TEST_CASE("Transport: peers are told apart, and stay who they are", "[transport]",
                   REPLAYOUT_ALL_ENDS) {
    TestType ends;
    connect_clients(ends, 20);
    std::vector<PeerId> peers;
    for (int round = 0; round < 3; ++round) {
        for (std::size_t i = 0; i < 20; ++i) {
            const Bytes sent{std::byte(i), std::byte(round)};
            ends.client(i).send(ends.server_peer(i), sent);
            PeerId peer;
            Bytes received;
            REQUIRE(receive_soon(ends, ends.server(), peer, received));
            CHECK(received == sent);
            CHECK(peer != PeerId{});
            if (round == 0) {
                peers.push_back(peer);
            }
            CHECK(peer == peers[i]);
        }
    }
    CHECK(std::set<PeerId>(peers.begin(), peers.end()).size() == 20);
    for (std::size_t i = 0; i < 20; ++i) {
        const Bytes sent{std::byte(100 + i)};
        ends.server().send(peers[i], sent);
        PeerId peer;
        Bytes received;
        REQUIRE(receive_soon(ends, ends.client(i), peer, received));
        CHECK(received == sent);
    }
}

TEMPLATE_TEST_CASE("Transport: of ten thousand datagrams none is altered, merged or made up",
                   "[transport]", REPLAYOUT_ALL_ENDS) {
    TestType ends;
    connect_clients(ends);
    SeededRandom random(2);
    std::map<std::uint32_t, Bytes> under_way;  // by the number that each begins with
    const auto take_all = [&] {
        Bytes buffer(2'048);
        PeerId peer;
        for (;;) {
            const std::size_t size = ends.server().receive(peer, buffer);
            if (size == Transport::nothing_received) {
                return;
            }
            REQUIRE(size >= sizeof(std::uint32_t));
            std::uint32_t number = 0;
            std::memcpy(&number, buffer.data(), sizeof(number));
            const auto sent = under_way.find(number);
            REQUIRE(sent != under_way.end());  // none comes twice on one machine
            REQUIRE(sent->second.size() == size);
            REQUIRE(std::equal(sent->second.begin(), sent->second.end(), buffer.begin()));
            under_way.erase(sent);
        }
    };
    for (std::uint32_t i = 0; i < 10'000; ++i) {
        Bytes sent = random_bytes(random, random.between(8, 1'100));
        std::memcpy(sent.data(), &i, sizeof(i));
        ends.client(0).send(ends.server_peer(0), sent);
        under_way[i] = std::move(sent);
        if (i % 16 == 15) {
            ends.advance();
            take_all();
        }
    }
    for (int i = 0; i < 200 && !under_way.empty(); ++i) {
        ends.advance();
        take_all();
    }
    // Nor is one lost, where the reader keeps up; a network may lose what it likes.
    CHECK(under_way.empty());
}

TEMPLATE_TEST_CASE("Transport: a datagram that does not fit is cut to the buffer", "[transport]",
                   REPLAYOUT_ALL_ENDS) {
    TestType ends;
    connect_clients(ends);
    ends.client(0).send(ends.server_peer(0), Bytes(100, std::byte{7}));
    for (int i = 0; i < 200; ++i) {
        Bytes buffer(10, std::byte{0});
        PeerId peer;
        const std::size_t size = ends.server().receive(peer, std::span(buffer).first(8));
        if (size != Transport::nothing_received) {
            CHECK(size == 8);
            CHECK(buffer[7] == std::byte{7});
            CHECK(buffer[8] == std::byte{0});
            return;
        }
        ends.advance();
    }
    FAIL("it did not arrive");
}

TEMPLATE_TEST_CASE("Transport: what is sent to nobody is lost, and harms nobody", "[transport]",
                   REPLAYOUT_ALL_ENDS) {
    TestType ends;
    connect_clients(ends);
    ends.server().send(PeerId{0xFFFF'0000}, Bytes(10));
    check_heard(ends);
}

#if REPLAYOUT_TESTS_HAVE_SOCKETS

TEMPLATE_LIST_TEST_CASE("Transport: an address that is none is refused with a sentence",
                        "[transport]", AllSocketEnds) {
    const std::string name = TestType::Facts::name;
    TestType ends;
    const std::string addresses[] = {"",
                                     "127.0.0.1",
                                     "127.0.0.1:",
                                     "127.0.0.1:65536",
                                     "host:7",
                                     "[::1:7",
                                     ends.server().local_address(),  // another socket has it
                                     "192.0.2.1:0"};                 // is no machine's
    for (const std::string& address : addresses) {
        CAPTURE(name, address);
        const auto made = TestType::Kind::listen(address);
        REQUIRE_FALSE(made.has_value());
        CHECK(made.error().code == ErrorCode::InvalidArgument);
        CHECK(made.error().message.find(name + " address \"" + address + "\": ") == 0);
    }
    CHECK_FALSE(TestType::Kind::connect("1.2.3.4").has_value());
}

TEMPLATE_LIST_TEST_CASE("Transport: a client does not connect to all addresses", "[transport]",
                        AllSocketEnds) {
    const std::string name = TestType::Facts::name;
    for (const std::string address : {"0.0.0.0:7", "[::]:7", "[::ffff:0.0.0.0]:7"}) {
        CAPTURE(name, address);
        if (address[0] == '[' && !TestType::Facts::has_v6) {
            continue;
        }
        const auto made = TestType::Kind::connect(address);
        REQUIRE_FALSE(made.has_value());
        CHECK(made.error().code == ErrorCode::InvalidArgument);
        CHECK(made.error().message == name + " address \"" + address +
                                          "\": stands for all addresses of a host, so no server "
                                          "answers from it: connect to one of the server's own");
    }
}

TEMPLATE_LIST_TEST_CASE("Transport: with whom the driver does not speak has no place for long",
                        "[transport]", AllSocketEnds) {
    CAPTURE(TestType::Facts::name);
    typename TestType::Settings settings;
    settings.peers_max = 1;
    TestType ends(settings);
    ends.add_client();
    for (int i = 0; i < 2'000 && ends.server().stats().peers_forgotten == 0; ++i) {
        ends.client(0).send(ends.server_peer(0), Bytes(1));
        ends.advance(20);
        (void)receive_one(ends.server());
        (void)receive_one(ends.client(0));
    }
    CHECK(ends.server().stats().peers_forgotten == 1);
    CHECK(ends.server().stats().datagrams_received > 0);
}

#endif

}  // namespace
}  // namespace replayout::test
