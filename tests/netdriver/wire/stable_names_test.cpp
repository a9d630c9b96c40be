// SPDX-License-Identifier: MIT
//
// Objects of the map: a client keeps them while they are out of sight, and finds them again under
// their names, whatever became of them and whatever overtakes.
#include <replayout/netdriver/net_driver.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/networks/peers.h"
#include "support/worlds/spawn_game.h"

namespace replayout::test {
namespace {

[[nodiscard]] LinkSettings dead_link() {
    LinkSettings link;
    link.loss = 1;
    return link;
}

}  // namespace

TEST_CASE("Stable names: what is back at its archetype while nobody looked is told all the same",
          "[netdriver][spawn]") {
    SpawnGame game;
    const std::size_t client = game.join();
    const ObjectHandle door = game.announce("door");
    REQUIRE(game.settle());
    NetDriver& driver = game.server().driver;
    game.prop(door).hp = 1;
    game.prop(door).link = door;
    REQUIRE(game.settle());
    SECTION("out of sight") {
        driver.interest().set_relevant_for(SpawnGame::peer_of(client), game.id_of(door), false);
        REQUIRE(game.settle());
        game.prop(door).hp = 100;
        game.prop(door).link = {};
        REQUIRE(game.settle());
        driver.interest().set_relevant_for(SpawnGame::peer_of(client), game.id_of(door), true);
    }
    SECTION("gone from one place and there in another, in the same tick") {
        driver.interest().set_relevant_for(SpawnGame::peer_of(client), game.id_of(door), false);
        game.prop(door).hp = 100;
        game.prop(door).link = {};
        driver.interest().set_relevant_for(SpawnGame::peer_of(client), game.id_of(door), true);
    }
    REQUIRE(game.settle());
    CHECK(game.prop_on(client, door).hp == 100);
    CHECK(game.prop_on(client, door).link.is_null());
}

TEST_CASE("Stable names: a level that is loaded again finds its objects, whatever overtakes",
          "[netdriver][spawn]") {
    const std::uint64_t seed = run_seed();
    for (std::uint64_t round = 0; round < 10; ++round) {
        INFO("seed " << seed << ", round " << round);
        SpawnGame game(bad_link(), {}, seed + round);
        const std::size_t client = game.join();
        ObjectHandle door = game.announce("door");
        REQUIRE(game.settle());
        for (int level = 0; level < 5; ++level) {
            game.remove(door, ChannelCloseReason::LevelUnloaded);
            const ObjectHandle other = game.add(game.layouts().prop());  // in the door's slot
            (void)game.server().world.place("door");
            door = game.announce("door");
            game.prop(door).hp = 1'000 + level;
            REQUIRE(game.settle());
            REQUIRE(game.prop_on(client, door).hp == 1'000 + level);
            game.remove(other);
        }
    }
}

TEST_CASE("Stable names: the end of an object says nothing of the next one that has its name",
          "[netdriver][spawn]") {
    SpawnGame game;
    const std::size_t client = game.join();
    REQUIRE(game.settle());
    ObjectHandle door = game.announce("door");
    game.server().driver.interest().set_relevant_for(SpawnGame::peer_of(client), game.id_of(door),
                                                     false);
    REQUIRE(game.settle());
    (void)take_told(game.client(client));
    game.network().set_settings(server_peer, SpawnGame::peer_of(client), dead_link());
    game.remove(door);
    game.tick();  // the notice is lost
    game.network().heal();
    (void)game.server().world.place("door");
    door = game.announce("door");
    game.prop(door).hp = 7;
    REQUIRE(game.settle());
    CHECK(take_told(game.client(client)) == Told{"find door"});
    CHECK(game.prop_on(client, door).hp == 7);
    const std::size_t late = game.join();
    REQUIRE(game.settle());
    CHECK(game.client(late).world.told.back() == "1 joined");
    CHECK(game.prop_on(late, door).hp == 7);
}

TEST_CASE("Stable names: what is destroyed while its close is on its way goes as destroyed",
          "[netdriver][spawn]") {
    SpawnGame game;
    const std::size_t client = game.join();
    const ObjectHandle door = game.announce("door");
    REQUIRE(game.settle());
    (void)take_told(game.client(client));
    game.network().set_settings(server_peer, SpawnGame::peer_of(client), dead_link());
    game.server().driver.interest().set_relevant_for(SpawnGame::peer_of(client), game.id_of(door),
                                                     false);
    game.tick();  // the close is lost
    game.network().heal();
    game.remove(door);
    REQUIRE(game.settle());
    CHECK(take_told(game.client(client)) == Told{"despawn: destroyed"});
}

TEST_CASE("Stable names: at random, a client that is shown an object has what the server has",
          "[netdriver][spawn]") {
    const std::uint64_t seed = run_seed();
    for (std::uint64_t round = 0; round < 30; ++round) {
        INFO("seed " << seed << ", round " << round);
        SeededRandom random(seed * 100 + round);
        SpawnGame game(bad_link(), patient_config(), seed * 100 + round);
        const std::size_t client = game.join();
        const PeerId peer = SpawnGame::peer_of(client);
        ObjectHandle objects[] = {game.announce("door"), game.announce("lamp")};
        for (int step = 0; step < 60; ++step) {
            const std::uint32_t which = random.below(2);
            ObjectHandle& object = objects[which];
            NetDriver& driver = game.server().driver;
            switch (random.below(6)) {
                case 0:
                    driver.interest().set_relevant_for(peer, game.id_of(object),
                                                       random.percent(50));
                    break;
                case 1:
                    driver.set_dormancy(game.id_of(object), random.percent(50)
                                                                ? NetDormancy::DormantAll
                                                                : NetDormancy::Awake);
                    break;
                case 2:
                    game.remove(object, ChannelCloseReason::LevelUnloaded);
                    (void)game.server().world.place(SpawnGame::map_names[which]);
                    object = game.announce(SpawnGame::map_names[which]);
                    // The client's object has other values than at first. A value that equals the
                    // first one is not sent, so this one has to be seen by a flush.
                    game.prop(object).hp = 50;
                    game.tick();
                    break;
                default:
                    game.prop(object).hp =
                        random.percent(50) ? 100 : static_cast<std::int32_t>(random.between(1, 9));
                    driver.flush_dormancy(game.id_of(object));
                    break;
            }
            game.tick(random.below(6));
        }
        for (const ObjectHandle object : objects) {
            game.server().driver.set_dormancy(game.id_of(object), NetDormancy::Awake);
            game.server().driver.interest().set_relevant_for(peer, game.id_of(object), true);
        }
        REQUIRE(game.settle());
        for (const ObjectHandle object : objects) {
            REQUIRE(game.prop_on(client, object).hp == game.prop(object).hp);
        }
    }
}

}  // namespace replayout::test
