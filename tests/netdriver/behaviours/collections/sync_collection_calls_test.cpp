// SPDX-License-Identifier: MIT
//
// Calls of a server with operations of collections that find nobody, no room, or an owner who was
// away.
#include <replayout/behaviours/sync_collection.h>

#include <cstdint>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "support/worlds/bag_game.h"

namespace replayout::test {
namespace {

TEST_CASE("Collections: while nobody is connected no operation waits", "[behaviours]") {
    BagGame game;
    NetworkIdentity& chest = game.spawn(game.chest());
    Bag& bag = chest.component<Bag>(0);
    bag.numbers.add(1);
    chest.component<Pouch>(1).secrets.add("nobody's");
    CHECK(bag.numbers.waiting_count() == 0);
    CHECK(chest.component<Pouch>(1).secrets.waiting_count() == 0);
    game.join_settled();
    game.check_equal(chest);
}

TEST_CASE("Collections: operations that nobody is to hear are done with, without a word",
          "[behaviours]") {
    BagGame game;
    game.join_settled();
    NetworkIdentity& chest = game.spawn(game.chest(), &game.connection(0));
    game.settle();
    const LogSpy log(LogLevel::Warning);
    Pouch& pouch = chest.component<Pouch>(1);
    pouch.secrets.add("who was told of it is the owner no more");
    REQUIRE(pouch.secrets.waiting_count() == 1);
    REQUIRE(game.server().remove_client_authority(chest));
    game.tick(3);
    CHECK(pouch.secrets.waiting_count() == 0);
    game.show(0, chest, false);
    game.settle();
    Bag& bag = chest.component<Bag>(0);
    bag.numbers.add(5);
    game.tick(3);
    CHECK(bag.numbers.waiting_count() == 0);
    CHECK(LogSpy::messages().empty());
    game.show(0, chest, true);
    game.settle();
    game.check_equal(chest);
}

TEST_CASE("Collections: where there is room for two calls the operations of a third wait",
          "[behaviours]") {
    BagOptions options;
    options.limits.array_count_max = 4;
    options.config.calls_waiting_max = 2;
    BagGame game(options);
    NetworkIdentity& chest = game.join_with(game.chest());
    LinkSettings dead;
    dead.loss = 1;
    game.network().set_settings(PeerId{1}, BagGame::peer_of(0), dead);
    Bag& bag = chest.component<Bag>(0);
    for (std::int32_t i = 0; i < 6; ++i) {
        bag.numbers.add(i);
        bag.numbers.remove_at(0);
    }
    REQUIRE(bag.numbers.waiting_count() == 12);
    game.tick();
    CHECK(bag.numbers.waiting_count() == 4);
    bag.numbers.add(7);
    game.tick(5);
    CHECK(bag.numbers.waiting_count() == 5);
    game.network().heal();
    game.settle();
    game.tick(50);
    CHECK(bag.numbers.waiting_count() == 0);
    game.check_equal(chest);
}

TEST_CASE("Collections: an owner for whose calls there is no room is told all of it later",
          "[behaviours]") {
    BagOptions options;
    options.config.calls_waiting_max = 1;
    BagGame game(options);
    game.join_settled();
    NetworkIdentity& chest = game.spawn(game.chest());
    Pouch& pouch = chest.component<Pouch>(1);
    pouch.secrets.add("first");
    game.settle();
    LinkSettings dead;
    dead.loss = 1;
    game.network().set_settings(PeerId{1}, BagGame::peer_of(0), dead);
    chest.component<Bag>(0).numbers.add(1);
    game.tick();
    REQUIRE(game.server().assign_client_authority(chest, game.connection(0)));
    game.tick(5);
    pouch.secrets.add("second");
    game.tick(5);
    game.network().heal();
    game.settle();
    game.tick(50);
    CHECK(game.on_client(0, chest)->component<Pouch>(1).secrets.items() == pouch.secrets.items());
}

TEST_CASE("Collections: an owner from whom the object is hidden, however shortly, has all after it",
          "[behaviours]") {
    for (const std::uint32_t hidden_ticks : {0u, 1u, 2u, 3u, 6u}) {
        for (const std::uint32_t ticks_between : {0u, 1u, 2u, 3u}) {
            for (const std::int64_t latency_ms : {0, 50}) {
                CAPTURE(hidden_ticks, ticks_between, latency_ms);
                BagOptions options;
                options.link.latency_ms = static_cast<std::uint32_t>(latency_ms);
                BagGame game(options);
                game.join_settled();
                NetworkIdentity& chest = game.spawn(game.chest(), &game.connection(0));
                Pouch& pouch = chest.component<Pouch>(1);
                pouch.secrets.add("before");
                game.settle();
                pouch.secrets.add("shown");
                game.show(0, chest, false);
                game.tick(hidden_ticks);
                pouch.secrets.add("hidden");
                game.tick(ticks_between);
                game.show(0, chest, true);
                game.tick(ticks_between);
                pouch.secrets.add("shown again");
                game.settle();
                game.tick(20);
                CHECK(game.on_client(0, chest)->component<Pouch>(1).secrets.items() ==
                      pouch.secrets.items());
            }
        }
    }
}

TEST_CASE("Collections: an owner is not told again of an object that sleeps, but when it is back",
          "[behaviours]") {
    BagGame game;
    game.join_settled();
    NetworkIdentity& chest = game.spawn(game.chest(), &game.connection(0));
    Pouch& pouch = chest.component<Pouch>(1);
    pouch.secrets.add("before");
    game.settle();
    NetDriver& driver = game.server().driver();
    const std::uint64_t calls = driver.stats().calls_sent;
    driver.set_dormancy(game.id_of(chest), NetDormancy::DormantAll);
    game.tick(50);
    REQUIRE(driver.is_dormant_for(BagGame::peer_of(0), game.id_of(chest)));
    CHECK(driver.stats().calls_sent == calls);
    // Hidden in its sleep it is gone there.
    game.show(0, chest, false);
    game.tick(50);
    REQUIRE(game.on_client(0, chest) == nullptr);
    game.show(0, chest, true);
    driver.flush_dormancy(game.id_of(chest));
    game.tick(50);
    REQUIRE(game.on_client(0, chest) != nullptr);
    CHECK(game.on_client(0, chest)->component<Pouch>(1).secrets.items() == pouch.secrets.items());
}

}  // namespace
}  // namespace replayout::test
