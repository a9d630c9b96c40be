// SPDX-License-Identifier: MIT
//
// What a change costs does not depend on how many see it, and what a join costs not on how many
// join.
#include <replayout/behaviours/network_server.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/worlds/arena_game.h"

namespace replayout::test {
namespace {

/// What encodes values: each by itself, or as a piece for all.
[[nodiscard]] std::uint64_t values_encoded(ArenaGame& game) {
    return game.server().driver().stats().replication.values_encoded;
}

/// Values encoded while 10 objects change two values each in 20 ticks, with so many observers.
[[nodiscard]] std::uint64_t encoded_with(std::size_t observers) {
    ArenaGame game;
    for (std::size_t i = 0; i < observers; ++i) {
        game.join();
    }
    game.settle();
    std::vector<NetworkIdentity*> pawns;
    for (int i = 0; i < 10; ++i) {
        pawns.push_back(&game.spawn(game.types().pawn(), &game.connection(0)));
    }
    game.settle();
    const std::uint64_t before = values_encoded(game);
    for (int i = 0; i < 20; ++i) {
        for (NetworkIdentity* pawn : pawns) {
            pawn->component<Fighter>(0).health -= 1;
            pawn->component<Fighter>(0).name = std::to_string(i);
        }
        game.tick();
    }
    game.settle();
    return values_encoded(game) - before;
}

TEST_CASE("NetworkServer: values encoded do not depend on the number of observers",
          "[behaviours]") {
    const std::uint64_t expected = 10 * 20 * 2;
    CHECK(encoded_with(1) == expected);
    CHECK(encoded_with(4) == expected);
    CHECK(encoded_with(16) == expected);
}

TEST_CASE("NetworkServer: for owner and observers a value is encoded once each at most",
          "[behaviours]") {
    ArenaGame game;
    for (int i = 0; i < 8; ++i) {
        game.join();
    }
    game.settle();
    NetworkIdentity& pawn = game.spawn(game.types().pawn(), &game.connection(0));
    game.settle();
    const std::uint64_t before = values_encoded(game);
    pawn.component<Purse>(1).gold = 5;    // all
    pawn.component<Purse>(1).secret = 6;  // the owner
    game.settle();
    CHECK(game.on_client(0, pawn)->component<Purse>(1).secret == 6);
    CHECK(game.on_client(7, pawn)->component<Purse>(1).gold == 5);
    CHECK(values_encoded(game) - before <= 3);
}

TEST_CASE("NetworkServer: what joiners are spawned with is encoded once for all of them",
          "[behaviours]") {
    const auto encoded_for = [](int joiners) {
        ArenaGame game;
        std::vector<NetworkIdentity*> pawns;
        for (int i = 0; i < 50; ++i) {
            NetworkIdentity& pawn = game.server().instantiate(game.types().pawn());
            pawn.component<Fighter>(0).health = i;
            pawn.component<Fighter>(0).name = "pawn " + std::to_string(i);
            REQUIRE(game.server().spawn(pawn));
            pawns.push_back(&pawn);
        }
        game.tick(3);
        for (int i = 0; i < joiners; ++i) {
            game.join();
        }
        game.settle();
        CHECK(game.on_client(0, *pawns[49])->component<Fighter>(0).name.get() == "pawn 49");
        return values_encoded(game);
    };
    // And for each joiner one that names to it what it is to see: spawn_batch().
    CHECK(encoded_for(1) == 50 * 2 + 1);
    CHECK(encoded_for(12) == 50 * 2 + 12);
}

}  // namespace
}  // namespace replayout::test
