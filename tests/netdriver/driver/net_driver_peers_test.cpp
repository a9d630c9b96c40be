// SPDX-License-Identifier: MIT
//
// What a world is told of peers: who joined, who left, and who calls.
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>

#include <cstddef>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/worlds/call_game.h"
#include "support/worlds/net_fixture.h"

namespace replayout::test {
namespace {

using Told = std::vector<std::string>;

/// Writes down what a host's world is told from now on. `told` must outlive the host's ticks.
void listen_to(NetHost& host, Told& told) {
    host.world.on_joined = [&told](PeerId peer) {
        told.push_back(std::to_string(peer.value) + " joined");
    };
    host.world.on_left = [&told](PeerId peer, CloseReason reason) {
        told.push_back(std::to_string(peer.value) + " left: " + std::string(to_string(reason)));
    };
}

}  // namespace

TEST_CASE("Peers: both worlds are told of a join and of its end, once", "[netdriver][peers]") {
    NetFixture net;
    Told server;
    Told client;
    net.join();
    listen_to(net.server(), server);
    listen_to(net.client(0), client);
    REQUIRE(net.settle());
    CHECK(server == Told{"2 joined"});
    CHECK(client == Told{"1 joined"});

    SECTION("when the client says goodbye") {
        net.client_driver(0).disconnect(NetFixture::server_peer);
        CHECK(client.size() == 1);
        net.tick_for_ms(5'000);
        CHECK(server == Told{"2 joined", "2 left: requested"});
        CHECK(client == Told{"1 joined", "1 left: requested"});
    }
    SECTION("when the server does") {
        net.server_driver().disconnect(NetFixture::client_peer(0));
        net.tick_for_ms(5'000);
        CHECK(server == Told{"2 joined", "2 left: requested"});
        CHECK(client == Told{"1 joined", "1 left: requested"});
    }
    SECTION("when nothing arrives any more") {
        net.network().disconnect(NetFixture::client_peer(0));
        net.tick_for_ms(13'000);
        CHECK(server == Told{"2 joined", "2 left: timeout"});
        CHECK(client == Told{"1 joined", "1 left: timeout"});
    }
    SECTION("when the client's process begins anew") {
        net.restart(0);
        listen_to(net.client(0), client);
        REQUIRE(net.settle());
        CHECK(server == Told{"2 joined", "2 left: replaced", "2 joined"});
        CHECK(client == Told{"1 joined", "1 joined"});
    }
}

TEST_CASE("Peers: a client is told of a server that does not let it in, and the server is not",
          "[netdriver][peers]") {
    NetFixtureOptions options;
    options.server.connections_max = 1;
    NetFixture net(options);
    net.join_settled();
    Told server;
    Told client;
    net.join();
    listen_to(net.server(), server);
    listen_to(net.client(1), client);
    net.tick_for_ms(3'000);
    CHECK(client == Told{"1 left: server full"});
    CHECK(server.empty());
}

TEST_CASE("Peers: a game gives a player its objects when it is told of him", "[netdriver][peers]") {
    NetFixture net;
    ObjectHandle pawn;
    net.server().world.on_joined = [&](PeerId peer) {
        pawn = net.add_pawn();
        net.server_driver().set_owner(net.id_of(pawn), peer);
    };
    net.server().world.on_left = [&](PeerId, CloseReason) { net.remove(pawn); };
    net.join();
    std::size_t shown_at_end = 1;
    net.client(0).world.on_left = [&](PeerId, CloseReason) {
        shown_at_end = net.client(0).world.object_count();
    };
    REQUIRE(net.settle());
    CHECK(net.client(0).world.object_count() == 1);
    net.client_driver(0).disconnect(NetFixture::server_peer);
    net.tick_for_ms(3'000);
    CHECK(shown_at_end == 0);
    CHECK(net.server_driver().object_count() == 0);
}

TEST_CASE("Peers: a game may send a player away while it is told of him", "[netdriver][peers]") {
    NetFixture net;
    Told told;
    listen_to(net.server(), told);
    net.server().world.on_joined = [&](PeerId peer) {
        told.push_back("joined");
        net.server_driver().disconnect(peer);
    };
    net.join();
    net.join();
    net.tick_for_ms(3'000);
    CHECK(told == Told{"joined", "joined", "2 left: requested", "3 left: requested"});
    CHECK(net.server_driver().connection_count() == 0);
    CHECK(net.client_driver(1).close_reason() == CloseReason::Requested);
}

TEST_CASE("Peers: a call that runs knows its object and its caller", "[netdriver][peers]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    NetDriver& server = net.server().driver;
    NetDriver& client = net.client(0).driver;
    std::size_t run_count = 0;
    net.client(0).world.on_call = [&](const char*, const Order&) {
        REQUIRE(client.current_call() != nullptr);
        CHECK(client.current_call()->caller == CallFixture::server_peer);
        CHECK(client.current_call()->object == net.find_on(0, turret));
        CHECK(client.current_call()->id == NetObjectId{});
        ++run_count;
    };
    net.server().world.on_call = [&](const char* function, const Order&) {
        REQUIRE(server.current_call() != nullptr);
        const CurrentCall& call = *server.current_call();
        CHECK(call.object == turret);
        CHECK(call.id == net.id_of(turret));
        ++run_count;
        if (std::string(function) == "fire") {
            CHECK(call.caller == CallFixture::client_peer(0));
            // One inside of it is this side's own, and then it is the first again.
            CHECK(net.call(turret, "multicast_boom", {2, {}, ""}) == CallResult::Sent);
            CHECK(server.current_call() == &call);
        } else {
            CHECK(call.caller == PeerId{});
        }
    };
    CHECK(net.call_from(0, turret, "server_fire", {1, {}, ""}) == CallResult::Sent);
    net.tick(4);
    CHECK(run_count == 3);
    CHECK(server.current_call() == nullptr);
    CHECK(client.current_call() == nullptr);
}

TEST_CASE("Peers: an object is found by its handle while it is there", "[netdriver][peers]") {
    NetFixture net;
    const ObjectHandle unknown = net.make_pawn();
    const ObjectHandle pawn = net.add_pawn();
    const NetObjectId id = net.id_of(pawn);
    CHECK(net.server_driver().find_object(pawn) == id);
    CHECK(net.server_driver().find_object(unknown).generation == 0);
    CHECK(net.server_driver().find_object(ObjectHandle{}).generation == 0);
    net.remove(pawn);
    CHECK(net.server_driver().find_object(pawn).generation == 0);
}

TEST_CASE("Peers: who has no connection has no bandwidth", "[netdriver][peers]") {
    NetFixtureOptions options;
    options.server.bytes_per_second_max = 5'000;
    NetFixture net(options);
    net.join_settled();
    const NetRates rates = net.server_driver().rates();
    CHECK(rates.bandwidth_of(NetFixture::client_peer(0)).bytes_per_second_max == 5'000);
    const NetBandwidth nobody = rates.bandwidth_of(NetFixture::client_peer(1));
    CHECK(nobody.bytes_per_second_max == 0);
    CHECK(nobody.bytes_per_second == 0);
    CHECK(nobody.round_trip_us == 0);
}

}  // namespace replayout::test
