// SPDX-License-Identifier: MIT
//
// How a connection begins and how it ends, on both sides.
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <memory>
#include <string>

#include "support/checks/catch.h"
#include "support/hostile/forged_peer.h"
#include "support/hostile/packet_forge.h"
#include "support/networks/tape_transport.h"
#include "support/worlds/net_fixture.h"

namespace replayout::test {
namespace {

[[nodiscard]] std::uint64_t closed_count(const NetDriver& driver, CloseReason reason) {
    return driver.stats().closed[static_cast<std::size_t>(reason)];
}

[[nodiscard]] std::uint64_t closed_count(const NetDriver& driver) {
    std::uint64_t count = 0;
    for (const std::uint64_t reason_count : driver.stats().closed) {
        count += reason_count;
    }
    return count;
}

/// Both sides counted this reason once, and no other.
void check_closed_once(NetFixture& net, std::size_t client, CloseReason reason) {
    CHECK(net.client_driver(client).state() == ConnectionState::Closed);
    CHECK(net.client_driver(client).close_reason() == reason);
    CHECK(closed_count(net.client_driver(client), reason) == 1);
    CHECK(closed_count(net.client_driver(client)) == 1);
    CHECK(closed_count(net.server_driver(), reason) == 1);
    CHECK(closed_count(net.server_driver()) == 1);
}

/// A driver alone, for what is refused before anything is sent.
struct LoneDriver {
    LoneDriver()
        : network(LoopbackSettings(), std::pmr::get_default_resource()),
          world(1),
          driver(NetDriverSettings(), network.endpoint(PeerId{1}), world) {}

    LoopbackNetwork network;
    TestWorld world;
    NetDriver driver;
};

}  // namespace

TEST_CASE("NetDriver: starts once, and knows its layouts before", "[netdriver][net_driver]") {
    const TestSchema& schema = TestSchema::get();
    LoneDriver server;
    REQUIRE(server.driver.add_layout(schema.pawn()));
    const Status twice = server.driver.add_layout(schema.pawn());
    REQUIRE(!twice);
    CHECK(twice.error().code == ErrorCode::DuplicateName);
    CHECK(twice.error().message.find("Pawn") != std::string::npos);
    REQUIRE(server.driver.listen());
    CHECK(!server.driver.listen());
    CHECK(!server.driver.connect(PeerId{2}, NetTime()));
    CHECK(!server.driver.add_layout(schema.marker()));

    LoneDriver client;
    REQUIRE(client.driver.connect(PeerId{2}, NetTime()));
    CHECK(!client.driver.connect(PeerId{2}, NetTime()));
    CHECK(!client.driver.listen());
    CHECK(!client.driver.add_layout(schema.marker()));
    CHECK(client.driver.state() == ConnectionState::Connecting);
}

TEST_CASE("NetDriver: a refused start leaves the driver as it was", "[netdriver][net_driver]") {
    LoneDriver server;
    REQUIRE(server.driver.listen());
    CHECK(!server.driver.connect(PeerId{2}, NetTime()));
    CHECK(server.driver.connection_count() == 0);
    server.driver.tick_dispatch(NetTime::from_milliseconds(1));
    server.driver.tick_flush(NetTime::from_milliseconds(1));
    CHECK(server.driver.stats().packets_sent == 0);
}

TEST_CASE("NetDriver: does not start on a transport that cannot carry its largest packet",
          "[netdriver][net_driver]") {
    NetDriverSettings settings;
    settings.may_leave_out_texts = true;
    settings.config.packet_bytes_max = 600;
    for (const std::size_t datagram_bytes_max : {0u, 599u, 600u, 601u}) {
        INFO("datagrams of " << datagram_bytes_max << " bytes");
        TapeTransport transport(datagram_bytes_max);
        TestWorld world(1);
        NetDriver server(settings, transport, world);
        CHECK(bool(server.listen()) == (datagram_bytes_max >= 600));
        NetDriver client(settings, transport, world);
        CHECK(bool(client.connect(NetFixture::server_peer, {})) == (datagram_bytes_max >= 600));
    }
}

TEST_CASE("NetDriver: who is no server records nothing", "[netdriver][net_driver]") {
    LoneDriver client;
    CHECK_FALSE(client.driver.is_recording());
    REQUIRE(client.driver.connect(NetFixture::server_peer, {}));
    CHECK_FALSE(client.driver.is_recording());
}

TEST_CASE("NetDriver: a client asks until a server is there", "[netdriver][net_driver]") {
    NetFixtureOptions options;
    NetFixture net(options);
    net.network().disconnect(NetFixture::server_peer);
    net.join();
    net.tick_for_ms(5'000);
    CHECK(net.client_driver(0).state() == ConnectionState::Connecting);
    // After 100 ms, 200, and then every 400.
    const std::uint64_t packets = net.client_driver(0).stats().packets_sent;
    CHECK(packets >= 12);
    CHECK(packets <= 15);
    (void)net.network().endpoint(NetFixture::server_peer);
    net.tick_for_ms(1'100);
    CHECK(net.client_driver(0).state() == ConnectionState::Joined);
}

TEST_CASE("NetDriver: a client that nobody answers gives up", "[netdriver][net_driver]") {
    NetFixture net;
    net.network().disconnect(NetFixture::server_peer);
    net.join();
    net.tick_for_ms(9'980);
    CHECK(net.client_driver(0).state() == ConnectionState::Connecting);
    net.tick_for_ms(20);
    CHECK(net.client_driver(0).state() == ConnectionState::Closed);
    CHECK(net.client_driver(0).close_reason() == CloseReason::Timeout);
    const std::uint64_t packets = net.client_driver(0).stats().packets_sent;
    net.tick_for_ms(5'000);
    CHECK(net.client_driver(0).stats().packets_sent == packets);
}

TEST_CASE("NetDriver: the handshake survives the loss of any of its packets",
          "[netdriver][net_driver]") {
    // Of the first four packets each way, every combination is lost.
    for (unsigned lost = 0; lost < 256; ++lost) {
        INFO("lost " << lost);
        NetFixture net;
        net.pawn(net.add_pawn()).name = "Ann";
        net.join();
        unsigned from_server = 0;
        unsigned from_client = 0;
        net.server().transport.set_script(
            [&](Bytes&) { return from_server >= 4 || ((lost >> from_server++) & 1) == 0; });
        net.client(0).transport.set_script(
            [&](Bytes&) { return from_client >= 4 || ((lost >> (4 + from_client++)) & 1) == 0; });
        REQUIRE(net.settle(200));
        REQUIRE(net.client_text(0) == net.server_text());
        REQUIRE(net.server_driver().connection_count() == 1);
        REQUIRE(net.client(0).world.spawn_count == 1);
    }
}

TEST_CASE("NetDriver: a client that says goodbye is gone at once", "[netdriver][net_driver]") {
    NetFixture net;
    net.add_pawn();
    net.join_settled();
    net.client_driver(0).disconnect(NetFixture::server_peer);
    CHECK(net.client_driver(0).state() == ConnectionState::Closing);
    net.tick(3);
    CHECK(net.server_driver().connection_count() == 0);
    CHECK(net.server_driver().connection_state(NetFixture::client_peer(0)) ==
          ConnectionState::Closed);
    net.tick_for_ms(2'000);
    check_closed_once(net, 0, CloseReason::Requested);
}

TEST_CASE("NetDriver: a client that the server sends away learns of it",
          "[netdriver][net_driver]") {
    NetFixture net;
    net.add_pawn();
    net.join_settled(2);
    net.server_driver().disconnect(NetFixture::client_peer(0));
    CHECK(net.server_driver().connection_count() == 1);
    net.tick_for_ms(2'100);
    check_closed_once(net, 0, CloseReason::Requested);
    CHECK(net.client(0).world.object_count() == 0);
    CHECK(net.client_driver(1).state() == ConnectionState::Joined);
    CHECK(net.client(1).world.object_count() == 1);
    net.server_driver().disconnect(PeerId{77});  // nobody
    CHECK(net.server_driver().connection_count() == 1);
}

TEST_CASE("NetDriver: a goodbye that is lost is said again", "[netdriver][net_driver]") {
    for (const bool is_from_server : {true, false}) {
        NetFixture net;
        net.add_pawn();
        net.join_settled();
        int lost = 0;
        ScriptedTransport& transport =
            is_from_server ? net.server().transport : net.client(0).transport;
        transport.set_script([&](Bytes&) { return ++lost > 3; });
        if (is_from_server) {
            net.server_driver().disconnect(NetFixture::client_peer(0));
        } else {
            net.client_driver(0).disconnect(NetFixture::server_peer);
        }
        net.tick_for_ms(2'100);
        INFO("from server " << is_from_server);
        check_closed_once(net, 0, CloseReason::Requested);
    }
}

TEST_CASE("NetDriver: a goodbye that nobody hears is given up in time", "[netdriver][net_driver]") {
    NetFixture net;
    net.join_settled();
    net.server().transport.set_script([](Bytes&) { return false; });
    net.server_driver().disconnect(NetFixture::client_peer(0));
    net.tick_for_ms(1'980);
    CHECK(net.server_driver().connection_state(NetFixture::client_peer(0)) ==
          ConnectionState::Closing);
    net.tick_for_ms(40);
    CHECK(net.server_driver().connection_state(NetFixture::client_peer(0)) ==
          ConnectionState::Closed);
    CHECK(net.client_driver(0).state() == ConnectionState::Joined);
    net.tick_for_ms(8'200);
    CHECK(net.client_driver(0).close_reason() == CloseReason::Timeout);
}

TEST_CASE("NetDriver: silence ends a connection after the time for it", "[netdriver][net_driver]") {
    // Also while there is something to send to the silent side: at a tick each second the window of
    // packets is far from full when it is given up.
    for (const std::int64_t tick_ms : {20, 1'000}) {
        INFO("tick " << tick_ms);
        NetFixtureOptions options;
        options.tick_ms = tick_ms;
        NetFixture net(options);
        const ObjectHandle pawn = net.add_pawn();
        net.join_settled();
        net.network().disconnect(NetFixture::client_peer(0));
        const NetTime silent_since = net.now();
        while (net.server_driver().connection_count() == 1) {
            ++net.pawn(pawn).health;
            net.tick();
            REQUIRE(net.now() <= silent_since.plus_milliseconds(13'000));
        }
        CHECK(net.now() >= silent_since.plus_milliseconds(9'000));
        CHECK(net.now() <= silent_since.plus_milliseconds(11'000));
        CHECK(closed_count(net.server_driver(), CloseReason::Timeout) == 1);
        net.tick_for_ms(3'000);
        CHECK(net.client_driver(0).state() == ConnectionState::Closed);
        CHECK(net.client_driver(0).close_reason() == CloseReason::Timeout);
        CHECK(net.client(0).world.object_count() == 0);
    }
}

TEST_CASE(
    "NetDriver: who is sent something all the time answers, and is neither asked nor given up",
    "[netdriver][net_driver]") {
    NetFixture net;
    const ObjectHandle pawn = net.add_pawn();
    net.join_settled();
    std::uint32_t probe_count = 0;
    const auto count_probes = [&](Bytes& datagram) {
        const auto packet = parse_packet(datagram);
        const bool is_probe = packet && !packet->has_content() && packet->header.ack_requested;
        probe_count += is_probe ? 1 : 0;
        return true;
    };
    net.server().transport.set_script(count_probes);
    net.client(0).transport.set_script(count_probes);
    const NetTime end = net.now().plus_milliseconds(3 * NetConfig().timeout_ms);
    while (net.now() < end) {
        ++net.pawn(pawn).health;
        net.tick();
    }
    CHECK(probe_count == 0);
    CHECK(net.client_driver(0).state() == ConnectionState::Joined);
    CHECK(net.server_driver().connection_count() == 1);
}

TEST_CASE("NetDriver: an outage shorter than the timeout is survived, with the window full",
          "[netdriver][net_driver]") {
    NetFixtureOptions options;
    options.tick_ms = 10;
    NetFixture net(options);
    const ObjectHandle pawn = net.add_pawn();
    net.join_settled();
    LinkSettings dead;
    dead.loss = 1;
    net.network().set_settings(dead);
    for (int i = 0; i < 900; ++i) {
        ++net.pawn(pawn).health;
        net.tick();
    }
    net.network().heal();
    REQUIRE(net.settle());
    CHECK(net.client_driver(0).state() == ConnectionState::Joined);
    CHECK(net.client_text(0) == net.server_text());
}

TEST_CASE("NetDriver: who speaks and acknowledges nothing is given up after two timeouts",
          "[netdriver][net_driver]") {
    NetFixtureOptions options;
    options.client.timeout_ms = 3'600'000;
    NetFixture net(options);
    const ObjectHandle pawn = net.add_pawn();
    net.join_settled(2);
    LinkSettings dead;
    dead.loss = 1;
    net.network().set_settings(NetFixture::server_peer, NetFixture::client_peer(1), dead);
    net.tick_for_ms(60'000);
    CHECK(net.server_driver().connection_count() == 2);  // nothing was sent that means anything
    net.pawn(pawn).health = 7;
    net.tick_for_ms(19'900);
    CHECK(net.server_driver().connection_count() == 2);
    net.tick_for_ms(200);
    CHECK(net.server_driver().connection_count() == 1);
    CHECK(closed_count(net.server_driver(), CloseReason::Timeout) == 1);
    CHECK(net.client_driver(1).state() == ConnectionState::Joined);  // nobody told it
    CHECK(net.pawn_on(0, pawn).health == 7);
}

TEST_CASE("NetDriver: a server that acknowledges nothing is given up as well",
          "[netdriver][net_driver]") {
    ForgedServer server;  // the client has said hello, and hears something each half a second
    const NetTime begin = server.now();
    while (server.driver().state() == ConnectionState::Connecting) {
        REQUIRE(server.now() < begin.plus_milliseconds(21'000));
        server.tick(500);
        server.deliver(server.forge().make({}));
    }
    CHECK(server.now() >= begin.plus_milliseconds(19'000));
    CHECK(server.driver().close_reason() == CloseReason::Timeout);
}

TEST_CASE("NetDriver: a client that hears nothing for long, and answers then, is not given up",
          "[netdriver][net_driver]") {
    NetFixture net;
    const ObjectHandle pawn = net.add_pawn();
    net.join_settled();
    LinkSettings dead;
    dead.loss = 1;
    const auto play_for_ms = [&](std::int64_t milliseconds) {
        const NetTime end = net.now().plus_milliseconds(milliseconds);
        while (net.now() < end) {
            ++net.pawn(pawn).health;
            net.tick();
        }
    };
    for (int i = 0; i < 3; ++i) {
        net.network().set_settings(NetFixture::server_peer, NetFixture::client_peer(0), dead);
        play_for_ms(8'500);
        net.network().heal();
        net.network().set_settings(NetFixture::client_peer(0), NetFixture::server_peer, dead);
        play_for_ms(8'500);
        net.network().heal();
        play_for_ms(3'000);
    }
    REQUIRE(net.settle());
    CHECK(net.client_driver(0).state() == ConnectionState::Joined);
    CHECK(net.server_driver().connection_count() == 1);
    CHECK(net.client_text(0) == net.server_text());
}

TEST_CASE("NetDriver: a full server refuses, and says why", "[netdriver][net_driver]") {
    NetFixtureOptions options;
    options.server.connections_max = 2;
    NetFixture net(options);
    net.add_pawn();
    net.join();
    net.join();
    net.tick(5);
    CHECK(net.server_driver().connection_count() == 2);
    net.join();
    net.tick_for_ms(2'200);
    check_closed_once(net, 2, CloseReason::ServerFull);
    CHECK(net.client(2).world.spawn_count == 0);
    CHECK(net.server_driver().connection_count() == 2);
    // As soon as there is room the next one comes in.
    net.client_driver(0).disconnect(NetFixture::server_peer);
    net.tick(5);
    net.join();
    net.tick(5);
    CHECK(net.client_driver(3).state() == ConnectionState::Joined);
}

TEST_CASE("NetDriver: peers with other layouts are refused on both sides",
          "[netdriver][net_driver]") {
    NetFixture net;
    TestWorld world(1);
    NetDriver stranger(NetDriverSettings(), net.network().endpoint(PeerId{99}), world);
    REQUIRE(stranger.add_layout(TestSchema::get().pawn()));
    REQUIRE(stranger.connect(NetFixture::server_peer, net.now()));
    for (int i = 0; i < 10; ++i) {
        net.tick();
        stranger.tick_dispatch(net.now());
        stranger.tick_flush(net.now());
    }
    CHECK(stranger.state() == ConnectionState::Closed);
    CHECK(stranger.close_reason() == CloseReason::LayoutMismatch);
    CHECK(closed_count(stranger, CloseReason::LayoutMismatch) == 1);
    CHECK(closed_count(net.server_driver(), CloseReason::LayoutMismatch) == 1);
    CHECK(net.server_driver().connection_count() == 0);
}

TEST_CASE("NetDriver: the order in which layouts are added does not matter",
          "[netdriver][net_driver]") {
    NetFixture net;
    TestWorld world(1);
    NetDriverSettings settings;
    settings.may_leave_out_texts = true;
    NetDriver stranger(settings, net.network().endpoint(PeerId{99}), world);
    const TestSchema& schema = TestSchema::get();
    for (const RepLayout* layout : {&schema.marker(), &schema.archive(), &schema.pawn()}) {
        REQUIRE(stranger.add_layout(*layout));
    }
    REQUIRE(stranger.connect(NetFixture::server_peer, net.now()));
    for (int i = 0; i < 5; ++i) {
        stranger.tick_dispatch(net.now());
        stranger.tick_flush(net.now());
        net.tick();
    }
    CHECK(stranger.state() == ConnectionState::Joined);
}

TEST_CASE("NetDriver: another version of the wire is refused, and says why",
          "[netdriver][net_driver]") {
    NetFixture net;
    net.add_pawn();
    net.join();
    // The version stands behind the kind and the magic of the hello, the only bunch.
    constexpr std::size_t version_offset = 1 + 4;
    net.client(0).transport.set_script([](Bytes& datagram) {
        const auto packet = parse_packet(datagram);
        if (packet && packet->has_control()) {
            const std::size_t hello_bytes = packet->bunches.front().payload.size();
            std::byte& low = datagram[datagram.size() - hello_bytes + version_offset];
            low = static_cast<std::byte>(std::to_integer<unsigned>(low) + 1);
        }
        return true;
    });
    net.tick_for_ms(2'200);
    check_closed_once(net, 0, CloseReason::WireVersion);
    CHECK(net.client(0).world.spawn_count == 0);
}

TEST_CASE("NetDriver: a peer that starts again replaces its old session",
          "[netdriver][net_driver]") {
    NetFixture net;
    const ObjectHandle pawn = net.add_pawn();
    net.pawn(pawn).name = "Ann";
    net.join_settled(2);
    net.restart(0);
    REQUIRE(net.settle());
    CHECK(net.server_driver().connection_count() == 2);
    CHECK(closed_count(net.server_driver(), CloseReason::Replaced) == 1);
    CHECK(closed_count(net.server_driver()) == 1);
    CHECK(net.client_text(0) == net.server_text());
    CHECK(net.client_text(1) == net.server_text());
}

TEST_CASE("NetDriver: packets of a session before are dropped", "[netdriver][net_driver]") {
    NetFixture net;
    net.add_pawn();
    net.join();
    net.client(0).transport.is_recording = true;
    net.server().transport.is_recording = true;
    REQUIRE(net.settle());
    net.tick_for_ms(2'500);
    const std::vector<Datagram> from_client = net.client(0).transport.sent;
    const std::vector<Datagram> from_server = net.server().transport.sent;
    net.restart(0);
    REQUIRE(net.settle());
    // All but the hello of the old session, which would begin it anew.
    for (const Datagram& datagram : from_client) {
        const auto packet = parse_packet(datagram.bytes);
        if (packet && !packet->has_control()) {
            net.network()
                .endpoint(NetFixture::client_peer(0))
                .send(NetFixture::server_peer, datagram.bytes);
        }
    }
    for (const Datagram& datagram : from_server) {
        net.network()
            .endpoint(NetFixture::server_peer)
            .send(NetFixture::client_peer(0), datagram.bytes);
    }
    REQUIRE(net.settle());
    CHECK(net.server_driver().stats().packets_dropped >= from_client.size() - 1);
    CHECK(net.client_driver(0).stats().packets_dropped == from_server.size());
    CHECK(closed_count(net.server_driver()) == 1);  // replaced
    CHECK(closed_count(net.client_driver(0)) == 0);
    CHECK(net.client_text(0) == net.server_text());
}

TEST_CASE("NetDriver: a client hears its server and nobody else", "[netdriver][net_driver]") {
    ForgedServer server;
    server.welcome();
    const Bytes goodbye = server.forge().make({control_bunch(2, goodbye_bytes(1))});
    server.send_as(PeerId{66}, goodbye);
    server.tick();
    CHECK(server.is_joined());
    CHECK(server.driver().stats().packets_dropped == 1);
    server.deliver(goodbye);
    CHECK(server.driver().state() == ConnectionState::Closed);
}

TEST_CASE("NetDriver: a new session of a known peer costs the place of the old one",
          "[netdriver][net_driver]") {
    // One peer that begins session after session within a tick is one connection, not many.
    NetConfig config;
    config.connections_max = 4;
    ForgedClient client(config);
    client.join(1);
    const std::int64_t bytes_of_one = client.memory().bytes_in_use();
    for (std::uint16_t session = 2; session <= 10'000; ++session) {
        client.send(client.hello_packet(session));
    }
    client.tick();
    CHECK(client.driver().connection_count() == 1);
    CHECK(client.memory().bytes_in_use_max() < 100 * bytes_of_one);
    client.tick(100);
    client.join(10'001);
    CHECK(client.driver().connection_count() == 1);
}

TEST_CASE("NetDriver: peers who are refused take up bounded room", "[netdriver][net_driver]") {
    NetConfig config;
    config.connections_max = 1;
    ForgedClient client(config);
    client.join(1);
    const std::int64_t bytes_of_one = client.memory().bytes_in_use();
    for (std::uint64_t peer = 1'000; peer < 6'000; ++peer) {
        client.send_as(PeerId{peer}, client.hello_packet(5));
    }
    client.tick();
    CHECK(client.driver().connection_count() == 1);
    CHECK(client.memory().bytes_in_use_max() < 100 * bytes_of_one);
    client.tick(2'500);
    CHECK(client.memory().bytes_in_use() < 2 * bytes_of_one);
    CHECK(client.is_joined());
}

}  // namespace replayout::test
