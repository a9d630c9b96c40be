// SPDX-License-Identifier: MIT
//
// Operations of collections and hooks that wait for the initial batch: their order, and how many.
#include <replayout/behaviours/sync_collection.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/worlds/arena_game.h"
#include "support/worlds/bag_game.h"

namespace replayout::test {
namespace {

using Told = std::vector<std::string>;

/// A client whose initial batch takes a while, and a chest that changes meanwhile.
struct SlowJoin {
    explicit SlowJoin(BagOptions options = {}) : game(slow(options)) {
        game.on_made = [](NetworkIdentity& made) { made.component<Bag>(0).listen(); };
        chest = &game.spawn(game.chest());
        Bag& large = game.spawn(game.chest()).component<Bag>(0);
        for (std::int32_t i = 0; i < 15; ++i) {
            large.things.add({std::string(900, 'x'), i});
            game.spawn(game.chest()).component<Bag>(0).things.add({std::string(900, 'x'), i});
            game.spawn(game.chest()).component<Bag>(2).things.add({std::string(900, 'y'), i});
        }
    }

    [[nodiscard]] static BagOptions slow(BagOptions options) {
        options.link.latency_ms = 40;
        options.config.bytes_per_second_max = 30'000;
        return options;
    }
    [[nodiscard]] Bag& bag() { return chest->component<Bag>(0); }

    BagGame game;
    NetworkIdentity* chest = nullptr;
};

TEST_CASE("Collections: each callback that waited finds the collection as its operation left it",
          "[behaviours]") {
    SlowJoin slow;
    slow.bag().numbers.add(1);
    slow.game.join();
    for (std::int32_t i = 2; i < 90; ++i) {
        slow.game.tick();
        slow.bag().numbers.add(i);
    }
    slow.game.settle();
    slow.game.check_equal(*slow.chest);
    const Told& told = slow.game.bag_on(0, *slow.chest).told;
    const auto start = std::find(told.begin(), told.end(), "start client");
    REQUIRE(start != told.end());
    REQUIRE(start - told.begin() > 5);  // so many waited
    std::int32_t number = 90 - static_cast<std::int32_t>(told.size() - 1);
    for (const std::string& text : told) {
        if (text != "start client") {
            CHECK(text == "add " + std::to_string(number - 1) + " " + std::to_string(number) +
                              " of " + std::to_string(number));
            ++number;
        }
    }
}

TEST_CASE("Collections: what waited is done in the server's order, over all of an object",
          "[behaviours]") {
    SlowJoin slow;
    slow.game.join();
    for (std::uint32_t i = 1; i < 80; ++i) {
        slow.game.tick();
        if (i % 2 == 0) {
            slow.bag().numbers.add(static_cast<std::int32_t>(i));
        } else {
            slow.bag().keys.add(i);
        }
    }
    slow.game.settle();
    slow.game.check_equal(*slow.chest);
    const Told& told = slow.game.bag_on(0, *slow.chest).told;
    std::vector<std::uint32_t> numbers;
    for (const std::string& text : told) {
        if (text != "start client") {
            // "add INDEX NUMBER of SIZE", or "add KEY"
            const std::size_t second = text.find(' ', 4);
            const std::size_t begin = second == std::string::npos ? 4 : second;
            numbers.push_back(static_cast<std::uint32_t>(std::stoul(text.substr(begin))));
        }
    }
    REQUIRE(numbers.size() > 40);
    CHECK(told.front() != "start client");
    CHECK(std::is_sorted(numbers.begin(), numbers.end()));
    CHECK(numbers.back() == 79);
}

TEST_CASE("Collections: no more operations wait than a collection has items, and none is lost",
          "[behaviours]") {
    BagOptions options;
    options.limits.array_count_max = 32;
    SlowJoin slow(options);
    slow.game.join();
    for (std::int32_t i = 0; i < 90; ++i) {
        slow.game.tick();
        if (slow.bag().numbers.size() > 20) {
            slow.bag().numbers.remove_at(0);
        }
        slow.bag().numbers.add(i);
        slow.bag().numbers.add(1'000 + i);
    }
    slow.game.settle();
    slow.game.check_equal(*slow.chest);
    const Told& told = slow.game.bag_on(0, *slow.chest).told;
    const auto start = std::find(told.begin(), told.end(), "start client");
    REQUIRE(start != told.end());
    CHECK(start - told.begin() <= 32);
    CHECK(slow.game.client(0).counters().collections_refused == 0);
}

TEST_CASE("Collections: of an object that was started callbacks come early rather than never",
          "[behaviours]") {
    BagOptions options;
    options.limits.array_count_max = 32;
    SlowJoin slow(options);
    slow.game.join();
    slow.game.settle();
    Bag& shown = slow.game.bag_on(0, *slow.chest);
    shown.told.clear();
    // It is ready again before anything was hidden: the object stays, and its batch is anew.
    slow.game.server().set_client_not_ready(slow.game.connection(0));
    slow.game.tick();
    slow.game.server().set_client_ready(slow.game.connection(0));
    std::size_t count = 0;
    for (std::int32_t i = 0; i < 120; ++i) {
        if (slow.bag().numbers.size() > 10) {
            slow.bag().numbers.remove_at(0);
            ++count;
        }
        slow.bag().numbers.add(i);
        ++count;
        if (i % 10 == 0) {
            slow.game.tick();
        }
    }
    slow.game.settle();
    slow.game.check_equal(*slow.chest);
    CHECK(shown.told.size() == count);
}

TEST_CASE("Hooks: of those that waited one may end the connection, and is the last of its object",
          "[behaviours]") {
    ArenaGame game;
    NetworkIdentity& twins = game.join_with(game.types().twins());
    NetworkIdentity* shown = game.on_client(0, twins);
    REQUIRE(shown != nullptr);
    std::uint32_t hook_count = 0;
    for (const std::size_t component : {0u, 1u}) {
        shown->component<Fighter>(component).during_hook = [&](Fighter&) {
            ++hook_count;
            game.client(0).disconnect();
        };
    }
    game.server().set_client_not_ready(game.connection(0));
    game.tick(5);
    for (const std::size_t component : {0u, 1u}) {
        twins.component<Fighter>(component).health = 7;
    }
    REQUIRE(game.client(0).ready());
    game.tick(5);
    CHECK(hook_count == 1);
    CHECK(game.on_client(0, twins) == nullptr);
}

TEST_CASE("Hooks: those of UNet's style do not run where an object is shown again",
          "[behaviours]") {
    ArenaOptions options;
    options.fighter.hook_style = HookStyle::UNet;
    ArenaGame game(options);
    NetworkIdentity& pawn = game.join_with(game.types().pawn());
    game.fighter_on(0, pawn).told.clear();
    game.server().set_client_not_ready(game.connection(0));
    game.tick(5);
    pawn.component<Fighter>(0).health = 7;
    REQUIRE(game.client(0).ready());
    game.settle();
    CHECK(game.fighter_on(0, pawn).health == 7);
    CHECK(game.fighter_on(0, pawn).told.empty());
}

TEST_CASE("Collections: of callbacks that waited one may end the connection, and is the last",
          "[behaviours]") {
    SlowJoin slow;
    std::uint32_t callback_count = 0;
    slow.game.on_made = [&](NetworkIdentity& made) {
        for (const std::size_t component : {0u, 2u}) {
            made.component<Bag>(component).numbers.on_change = [&](SyncListOperation, std::uint32_t,
                                                                   std::int32_t) {
                ++callback_count;
                slow.game.leave(0);
            };
        }
    };
    slow.game.join();
    for (std::int32_t i = 0; i < 90 && slow.game.is_there(0); ++i) {
        slow.game.tick();
        slow.bag().numbers.add(i);
        slow.chest->component<Bag>(2).numbers.add(i);
    }
    slow.game.tick(200);
    CHECK(callback_count == 1);
    CHECK_FALSE(slow.game.is_there(0));
}

TEST_CASE("Hooks: of one variable one waits, with what it was at first and is in the end",
          "[behaviours]") {
    ArenaOptions options;
    options.link.latency_ms = 40;
    options.config.bytes_per_second_max = 20'000;
    ArenaGame game(options);
    NetworkIdentity& pawn = game.spawn(game.types().pawn());
    for (int i = 0; i < 40; ++i) {
        game.spawn(game.types().pawn()).component<Fighter>(0).name = std::string(900, 'x');
    }
    Fighter& fighter = pawn.component<Fighter>(0);
    game.join();
    std::vector<std::string> told;
    for (std::int32_t i = 1; i < 100; ++i) {
        game.tick();
        fighter.health = 100 + i;
        fighter.name = std::to_string(i);
        if (game.on_client(0, pawn) != nullptr && !game.client(0).is_spawn_finished()) {
            CHECK(game.fighter_on(0, pawn).told.empty());
        }
    }
    game.settle();
    const Told& all = game.fighter_on(0, pawn).told;
    const auto start = std::find(all.begin(), all.end(), "start client");
    REQUIRE(start - all.begin() == 2);
    CHECK(all[0].starts_with("health 100 -> "));  // in order of declaration
    CHECK(all[1].starts_with("name "));
    CHECK(game.fighter_on(0, pawn).health == 199);
}

TEST_CASE("Collections: as many operations wait as a collection has items, and not one more",
          "[behaviours]") {
    for (const std::int32_t count : {31, 32}) {  // the call that brings them counts as one
        CAPTURE(count);
        BagOptions options;
        options.limits.array_count_max = 32;
        SlowJoin slow(options);
        slow.game.join();
        for (int i = 0; i < 100 && slow.game.on_client(0, *slow.chest) == nullptr; ++i) {
            slow.game.tick();
        }
        REQUIRE(slow.game.on_client(0, *slow.chest) != nullptr);
        REQUIRE_FALSE(slow.game.client(0).is_spawn_finished());
        for (std::int32_t i = 0; i < count; ++i) {
            slow.bag().numbers.add(i);
        }
        slow.game.settle();
        slow.game.check_equal(*slow.chest);
        // What did not wait was done before anybody was to be told of it.
        CHECK(slow.game.bag_on(0, *slow.chest).told.size() == (count == 31 ? 32 : 1));
    }
}

}  // namespace
}  // namespace replayout::test
