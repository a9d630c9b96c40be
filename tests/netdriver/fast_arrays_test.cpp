// SPDX-License-Identifier: MIT
//
// Fast and keyed arrays over a network that loses, and what sharing saves of them.
#include <replayout/netdriver/net_driver.h>

#include <cstdint>

#include "support/catch.h"
#include "support/class_game.h"
#include "support/fast_array_types.h"
#include "support/run_seed.h"
#include "support/seeded_random.h"

namespace replayout::test {
namespace {

void edit(Inventory& stock, SeededRandom& random) {
    const auto count = static_cast<std::uint32_t>(stock.items.size());
    switch (count == 0 ? 0 : random.below(5)) {
        case 0:
            if (count < 60) {
                stock.add(random.below(100), static_cast<std::int32_t>(random.below(1000)));
            }
            return;
        case 1:
            stock.remove(random.below(count));
            return;
        case 2:
            std::swap(stock.items[random.below(count)], stock.items[random.below(count)]);
            return;
        default:
            stock.change(random.below(count), static_cast<std::int32_t>(random.below(1000)));
            return;
    }
}

void play(std::uint64_t seed, bool is_sharing) {
    INFO("seed " << seed);
    ClassGameOptions options;
    options.seed = seed;
    options.is_sharing = is_sharing;
    options.link.loss = 0.2;
    options.link.duplicate = 0.1;
    options.link.reorder = 0.1;
    options.link.latency_ms = 60;
    options.link.jitter_ms = 30;
    ClassGame<Trader> game(build_trader, options);
    SeededRandom random(seed);
    game.join();
    game.join();
    const ObjectHandle trader = game.add();
    for (std::uint32_t tick = 0; tick < 300; ++tick) {
        for (std::uint32_t i = random.below(4); i > 0; --i) {
            edit(game.object(trader).stock, random);
        }
        if (tick == 200) {
            game.join();
        }
        game.tick();
    }
    game.network().set_settings(LinkSettings());
    REQUIRE(game.settle());
    for (std::size_t client = 0; client < game.client_count(); ++client) {
        CHECK(game.object_on(client, trader).stock.content() ==
              game.object(trader).stock.content());
    }
}

}  // namespace

TEST_CASE("Unreal conformance 7: fast arrays end right whatever is lost, deletions included",
          "[netdriver][fast_array]") {
    const std::uint64_t seed = run_seed();
    for (std::uint64_t round = 0; round < 4; ++round) {
        play(seed * 100 + round, round % 2 == 0);
    }
}

TEST_CASE("Unreal conformance 7: after more than 64 losses in a row the final values are right",
          "[netdriver][fast_array]") {
    ClassGame<Trader> game(build_trader);
    game.join();
    const ObjectHandle trader = game.add();
    Inventory& stock = game.object(trader).stock;
    for (std::uint32_t i = 0; i < 20; ++i) {
        stock.add(i, 1);
    }
    REQUIRE(game.settle());
    LinkSettings dead;
    dead.loss = 1;
    game.network().set_settings(dead);
    SeededRandom random(7);
    for (std::uint32_t tick = 0; tick < 100; ++tick) {
        edit(stock, random);
        game.tick();
    }
    game.network().set_settings(LinkSettings());
    REQUIRE(game.settle());
    CHECK(game.object_on(0, trader).stock.content() == stock.content());
}

TEST_CASE("Fast arrays: what several connections are owed is encoded once",
          "[netdriver][fast_array]") {
    ClassGame<Trader> game(build_trader);
    for (int i = 0; i < 16; ++i) {
        game.join();
    }
    const ObjectHandle trader = game.add();
    for (std::uint32_t i = 0; i < 10; ++i) {
        game.object(trader).stock.add(i, 1);
    }
    REQUIRE(game.settle());
    const std::uint64_t before = game.driver().stats().replication.serializer_calls;
    game.object(trader).stock.remove(3);
    game.object(trader).stock.change(2, 9);
    REQUIRE(game.settle());
    CHECK(game.driver().stats().replication.serializer_calls == before + 1);
    CHECK(game.object_on(15, trader).stock.content() == game.object(trader).stock.content());
}

}  // namespace replayout::test
