// SPDX-License-Identifier: MIT
//
// SyncVars: what is sent, who is told, and when.
#include <replayout/behaviours/sync_var.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/worlds/arena_game.h"

namespace replayout::test {
namespace {

using Told = std::vector<std::string>;

TEST_CASE("SyncVar: an assignment arrives at every client, and the same value is not sent",
          "[behaviours]") {
    ArenaGame game;
    game.join();
    NetworkIdentity& pawn = game.join_with(game.types().pawn());

    Fighter& fighter = pawn.component<Fighter>(0);
    fighter.health -= 40;
    fighter.name = "ann";
    CHECK(fighter.sync_var_dirty_bits() == 0b101);
    game.settle();
    CHECK(fighter.sync_var_dirty_bits() == 0);
    for (std::size_t client : {0u, 1u}) {
        const NetworkIdentity* shown = game.on_client(client, pawn);
        REQUIRE(shown != nullptr);
        CHECK(shown->component<Fighter>(0).health == 60);
        CHECK(shown->component<Fighter>(0).name.get() == "ann");
    }

    fighter.health = 60;
    fighter.name = "ann";
    CHECK(fighter.sync_var_dirty_bits() == 0);
}

TEST_CASE("SyncVar: what is for its owner reaches nobody else", "[behaviours]") {
    ArenaGame game;
    game.join_settled(2);
    NetworkIdentity& pawn = game.spawn(game.types().pawn(), &game.connection(0));
    game.settle();
    pawn.component<Purse>(1).gold = 7;
    pawn.component<Purse>(1).secret = 8;
    game.settle();
    CHECK(game.on_client(0, pawn)->component<Purse>(1).secret == 8);
    CHECK(game.on_client(1, pawn)->component<Purse>(1).gold == 7);
    CHECK(game.on_client(1, pawn)->component<Purse>(1).secret == 0);
}

TEST_CASE("SyncVar: a hook of Mirror's style runs behind the assignment, before start client",
          "[behaviours]") {
    ArenaGame game;
    game.join_settled();
    NetworkIdentity& pawn = game.server().instantiate(game.types().pawn());
    pawn.component<Fighter>(0).health = 70;
    REQUIRE(game.server().spawn(pawn));
    game.settle();
    Fighter& shown = game.on_client(0, pawn)->component<Fighter>(0);
    CHECK(shown.told == Told{"health 100 -> 70", "start client"});

    shown.told.clear();
    pawn.component<Fighter>(0).name = "bob";
    pawn.component<Fighter>(0).health = 50;
    game.settle();
    CHECK(shown.told == Told{"health 70 -> 50", "name bob"});
    CHECK(pawn.component<Fighter>(0).told == Told{"start server"});
}

TEST_CASE("U26 SyncVar: a hook runs when a value changed, and not when it is the same",
          "[behaviours]") {
    ArenaGame game;
    NetworkIdentity& pawn = game.join_with(game.types().pawn());
    Fighter& shown = game.on_client(0, pawn)->component<Fighter>(0);
    shown.told.clear();
    pawn.component<Fighter>(0).health = 100;        // as it is
    pawn.component<Fighter>(0).set_dirty_bit(0b1);  // and marked, which changes nothing
    game.settle();
    CHECK(shown.told.empty());
    pawn.component<Fighter>(0).health = 99;
    game.settle();
    CHECK(shown.told == Told{"health 100 -> 99"});
    pawn.component<Fighter>(0).health = 98;
    pawn.component<Fighter>(0).health = 99;  // and back within the tick
    game.settle();
    CHECK(shown.told == Told{"health 100 -> 99"});
}

TEST_CASE("SyncVar: a hook of UNet's style runs instead of the assignment, not at first",
          "[behaviours]") {
    ArenaOptions options;
    options.fighter.hook_style = HookStyle::UNet;
    ArenaGame game(options);
    game.join_settled();
    NetworkIdentity& pawn = game.server().instantiate(game.types().pawn());
    pawn.component<Fighter>(0).health = 70;
    REQUIRE(game.server().spawn(pawn));
    game.settle();
    Fighter& shown = game.on_client(0, pawn)->component<Fighter>(0);
    CHECK(shown.health == 70);
    CHECK(shown.told == Told{"start client"});

    shown.told.clear();
    pawn.component<Fighter>(0).health = 50;
    game.settle();
    CHECK(shown.told == Told{"health 70 -> 50, not assigned"});
    CHECK(shown.health == 70);

    shown.told.clear();
    shown.during_hook = [](Fighter& fighter) { fighter.health = 40; };
    pawn.component<Fighter>(0).health = 40;
    game.settle();
    CHECK(shown.health == 40);
}

TEST_CASE("SyncVar: hooks of the initial batch run when all of it is there, in order of ids",
          "[behaviours]") {
    ArenaGame game;
    NetworkIdentity& first = game.server().instantiate(game.types().pawn());
    NetworkIdentity& second = game.server().instantiate(game.types().pawn());
    REQUIRE(game.server().spawn(first));
    REQUIRE(game.server().spawn(second));
    first.component<Fighter>(0).health = 10;
    first.component<Fighter>(0).target = &second;
    second.component<Fighter>(0).target = &first;
    game.join_settled();
    NetworkIdentity* shown = game.on_client(0, first);
    REQUIRE(shown != nullptr);
    CHECK(shown->component<Fighter>(0).told == Told{"health 100 -> 10", "start client"});
    CHECK(shown->component<Fighter>(0).target.get() == game.on_client(0, second));
    CHECK(game.on_client(0, second)->component<Fighter>(0).target.get() == shown);
}

TEST_CASE("SyncVar: the sync interval holds back what changes, and sends it together",
          "[behaviours]") {
    ArenaOptions options;
    options.fighter.sync_interval_us = 100'000;
    ArenaGame game(options);
    NetworkIdentity& pawn = game.join_with(game.types().pawn());
    game.tick(10);
    Fighter& fighter = pawn.component<Fighter>(0);
    fighter.health = 90;
    game.tick();  // it is due
    fighter.health = 80;
    fighter.speed = 2.0f;
    CHECK_FALSE(fighter.is_dirty());
    game.tick(3);
    CHECK(game.on_client(0, pawn)->component<Fighter>(0).health == 90);
    game.tick(6);
    CHECK(game.on_client(0, pawn)->component<Fighter>(0).health == 80);
    CHECK(game.on_client(0, pawn)->component<Fighter>(0).speed == 2.0f);
}

TEST_CASE("SyncVar: two components of one class are told apart", "[behaviours]") {
    ArenaGame game;
    NetworkIdentity& twins = game.join_with(game.types().twins());
    twins.component<Fighter>(1).health = 5;
    game.settle();
    const NetworkIdentity* shown = game.on_client(0, twins);
    CHECK(shown->component<Fighter>(0).health == 100);
    CHECK(shown->component<Fighter>(1).health == 5);
}

}  // namespace
}  // namespace replayout::test
