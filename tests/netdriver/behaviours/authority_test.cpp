// SPDX-License-Identifier: MIT
//
// Who owns what, who is whose player, and in which order objects are told.
#include <replayout/behaviours/network_client.h>
#include <replayout/behaviours/network_server.h>

#include <string>
#include <vector>

#include "support/checks/log_spy.h"
#include "support/worlds/arena_game.h"

namespace replayout::test {
namespace {

using Told = std::vector<std::string>;

TEST_CASE(
    "U49 A player that is made before its client is ready becomes the local player all the "
    "same",
    "[behaviours]") {
    ArenaGame game;
    game.client_manager().auto_create_player = false;
    game.join();
    while (game.server().find_connection(ArenaGame::client_peer(0)) == nullptr) {
        game.tick();
    }
    NetworkIdentity& player = game.server().instantiate(game.types().pawn());
    REQUIRE(game.server().add_player_for_connection(game.connection(0), player));
    CHECK(game.connection(0).is_ready());
    game.settle();
    CHECK(game.client(0).is_ready());
    CHECK(game.client(0).local_player() == game.on_client(0, player));
    CHECK(game.fighter_on(0, player).told ==
          Told{"start client", "start authority", "start local player"});
}

TEST_CASE("AddPlayer: the client asks once, and is given the prefab of the manager",
          "[behaviours]") {
    ArenaOptions options;
    options.auto_create_player = true;
    ArenaGame game(options);
    game.join_settled();
    game.tick(5);
    NetworkIdentity* player = game.connection(0).identity();
    REQUIRE(player != nullptr);
    CHECK(game.client(0).local_player() == game.on_client(0, *player));
    CHECK(player->component<Fighter>(0).told == Told{"start server"});
    LogSpy spy;
    CHECK_FALSE(game.client(0).add_player());
    CHECK(LogSpy::messages().size() == 1);
    NetworkIdentity& another = game.server().instantiate(game.types().pawn());
    CHECK_FALSE(game.server().add_player_for_connection(game.connection(0), another));
    CHECK_FALSE(another.is_spawned());
}

TEST_CASE("AddPlayer: a client that is not ready, a manager without a prefab, another's object",
          "[behaviours]") {
    ArenaGame game;
    game.join();
    game.join();
    LogSpy spy;
    CHECK_FALSE(game.client(0).add_player());
    CHECK_FALSE(game.client(0).ready());
    CHECK(game.client(0).counters().requests_refused == 2);
    game.settle();
    game.server_manager().player_prefab = nullptr;
    LogSpy::messages().clear();
    REQUIRE(game.client(0).add_player());
    game.settle();
    CHECK(LogSpy::messages().size() == 1);
    CHECK(game.connection(0).identity() == nullptr);
    NetworkIdentity& owned = game.spawn(game.types().pawn(), &game.connection(1));
    CHECK_FALSE(game.server().add_player_for_connection(game.connection(0), owned));
    CHECK(game.server().add_player_for_connection(game.connection(1), owned));
    game.server().set_client_not_ready(game.connection(0));
    game.tick(10);
    REQUIRE_FALSE(game.client(0).is_ready());
    CHECK_FALSE(game.client(0).add_player());
    CHECK(game.client(0).counters().requests_refused == 3);
}

/// A pawn that two clients are shown and nobody owns.
[[nodiscard]] NetworkIdentity& spawn_ownerless_pawn(ArenaGame& game) {
    game.join_settled(2);
    NetworkIdentity& pawn = game.spawn(game.types().pawn());
    game.settle();
    CHECK(take_told(game.fighter_on(0, pawn)) == Told{"start client"});
    CHECK_FALSE(game.on_client(0, pawn)->is_owned());
    return pawn;
}

TEST_CASE("U51 ChangeOwner: edges alone are told, in Mirror's order", "[behaviours]") {
    ArenaGame game;
    NetworkIdentity& pawn = spawn_ownerless_pawn(game);
    NetworkServer& server = game.server();
    NetworkConnection& connection = game.connection(0);
    NetworkIdentity& shown = *game.on_client(0, pawn);
    Fighter& fighter = game.fighter_on(0, pawn);

    SECTION("owned, and not any more") {
        REQUIRE(server.assign_client_authority(pawn, connection));
        REQUIRE(server.assign_client_authority(pawn, connection));
        CHECK_FALSE(server.assign_client_authority(pawn, game.connection(1)));
        game.settle();
        CHECK(shown.is_owned());
        CHECK(take_told(fighter) == Told{"start authority"});
        CHECK(take_told(game.fighter_on(1, pawn)) == Told{"start client"});
        REQUIRE(server.remove_client_authority(pawn));
        CHECK_FALSE(server.remove_client_authority(pawn));
        game.settle();
        CHECK_FALSE(shown.is_owned());
        CHECK(take_told(fighter) == Told{"stop authority"});
    }
    SECTION("from one client to another") {
        REQUIRE(server.assign_client_authority(pawn, connection));
        game.settle();
        REQUIRE(server.remove_client_authority(pawn));
        REQUIRE(server.assign_client_authority(pawn, game.connection(1)));
        game.settle();
        CHECK(take_told(fighter) == Told{"start authority", "stop authority"});
        CHECK(take_told(game.fighter_on(1, pawn)) == Told{"start client", "start authority"});
        CHECK(connection.owned().empty());
        CHECK(game.connection(1).owned().size() == 1);
    }
    SECTION("given and taken in one tick: nothing is told") {
        REQUIRE(server.assign_client_authority(pawn, connection));
        REQUIRE(server.remove_client_authority(pawn));
        game.settle();
        CHECK(take_told(fighter).empty());
    }
}

TEST_CASE("U51 ChangeOwner: edges alone are told of the player, and of the one in its place",
          "[behaviours]") {
    ArenaGame game;
    NetworkIdentity& pawn = spawn_ownerless_pawn(game);
    NetworkServer& server = game.server();
    NetworkConnection& connection = game.connection(0);
    NetworkIdentity& shown = *game.on_client(0, pawn);
    Fighter& fighter = game.fighter_on(0, pawn);

    SECTION("a player, and another one in its place that keeps authority") {
        REQUIRE(server.add_player_for_connection(connection, pawn));
        game.settle();
        CHECK(take_told(fighter) == Told{"start authority", "start local player"});
        CHECK(game.client(0).local_player() == &shown);
        CHECK_FALSE(server.remove_client_authority(pawn));
        NetworkIdentity& next = server.instantiate(game.types().pawn());
        REQUIRE(server.replace_player_for_connection(connection, next,
                                                     ReplacePlayerOptions::KeepAuthority));
        game.settle();
        CHECK(take_told(fighter) == Told{"stop local player"});
        CHECK(shown.is_owned());
        CHECK(game.client(0).local_player() == game.on_client(0, next));
        CHECK(take_told(game.fighter_on(0, next)) ==
              Told{"start client", "start authority", "start local player"});
        // And back.
        REQUIRE(server.replace_player_for_connection(connection, pawn,
                                                     ReplacePlayerOptions::KeepAuthority));
        game.settle();
        CHECK(take_told(fighter) == Told{"start local player"});
        CHECK(take_told(game.fighter_on(0, next)) == Told{"stop local player"});
        CHECK(game.client(0).local_player() == &shown);
    }
    SECTION("destroyed while it is the player") {
        REQUIRE(server.add_player_for_connection(connection, pawn));
        game.settle();
        game.client_manager().told.clear();
        server.destroy(pawn);
        CHECK(connection.identity() == nullptr);
        CHECK(connection.owned().empty());
        game.settle();
        CHECK(game.client(0).local_player() == nullptr);
    }
}

TEST_CASE("U52 Authority: it is given, seen and taken, and ends with the object", "[behaviours]") {
    ArenaGame game;
    game.join_settled();
    NetworkIdentity& pawn = game.server().instantiate(game.types().pawn());
    CHECK_FALSE(game.server().assign_client_authority(pawn, game.connection(0)));
    REQUIRE(game.server().spawn(pawn, &game.connection(0)));
    CHECK(pawn.connection_to_client() == ArenaGame::client_peer(0));
    game.settle();
    NetworkIdentity& shown = *game.on_client(0, pawn);
    Fighter& fighter = game.fighter_on(0, pawn);
    CHECK(take_told(fighter) == Told{"start client", "start authority"});
    // The pool keeps it, so what it was told is there to be read.
    REQUIRE(game.client(0).register_spawn_handler(
        pawn.asset_id(), {[](NetworkClient&, const SpawnInfo&) { return nullptr; },
                          [](NetworkClient&, NetworkIdentity&, ChannelCloseReason) {}}));
    game.server().unspawn(pawn);
    CHECK(pawn.connection_to_client() == PeerId{});
    game.settle();
    CHECK(take_told(fighter) == Told{"stop client", "stop authority"});
    CHECK_FALSE(shown.is_owned());
}

TEST_CASE("U53 ReplacePlayer and RemovePlayer: what becomes of the one before", "[behaviours]") {
    ArenaOptions options;
    options.auto_create_player = true;
    ArenaGame game(options);
    game.join_settled();
    game.tick(5);
    NetworkServer& server = game.server();
    NetworkConnection& connection = game.connection(0);
    NetworkIdentity& first = *connection.identity();
    const std::uint64_t first_id = first.net_id();
    Fighter& shown = game.fighter_on(0, first);
    take_told(shown);
    take_told(first.component<Fighter>(0));
    NetworkIdentity& next = server.instantiate(game.types().twins());

    SECTION("kept active") {
        REQUIRE(server.replace_player_for_connection(connection, next,
                                                     ReplacePlayerOptions::KeepActive));
        game.settle();
        CHECK(take_told(shown) == Told{"stop local player", "stop authority"});
        CHECK(first.connection_to_client() == PeerId{});
    }
    SECTION("unspawned") {
        REQUIRE(
            server.replace_player_for_connection(connection, next, ReplacePlayerOptions::Unspawn));
        game.settle();
        CHECK(game.client(0).find(first_id) == nullptr);
        CHECK(take_told(first.component<Fighter>(0)) == Told{"stop server"});
        CHECK(server.spawn(first));
    }
    SECTION("destroyed") {
        REQUIRE(
            server.replace_player_for_connection(connection, next, ReplacePlayerOptions::Destroy));
        CHECK_FALSE(
            server.replace_player_for_connection(connection, next, ReplacePlayerOptions::Destroy));
        game.settle();
        CHECK(game.client(0).find(first_id) == nullptr);
    }
    CHECK(connection.identity() == &next);
    CHECK(game.client(0).local_player() == game.on_client(0, next));

    server.remove_player_for_connection(connection, RemovePlayerOptions::KeepActive);
    server.remove_player_for_connection(connection, RemovePlayerOptions::KeepActive);
    game.settle();
    CHECK(connection.identity() == nullptr);
    CHECK(connection.owned().empty());
    CHECK(game.fighter_on(0, next).told == Told{"start client", "start authority",
                                                "start local player", "stop local player",
                                                "stop authority"});
    CHECK(game.client(0).local_player() == nullptr);
    REQUIRE(game.client(0).add_player());
    game.settle();
    NetworkIdentity& third = *connection.identity();
    CHECK(game.client(0).local_player() == game.on_client(0, third));
    server.remove_player_for_connection(connection, RemovePlayerOptions::Unspawn);
    CHECK(connection.identity() == nullptr);
    game.settle();
    CHECK(game.client(0).local_player() == nullptr);
}

TEST_CASE("Authority: what is for owners arrives at a new owner that sees the object already",
          "[behaviours]") {
    ArenaGame game;
    game.join();
    NetworkIdentity& pawn = game.spawn(game.types().pawn());
    pawn.component<Purse>(1).gold = 3;
    pawn.component<Purse>(1).secret = 4;
    game.settle();
    const Purse& purse = game.on_client(0, pawn)->component<Purse>(1);
    CHECK(purse.gold == 3);
    CHECK(purse.secret == 0);
    REQUIRE(game.server().assign_client_authority(pawn, game.connection(0)));
    game.settle();
    CHECK(purse.secret == 4);
}

TEST_CASE("Disconnect: what the client owned is destroyed, its player too, and nothing else",
          "[behaviours]") {
    ArenaOptions options;
    options.auto_create_player = true;
    ArenaGame game(options);
    game.join_settled(2);
    game.tick(5);
    NetworkIdentity& pet = game.spawn(game.types().pawn(), &game.connection(0));
    NetworkIdentity& crate = game.spawn(game.types().pawn());
    const std::uint64_t player = game.connection(0).identity()->net_id();
    const std::uint64_t pet_id = pet.net_id();
    game.settle();
    game.client(0).disconnect();
    game.tick(20);
    CHECK(game.server_manager().told == Told{"left, owning 2"});
    CHECK(game.server().find(player) == nullptr);
    CHECK(game.server().find(pet_id) == nullptr);
    CHECK(game.server().find(crate.net_id()) == &crate);
    CHECK(game.client(1).find(pet_id) == nullptr);
    CHECK(game.on_client(1, crate) != nullptr);
    CHECK(game.client(1).local_player() != nullptr);
}

TEST_CASE("Hostile: ready, add_player and commands in floods are counted, and change nothing",
          "[behaviours]") {
    ArenaOptions options;
    options.auto_create_player = true;
    // Beyond what a server takes in a second the connection is closed.
    options.config.calls_per_second_max = 10'000;
    options.config.calls_burst_max = 10'000;
    options.config.function_calls_per_second_max = 10'000;
    options.config.function_calls_burst_max = 10'000;
    ArenaGame game(options);
    game.join_settled(2);
    game.tick(5);
    NetworkIdentity& player = *game.connection(0).identity();
    NetworkIdentity& others = *game.connection(1).identity();
    // What no client of ours does, past its own checks: by the object of its connection.
    NetDriver& driver = game.client(0).driver();
    const auto forge = [&](std::string_view function) {
        for (std::uint64_t id = 1; id < 20; ++id) {
            const ObjectHandle object = driver.guids().find_object(NetGUID{id});
            if (object.value != 0 && driver.call_function(object, function) == CallResult::Sent) {
                return true;
            }
        }
        return false;
    };
    const Told before = game.client_manager().told;
    for (int i = 0; i < 100; ++i) {
        REQUIRE(forge("0.ready"));
        REQUIRE(forge("0.add_player"));
        REQUIRE(forge("0.not_ready_heard"));
        game.fighter_on(0, player).call("cmd_shout");
        CHECK(game.fighter_on(0, others).call("cmd_shout") == CallResult::NotOwned);
        game.tick();
    }
    game.settle();
    CHECK(player.component<Fighter>(0).told.size() == 101);
    CHECK(others.component<Fighter>(0).told == Told{"start server"});
    CHECK(game.server().driver().stats().calls_not_owned == 0);
    CHECK(game.connection(0).is_ready());
    CHECK(game.connection(0).identity() == &player);
    CHECK(game.connection(0).owned().size() == 1);
    CHECK(game.server().counters().ready_repeated == 100);
    CHECK(game.server().counters().players_refused == 100);
    CHECK(game.client_manager().told == before);
}

TEST_CASE("Hostile: a client that calls more than the server takes is closed, and no other",
          "[behaviours]") {
    ArenaOptions options;
    options.auto_create_player = true;
    // A client of ours does not call so often: these have other limits than their server.
    options.client_config.emplace();
    options.client_config->calls_burst_max = 1'000'000;
    options.client_config->function_calls_burst_max = 1'000'000;
    ArenaGame game(options);
    game.join_settled(2);
    game.tick(5);
    NetworkIdentity& player = *game.connection(0).identity();
    for (int i = 0; i < 800; ++i) {
        game.fighter_on(0, player).call("cmd_shout");
        game.tick(i % 200 == 199 ? 2 : 0);
    }
    game.tick(50);
    CHECK(game.server().find_connection(ArenaGame::client_peer(0)) == nullptr);
    CHECK(game.connection(1).identity() != nullptr);
    CHECK(game.client(1).local_player() != nullptr);
}

}  // namespace
}  // namespace replayout::test
