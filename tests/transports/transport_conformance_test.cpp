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
    ends.add_client();
    ends.connect_all();
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
        for (int i = 0; i < 3; ++i) {
            ends.add_client();
        }
        ends.connect_all();
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
    for (int i = 0; i < 20; ++i) {
        ends.add_client();
    }
    ends.connect_all();
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
    ends.add_client();
    ends.connect_all();
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
    ends.add_client();
    ends.connect_all();
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
    ends.add_client();
    ends.connect_all();
    ends.server().send(PeerId{0xFFFF'0000}, Bytes(10));
    ends.client(0).send(ends.server_peer(0), Bytes(3, std::byte{1}));
    PeerId peer;
    Bytes received;
    REQUIRE(receive_soon(ends, ends.server(), peer, received));
    CHECK(received.size() == 3);
}

}  // namespace
}  // namespace replayout::test
