// SPDX-License-Identifier: MIT
//
// Objects that lie in the scene at both ends.
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "support/checks/contains.h"
#include "support/checks/log_spy.h"
#include "support/worlds/arena_game.h"

namespace replayout::test {
namespace {

using Told = std::vector<std::string>;

TEST_CASE("Scene objects: the second one of an id is refused by name", "[behaviours]") {
    ArenaGame game;
    game.join_settled();
    NetworkIdentity& first = game.server().add_scene_object(game.types().twins(), 21);
    NetworkIdentity& second = game.server().add_scene_object(game.types().pawn(), 21);
    LogSpy spy(LogLevel::Warning);
    REQUIRE(game.server().spawn(first));
    CHECK_FALSE(game.server().spawn(second));
    CHECK_FALSE(second.is_spawned());
    REQUIRE(LogSpy::messages().size() == 1);
    for (const char* part : {"\"Pawn\"", "\"Twins\"", "scene id 21"}) {
        CHECK(contains(LogSpy::messages().front(), part));
    }
    game.server().unspawn(first);
    CHECK(game.server().spawn(second));
    game.server().destroy(second);
    CHECK(game.server().spawn(first));
}

/// The same door at both ends, opened and renamed in the scene.
NetworkIdentity& open_in_scene(NetworkIdentity& door) {
    door.component<Fighter>(0).health = 60;
    door.component<Fighter>(0).name = "gate";
    return door;
}

TEST_CASE("Scene objects: what they are in the scene is what hooks compare with", "[behaviours]") {
    ArenaGame game;
    const std::size_t client = game.join();
    NetworkIdentity& door =
        open_in_scene(game.client(client).add_scene_object(game.types().twins(), 5));
    NetworkIdentity& object =
        open_in_scene(game.server().add_scene_object(game.types().twins(), 5));
    Fighter& shown = door.component<Fighter>(0);
    Fighter& fighter = object.component<Fighter>(0);
    const Told started = {"start client"};
    SECTION("nothing changed: no hook runs") {
        REQUIRE(game.server().spawn(object));
        game.settle();
        CHECK(take_told(shown) == started);
        CHECK(shown.health == 60);
        CHECK(shown.name.get() == "gate");
    }
    SECTION("it equals the prefab: the hook runs") {
        fighter.health = 100;
        REQUIRE(game.server().spawn(object));
        game.settle();
        CHECK(take_told(shown) == Told{"health 60 -> 100", "start client"});
        CHECK(shown.name.get() == "gate");
    }
    SECTION("it is unspawned, and both are again what they were") {
        REQUIRE(game.server().spawn(object));
        game.settle();
        take_told(shown);
        fighter.health = 5;
        game.settle();
        CHECK(take_told(shown) == Told{"health 60 -> 5"});
        game.server().destroy(object);
        game.settle();
        CHECK(fighter.health == 60);
        CHECK(shown.health == 60);
        CHECK(shown.name.get() == "gate");
        take_told(shown);
        REQUIRE(game.server().spawn(object));
        game.settle();
        CHECK(take_told(shown) == started);
    }
    SECTION("a host compares with the same") {
        game.server().start_host();
        REQUIRE(game.server().spawn(object));
        game.tick(2);
        CHECK(take_told(fighter) == Told{"start server", "shown to host", "start client"});
    }
}

TEST_CASE("Scene objects: an error names scene id, prefab and asset id", "[behaviours]") {
    ArenaGame game;
    game.join_settled();
    LogSpy spy;
    NetworkIdentity& object = game.server().add_scene_object(game.types().pawn(), 4711);
    REQUIRE(game.server().spawn(object));
    game.settle();
    REQUIRE_FALSE(LogSpy::messages().empty());
    for (const std::string& part : {std::string("scene id 4711"), std::string("\"Pawn\""),
                                    "asset id " + std::to_string(object.asset_id())}) {
        CHECK(contains(LogSpy::messages().front(), part));
    }
}

TEST_CASE("Spawn handlers: an error names the prefab and its asset id", "[behaviours]") {
    ArenaGame game;
    game.join_settled();
    const NetworkPrefab& pawn = game.types().pawn();
    LogSpy spy;
    CHECK_FALSE(game.client(0).register_spawn_handler(12'345, {}));
    CHECK(contains(LogSpy::messages().back(), "12345"));
    NetworkSpawnHandler handler;
    handler.spawn = [](NetworkClient&, const SpawnInfo&) -> NetworkIdentity* { return nullptr; };
    handler.unspawn = [](NetworkClient&, NetworkIdentity&, ChannelCloseReason) {};
    REQUIRE(game.client(0).register_spawn_handler(pawn.asset_id(), handler));
    std::ignore = game.spawn(pawn);
    game.settle();
    const std::string named = "\"Pawn\" (asset id " + std::to_string(pawn.asset_id()) + ")";
    const std::vector<std::string>& lines = LogSpy::messages();
    CHECK(std::any_of(lines.begin(), lines.end(),
                      [&](const std::string& line) { return contains(line, named); }));
}

}  // namespace
}  // namespace replayout::test
