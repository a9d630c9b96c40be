// SPDX-License-Identifier: MIT
//
// Fast and keyed arrays over a network that loses, and what sharing saves of them.
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/types/fast_array_types.h"
#include "support/worlds/class_game.h"

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

void play_traders(std::uint64_t seed, bool is_sharing) {
    INFO("seed " << seed);
    ClassGameOptions options;
    options.seed = seed;
    options.sharing = sharing_level(is_sharing);
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
        play_traders(seed * 100 + round, round % 2 == 0);
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
    const std::uint64_t before = game.driver().stats().replication.values_encoded;
    game.object(trader).stock.remove(3);
    game.object(trader).stock.change(2, 9);
    REQUIRE(game.settle());
    CHECK(game.driver().stats().replication.values_encoded == before + 1);
    CHECK(game.object_on(15, trader).stock.content() == game.object(trader).stock.content());
}

namespace {

[[nodiscard]] Result<const Type*> build_pushed_trader(TypeRegistry& registry) {
    register_inventory(registry);
    return class_builder<Trader>(registry, "Trader")
        .property<&Trader::stock>()
        .push_based()
        .build();
}

/// A trader with three items that its client has, and every mark is looked for.
struct Market {
    explicit Market(BuildType build) : game(build, options()) {
        game.join();
        trader = game.add();
        for (std::uint32_t i = 0; i < 3; ++i) {
            stock().add(i, 1);
        }
        REQUIRE(game.settle());
        REQUIRE(missed() == 0);
    }
    [[nodiscard]] static ClassGameOptions options() {
        ClassGameOptions options;
        options.mark_validation_ticks = 1;
        return options;
    }
    [[nodiscard]] Inventory& stock() { return game.object(trader).stock; }
    /// Marks that were missed in one tick from now.
    [[nodiscard]] std::uint64_t missed() {
        const std::uint64_t before = game.driver().stats().replication.marks_missed;
        game.tick();
        return game.driver().stats().replication.marks_missed - before;
    }

    ClassGame<Trader> game;
    ObjectHandle trader;
};

}  // namespace

TEST_CASE("Fast arrays: a forgotten mark of an item or of the array is found",
          "[netdriver][fast_array]") {
    Market market(build_trader);
    const LogSpy log;
    Inventory& stock = market.stock();
    stock.items[1].count = 7;
    CHECK(market.missed() == 1);
    REQUIRE(LogSpy::messages().size() == 1);
    CHECK(LogSpy::messages()[0].find("forgotten mark: property \"stock\" of a \"Trader\"") == 0);
    CHECK(LogSpy::messages()[0].find("changed, and the array or an item of it was not marked "
                                     "dirty, so it is not sent") != std::string::npos);
    stock.mark_item_dirty(stock.items[0]);  // of another one
    CHECK(market.missed() == 1);
    stock.mark_item_dirty(stock.items[1]);
    CHECK(market.missed() == 0);

    Stack& added = stock.items.emplace_back();
    CHECK(market.missed() == 1);
    stock.mark_item_dirty(added);
    CHECK(market.missed() == 0);

    stock.items.erase(stock.items.begin());
    CHECK(market.missed() == 1);
    stock.mark_array_dirty();
    CHECK(market.missed() == 0);

    std::swap(stock.items[0], stock.items[1]);  // nobody is to be told
    stock.change(2, 9);
    stock.remove(0);
    CHECK(market.missed() == 0);
    REQUIRE(market.game.settle());
    CHECK(market.game.object_on(0, market.trader).stock.content() == stock.content());
}

TEST_CASE("Fast arrays: where the property is push based its own mark is looked for, too",
          "[netdriver][fast_array]") {
    Market market(build_pushed_trader);
    const LogSpy log;
    const NetObjectId id = market.game.id_of(market.trader);
    Inventory& stock = market.stock();
    stock.change(1, 7);
    CHECK(market.missed() == 1);
    market.game.driver().mark_property_dirty(id, "stock");
    CHECK(market.missed() == 0);
    stock.items[1].count = 8;
    market.game.driver().mark_property_dirty(id, "stock");
    CHECK(market.missed() == 1);
    CHECK(market.missed() == 1);  // and as long as it is so
    REQUIRE(LogSpy::messages().size() == 1);
    CHECK(LogSpy::messages()[0].find("changed, and it or an item of it was not marked dirty") !=
          std::string::npos);
}

}  // namespace replayout::test
