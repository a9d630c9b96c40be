// SPDX-License-Identifier: MIT
//
// Channels, owners and calls of actors as Unreal has them, or as docs/unreal.md says that they
// differ: what no other test says by itself.
#include <replayout/netdriver/net_driver.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/worlds/call_game.h"
#include "support/worlds/spawn_game.h"

namespace replayout::test {
TEST_CASE("Unreal conformance 9: a multicast goes to who is shown the object, and to nobody else",
          "[netdriver][conformance][rpc]") {
    SpawnGame game;
    const std::size_t shown = game.join();
    const std::size_t hidden = game.join();
    const ObjectHandle prop = game.add(game.layouts().prop());
    NetDriver& driver = game.server().driver;
    REQUIRE(game.settle());
    driver.interest().set_relevant_for(SpawnGame::peer_of(hidden), game.id_of(prop), false);
    CHECK(driver.call_function(game.id_of(prop), "multicast_boom") == CallResult::Sent);
    REQUIRE(game.settle());
    CHECK(game.prop_on(shown, prop).heard == Told{"boom"});
    // Nor is it kept for who is shown the object later: it meant the object as it was then.
    driver.interest().set_relevant_for(SpawnGame::peer_of(hidden), game.id_of(prop), true);
    REQUIRE(game.settle());
    CHECK(game.prop_on(hidden, prop).heard.empty());
    CHECK(game.prop(prop).heard == Told{"boom"});
}

TEST_CASE("Unreal conformance 9: a client function of what its owner is not shown is refused",
          "[netdriver][conformance][rpc]") {
    SpawnGame game;
    const std::size_t client = game.join();
    const ObjectHandle prop = game.add(game.layouts().prop());
    NetDriver& driver = game.server().driver;
    driver.set_owner(game.id_of(prop), SpawnGame::peer_of(client));
    REQUIRE(game.settle());
    driver.interest().set_relevant_for(SpawnGame::peer_of(client), game.id_of(prop), false);
    CHECK(driver.call_function(game.id_of(prop), "client_tell") == CallResult::NotOwned);
}

TEST_CASE("Unreal conformance 9: limits of a client's calls are on by default",
          "[netdriver][conformance][rpc]") {
    // A client of ours does not call so often: this one has other limits than its server.
    CallFixtureOptions options;
    options.client.calls_burst_max = 100'000;
    options.client.function_calls_burst_max = 100'000;
    CallFixture net(options);
    const ObjectHandle turret = net.join_with_turret();
    const NetConfig config;
    for (std::uint32_t i = 0; i < 2 * config.function_calls_burst_max; ++i) {
        (void)net.call_from(0, turret, "server_aim", {i, {}, ""});
    }
    net.tick(2);
    // A tick or two may have filled the bucket again by one or two.
    CHECK(heard(net.server(), "aim").size() >= config.function_calls_burst_max);
    CHECK(heard(net.server(), "aim").size() <= config.function_calls_burst_max + 4);
    CHECK(net.server().driver.stats().calls_over_rate >= config.function_calls_burst_max - 4);
    CHECK(net.server().driver.connection_count() == 1);
    for (std::uint32_t i = 0; i < config.calls_burst_max + config.client_waiting_max; ++i) {
        (void)net.call_from(0, turret, "server_fire", {i, {}, ""});
        net.tick(i % 200 == 199 ? 1 : 0);
    }
    net.tick(5);
    CHECK(net.server().driver.connection_count() == 0);
    CHECK(net.client(0).driver.close_reason() == CloseReason::TooManyCalls);
}

TEST_CASE("Unreal conformance 9: calls to one object do not wait for those to another",
          "[netdriver][conformance][rpc]") {
    CallFixture net;
    net.join();
    const ObjectHandle one = net.add_owned(0);
    const ObjectHandle other = net.add_owned(0);
    REQUIRE(net.settle());
    // What no packet holds is on its way, so calls that mean the first object wait for it.
    net.server().world.turret(one).label = std::string(1'000, 'l');
    for (std::string& page : net.server().world.turret(one).pages) {
        page = std::string(1'000, 'p');
    }
    (void)net.call(one, "client_tell", {1, {}, ""});
    (void)net.call(other, "client_tell", {2, {}, ""});
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "tell") == Numbers{2, 1});
}

TEST_CASE("Unreal conformance 9: a target that dies within a call is null in those behind it",
          "[netdriver][conformance][rpc]") {
    CallFixture net;
    net.join();
    const ObjectHandle turret = net.add_owned(0);
    const ObjectHandle target = net.add_owned(0);
    REQUIRE(net.settle());
    std::vector<bool> was_there;
    net.server().world.on_call = [&](const char*, const Order& order) {
        was_there.push_back(!order.target.is_null());
        if (order.number == 1) {
            net.remove(target);  // the calls behind this one in the packet name it, too
        }
    };
    const ObjectHandle shown = net.find_on(0, target);
    REQUIRE(!shown.is_null());
    for (std::uint32_t i = 1; i <= 3; ++i) {
        (void)net.call_from(0, turret, "server_fire", {i, shown, ""});
    }
    net.tick(3);
    CHECK(was_there == std::vector<bool>{true, false, false});
    REQUIRE(net.settle());
}

TEST_CASE("Unreal conformance 9: the server's object stays when it is replicated no more",
          "[netdriver][conformance]") {
    SpawnGame game;
    const std::size_t client = game.join();
    const ObjectHandle prop = game.add(game.layouts().prop());
    game.prop(prop).hp = 7;
    REQUIRE(game.settle());
    game.server().driver.remove_object(game.id_of(prop));
    REQUIRE(game.settle());
    CHECK(game.find_on(client, prop).is_null());
    CHECK(game.prop(prop).hp == 7);
    // And may be replicated again, as a new object.
    const NetObjectId again = game.server().driver.add_object(game.layouts().prop(), prop);
    REQUIRE(game.settle());
    const ObjectHandle shown =
        game.client(client).driver.guids().find_object(game.server().driver.guid_of(again));
    REQUIRE(!shown.is_null());
    CHECK(game.client(client).world.at(shown).hp == 7);
}

TEST_CASE("Unreal conformance 9: a player's object is the first of the world that he looks at",
          "[netdriver][conformance][spawn]") {
    NetConfig config;
    config.initial_opens_per_flush_max = 1;
    SpawnGame game({}, config);
    for (int i = 0; i < 20; ++i) {
        (void)game.add_at(static_cast<float>(i));
    }
    ObjectHandle pawn;
    game.server().world.on_peer_joined = [&](PeerId peer) {
        pawn = game.add_at(1'000);
        game.server().driver.set_owner(game.id_of(pawn), peer);
        game.server().driver.set_player(game.id_of(pawn), true);
        game.server().driver.interest().set_viewer(peer, Vector3{1'000, 0, 0});
    };
    const std::size_t client = game.join();
    game.tick(4);
    REQUIRE(!pawn.is_null());
    const ObjectHandle shown = game.find_on(client, pawn);
    REQUIRE(!shown.is_null());
    CHECK(game.client(client).driver.role_of(shown).is_player);
    CHECK_FALSE(game.client(client).driver.initial_batch().is_finished);
    CHECK(game.client(client).driver.initial_batch().object_count == 21);
}

TEST_CASE("Unreal conformance 9: who leaves takes nothing along but what the game takes",
          "[netdriver][conformance][spawn]") {
    SpawnGame game;
    const std::size_t leaving = game.join();
    const std::size_t staying = game.join();
    const ObjectHandle pawn = game.add(game.layouts().prop());
    game.server().driver.set_owner(game.id_of(pawn), SpawnGame::peer_of(leaving));
    REQUIRE(game.settle());
    game.client(leaving).driver.disconnect(PeerId{1});
    game.tick(10);
    CHECK(game.server().driver.connection_count() == 1);
    CHECK(!game.find_on(staying, pawn).is_null());
    CHECK(game.server()
              .driver.role_for(SpawnGame::peer_of(leaving), game.id_of(pawn))
              .is_owned);  // and who comes back under that id has it again
}

}  // namespace replayout::test
