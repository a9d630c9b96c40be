// SPDX-License-Identifier: MIT
//
// Who says hello to a server: what counts as one, who is turned away, and why.
#include <replayout/netdriver/close_reason.h>
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <vector>

#include "support/checks/catch.h"
#include "support/hostile/forged_peer.h"

namespace replayout::test {
namespace {

constexpr std::size_t header_bytes = packet_header_bytes_min;

[[nodiscard]] Bytes joined(Bytes bytes, const Bytes& behind) {
    bytes.insert(bytes.end(), behind.begin(), behind.end());
    return bytes;
}

/// The payload of a packet with these bunches.
[[nodiscard]] Bytes payload_of(const std::vector<Bunch>& bunches) {
    const Bytes packet = PacketForge(5).make(bunches);
    return Bytes(packet.begin() + header_bytes, packet.end());
}

[[nodiscard]] Bunch part_of(Bunch bunch, bool is_first) {
    bunch.header.is_partial = true;
    bunch.header.is_partial_initial = is_first;
    bunch.header.is_partial_final = !is_first;
    return bunch;
}

/// The reason of the goodbye that the driver sent.
[[nodiscard]] CloseReason goodbye_in(const std::vector<Bytes>& sent) {
    REQUIRE(sent.size() == 1);
    const auto packet = parse_packet(sent[0]);
    REQUIRE((packet && packet->bunches.size() == 1 && packet->bunches[0].payload.size() > 1));
    return static_cast<CloseReason>(packet->bunches[0].payload[1]);
}

}  // namespace

TEST_CASE("Hello: what is nearly one makes no connection and gets no answer",
          "[netdriver][hostile][hello]") {
    ForgedClient client;
    const Bunch hello = control_bunch(1, client.hello());
    const Bytes bunches = payload_of({hello});
    PacketForge forge(5);
    const struct {
        const char* name;
        Bytes datagram;
    } cases[] = {
        {"no header", bunches},
        {"a header that says that there are no bunches", forge.make_raw(false, bunches)},
        {"behind a count of none",
         forge.make_raw(true, joined(make_bytes(0), Bytes(bunches.begin() + 1, bunches.end())))},
        {"of the sequence before the first", forge.make({control_bunch(0, client.hello())})},
        {"of the second", forge.make({control_bunch(2, client.hello())})},
        {"the first part of more", forge.make({part_of(hello, true)})},
        {"the last part of more", forge.make({part_of(hello, false)})},
    };
    std::uint64_t dropped = 0;
    for (const auto& test : cases) {
        INFO(test.name);
        client.deliver(test.datagram);
        CHECK(client.driver().connection_count() == 0);
        CHECK(client.driver().memory_report().connection_count == 0);
        CHECK(client.driver().stats().packets_dropped == ++dropped);
        CHECK(client.take_sent().empty());
    }
    client.deliver(PacketForge(5).make({hello}));
    CHECK(client.is_joined());
}

TEST_CASE("Hello: of another version of the wire, earlier or later, it is refused for that",
          "[netdriver][hello]") {
    for (const int difference : {-1, 0, 1}) {
        INFO("difference " << difference);
        ForgedClient client;
        Bytes hello = client.hello();
        hello[5] = static_cast<std::byte>(std::to_integer<int>(hello[5]) + difference);
        client.deliver(PacketForge(5).make({control_bunch(1, hello)}));
        CHECK(client.is_joined() == (difference == 0));
        if (difference != 0) {
            CHECK(client.closed_count(CloseReason::WireVersion) == 1);
            CHECK(goodbye_in(client.take_sent()) == CloseReason::WireVersion);
        }
    }
}

TEST_CASE("Hello: one of a session that ended does not begin it again, nor end the next",
          "[netdriver][hello]") {
    ForgedClient client;
    const Bytes late = client.hello_packet(5);
    client.join(5);
    client.join(6);
    REQUIRE(client.closed_count(CloseReason::Replaced) == 1);
    const std::uint64_t dropped = client.driver().stats().packets_dropped;
    client.deliver(late);
    CHECK(client.closed_count(CloseReason::Replaced) == 1);
    CHECK(client.driver().stats().packets_dropped == dropped + 1);
    CHECK(client.is_joined());
    // Of the session that is there nothing is forgotten.
    client.forge().header().ack = 1;
    client.deliver(client.forge().make({}));
    CHECK(client.driver().stats().packets_dropped == dropped + 1);
}

TEST_CASE("Hello: 64 that are refused are told why, and no more",
          "[netdriver][hostile][hello][limits]") {
    constexpr std::uint64_t told_max = 64;
    NetConfig config;
    config.connections_max = 2;
    ForgedClient client(config);
    const std::uint64_t places = config.connections_max + told_max;
    for (std::uint64_t i = 0; i < places + 3; ++i) {
        client.send_as(PeerId{100 + i}, client.hello_packet(5));
    }
    client.tick();
    CHECK(client.driver().connection_count() == config.connections_max);
    CHECK(client.driver().memory_report().connection_count == places);
    CHECK(client.closed_count(CloseReason::ServerFull) == told_max);
    CHECK(client.driver().stats().packets_dropped == 3);
}

TEST_CASE("Hello: in the name of the host nobody joins", "[netdriver][hostile][hello]") {
    ForgedClient client;
    client.driver().set_host(ForgedPeer::client_peer);
    client.deliver(client.hello_packet(5));
    CHECK(client.driver().connection_count() == 0);
    CHECK(client.driver().stats().packets_dropped == 1);
    client.send_as(PeerId{3}, client.hello_packet(5));
    client.tick();
    CHECK(client.driver().connection_count() == 1);
    // Nor when it is the host no more, unless it says so anew.
    client.driver().clear_host();
    client.deliver(client.hello_packet(5));
    CHECK(client.driver().connection_count() == 2);
}

}  // namespace replayout::test
