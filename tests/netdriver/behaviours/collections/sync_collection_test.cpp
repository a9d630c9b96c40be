// SPDX-License-Identifier: MIT
//
// SyncList, SyncDictionary and SyncSet: U35 to U43, and what does not fit.
#include <replayout/behaviours/sync_collection.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "support/worlds/bag_game.h"

namespace replayout::test {
namespace {

using Told = std::vector<std::string>;
using Numbers = std::vector<std::int32_t>;
using Keys = std::vector<std::uint32_t>;

/// The first client's bag, which notes what it is told from now on.
[[nodiscard]] Bag& listening_bag(BagGame& game, const NetworkIdentity& chest) {
    Bag& shown = game.bag_on(0, chest);
    shown.listen();
    shown.told.clear();
    return shown;
}

TEST_CASE("U35 SyncList: all of it, then what changes, give the same list", "[behaviours]") {
    BagGame game;
    game.join();
    NetworkIdentity& chest = game.server().instantiate(game.chest());
    Bag& bag = chest.component<Bag>(0);
    bag.numbers.add(1);
    bag.numbers.add(2);
    REQUIRE(game.server().spawn(chest));
    bag.numbers.add(3);
    game.settle();
    CHECK(game.bag_on(0, chest).numbers.items() == Numbers{1, 2, 3});

    bag.numbers.insert(0, 7);
    bag.numbers.add(8);
    bag.things.add({"rope", 2});
    game.settle();
    CHECK(game.bag_on(0, chest).numbers.items() == Numbers{7, 1, 2, 3, 8});
    CHECK(game.bag_on(0, chest).things.items() == std::vector<Thing>{{"rope", 2}});

    bag.numbers.set(1, 4);
    bag.numbers.remove_at(0);
    CHECK(bag.numbers.remove(3));
    CHECK_FALSE(bag.numbers.remove(99));
    bag.things.set(0, {"rope", 3});
    game.settle();
    CHECK(game.bag_on(0, chest).numbers.items() == Numbers{4, 2, 8});
    game.check_equal(chest);

    bag.numbers.clear();
    bag.numbers.add(5);
    game.settle();
    CHECK(game.bag_on(0, chest).numbers.items() == Numbers{5});
    game.join_settled();
    game.check_equal(chest);
}

TEST_CASE("U36 SyncList: each operation is told, with its index and the old item", "[behaviours]") {
    BagGame game;
    NetworkIdentity& chest = game.join_with(game.chest());
    Bag& shown = listening_bag(game, chest);
    Told details;
    shown.numbers.on_add = [&](std::uint32_t index) {
        details.push_back("add " + std::to_string(index));
    };
    shown.numbers.on_insert = [&](std::uint32_t index) {
        details.push_back("insert " + std::to_string(index));
    };
    shown.numbers.on_set = [&](std::uint32_t index, std::int32_t previous) {
        details.push_back("set " + std::to_string(index) + " was " + std::to_string(previous));
    };
    shown.numbers.on_remove = [&](std::uint32_t index, std::int32_t removed) {
        details.push_back("remove " + std::to_string(index) + " was " + std::to_string(removed));
    };
    shown.numbers.on_clear = [&] {
        details.push_back("clear " + std::to_string(shown.numbers.size()));
    };

    SyncList<std::int32_t>& numbers = chest.component<Bag>(0).numbers;
    numbers.add(1);
    numbers.add(2);
    numbers.insert(1, 9);
    numbers.set(2, 3);
    numbers.remove_at(0);
    game.settle();
    CHECK(shown.told == Told{"add 0 1 of 1", "add 1 2 of 2", "insert 1 9 of 3", "set 2 2 of 3",
                             "remove 0 1 of 2"});
    numbers.clear();
    game.settle();
    CHECK(shown.told.back() == "clear 0 0 of 2");
    CHECK(shown.numbers.empty());
    CHECK(details ==
          Told{"add 0", "add 1", "insert 1", "set 2 was 2", "remove 0 was 1", "clear 2"});
    CHECK(chest.component<Bag>(0).told.empty());
}

TEST_CASE("U37 SyncList: of a struct the old item is the old one", "[behaviours]") {
    BagGame game;
    game.join();
    NetworkIdentity& chest = game.spawn(game.chest());
    chest.component<Bag>(0).things.add({"rope", 1});
    game.settle();
    Bag& shown = game.bag_on(0, chest);
    std::vector<Thing> previous;
    shown.things.on_set = [&](std::uint32_t index, const Thing& item) {
        previous.push_back(item);
        previous.push_back(shown.things[index]);
    };
    chest.component<Bag>(0).things.set(0, {"rope", 2});
    game.settle();
    CHECK(previous == std::vector<Thing>{{"rope", 1}, {"rope", 2}});
}

TEST_CASE("U38 SyncDictionary: set adds or sets, and a default value is a value", "[behaviours]") {
    BagGame game;
    NetworkIdentity& chest = game.join_with(game.chest());
    Bag& shown = listening_bag(game, chest);
    SyncDictionary<std::string, std::int32_t>& prices = chest.component<Bag>(0).prices;
    CHECK(prices.set("rope", 5));
    CHECK(prices.set("axe", 0));
    game.settle();
    REQUIRE(shown.prices.find("rope") != nullptr);
    CHECK(*shown.prices.find("rope") == 5);
    REQUIRE(shown.prices.find("axe") != nullptr);
    CHECK(*shown.prices.find("axe") == 0);

    CHECK(prices.set("rope", 6));
    CHECK_FALSE(prices.add("rope", 7));
    CHECK(prices.set("rope", 6));
    game.settle();
    CHECK(*shown.prices.find("rope") == 6);
    CHECK(prices.remove("rope"));
    CHECK_FALSE(prices.remove("rope"));
    game.settle();
    CHECK_FALSE(shown.prices.contains("rope"));
    CHECK(prices.clear());
    game.settle();
    CHECK(shown.prices.empty());
    CHECK(shown.told == Told{"add rope 5", "add axe 0", "set rope 5", "remove rope 6", "clear  0"});
}

TEST_CASE("U38 SyncDictionary: a key without a value is there", "[behaviours]") {
    BagGame game;
    NetworkIdentity& chest = game.join_with(game.chest());
    auto& wishes = chest.component<Bag>(0).wishes;
    CHECK(wishes.set(1, std::nullopt));
    CHECK(wishes.set(2, 5));
    game.settle();
    auto& shown = game.bag_on(0, chest).wishes;
    REQUIRE(shown.contains(1));
    CHECK_FALSE(shown.find(1)->has_value());
    CHECK(wishes.set(1, 0));
    CHECK(wishes.set(2, std::nullopt));
    game.settle();
    REQUIRE(shown.contains(2));
    CHECK(*shown.find(1) == 0);
    CHECK_FALSE(shown.find(2)->has_value());
    game.join_settled();
    game.check_equal(chest);
}

TEST_CASE("U39 SyncSet: the algebra of sets takes the operations that it needs", "[behaviours]") {
    BagGame game;
    NetworkIdentity& chest = game.join_with(game.chest());
    Bag& shown = listening_bag(game, chest);
    SyncSet<std::uint32_t>& keys = chest.component<Bag>(0).keys;
    CHECK(keys.union_with({5, 3, 5}));
    CHECK_FALSE(keys.add(3));
    game.settle();
    CHECK(shown.keys.items() == Keys{3, 5});
    CHECK(shown.told == Told{"add 5", "add 3"});

    keys.symmetric_except_with({3, 4});
    keys.except_with({9});
    game.settle();
    CHECK(shown.keys.items() == Keys{4, 5});
    keys.intersect_with({5, 6});
    game.settle();
    CHECK(shown.keys.items() == Keys{5});
    shown.told.clear();
    keys.symmetric_except_with(keys.items());
    game.settle();
    CHECK(shown.keys.empty());
    CHECK(shown.told == Told{"remove 5"});
    keys.union_with(keys.items());
    keys.clear();
    game.settle();
    CHECK(shown.told == Told{"remove 5"});
}

TEST_CASE("U40 Collections: what a client writes is refused, and nothing changed", "[behaviours]") {
    BagGame game;
    game.join();
    NetworkIdentity& chest = game.spawn(game.chest(), nullptr);
    Bag& bag = chest.component<Bag>(0);
    bag.numbers.add(1);
    bag.prices.set("rope", 1);
    bag.keys.add(1);
    game.settle();
    REQUIRE(game.server().assign_client_authority(chest, game.connection(0)));
    game.settle();
    Bag& shown = game.bag_on(0, chest);
    CHECK(shown.numbers.is_read_only());
    CHECK_FALSE(shown.numbers.add(2));
    CHECK_FALSE(shown.numbers.insert(0, 2));
    CHECK_FALSE(shown.numbers.set(0, 2));
    CHECK_FALSE(shown.numbers.remove_at(0));
    CHECK_FALSE(shown.numbers.clear());
    CHECK_FALSE(shown.prices.set("rope", 2));
    CHECK_FALSE(shown.prices.set("axe", 2));
    CHECK_FALSE(shown.prices.remove("rope"));
    CHECK_FALSE(shown.prices.clear());
    CHECK_FALSE(shown.keys.add(2));
    CHECK_FALSE(shown.keys.remove(1));
    CHECK_FALSE(shown.keys.union_with({2}));
    CHECK_FALSE(shown.keys.clear());
    game.check_equal(chest);
    bag.numbers.add(2);
    game.settle();
    game.check_equal(chest);
    CHECK_FALSE(bag.numbers.is_read_only());
}

TEST_CASE("U41 Collections: an object that is spawned again begins with what it is then",
          "[behaviours]") {
    BagGame game;
    game.join();
    NetworkIdentity& chest = game.spawn(game.chest());
    Bag& bag = chest.component<Bag>(0);
    game.settle();
    bag.numbers.add(1);
    bag.prices.set("rope", 1);
    game.server().unspawn(chest);
    CHECK(bag.numbers.waiting_count() == 0);
    CHECK(bag.sync_collection_dirty_bits() == 0);
    game.settle();
    bag.numbers.add(2);
    CHECK(bag.sync_collection_dirty_bits() == 0);
    REQUIRE(game.server().spawn(chest));
    bag.numbers.add(3);
    game.settle();
    CHECK(game.bag_on(0, chest).numbers.items() == Numbers{1, 2, 3});
    bag.numbers.remove_at(0);
    game.settle();
    game.check_equal(chest);
}

TEST_CASE("U41 Collections: a client's object out of a pool begins as the prefab", "[behaviours]") {
    BagGame game;
    game.join();
    NetworkClient& client = game.client(0);
    NetworkIdentity& pooled = client.instantiate(game.chest());
    NetworkSpawnHandler pool;
    pool.spawn = [&](NetworkClient&, const SpawnInfo&) { return &pooled; };
    pool.unspawn = [](NetworkClient&, NetworkIdentity&, ChannelCloseReason) {};
    client.register_spawn_handler(game.chest().asset_id(), pool);
    NetworkIdentity& first = game.spawn(game.chest());
    first.component<Bag>(0).numbers.add(1);
    game.settle();
    first.component<Bag>(0).keys.add(1);
    game.settle();
    REQUIRE(game.on_client(0, first) == &pooled);
    game.server().destroy(first);
    game.settle();
    CHECK(pooled.component<Bag>(0).numbers.add(77));  // nobody's, so it may
    NetworkIdentity& second = game.spawn(game.chest());
    game.settle();
    REQUIRE(game.on_client(0, second) == &pooled);
    CHECK(pooled.component<Bag>(0).numbers.empty());
    second.component<Bag>(0).numbers.add(5);
    game.settle();
    game.check_equal(second);
}

TEST_CASE("U42 Collections: callbacks wait until the object is started", "[behaviours]") {
    BagOptions options;
    options.link.latency_ms = 40;
    options.config.bytes_per_second_max = 60'000;
    BagGame game(options);
    game.on_made = [](NetworkIdentity& made) { made.component<Bag>(0).listen(); };
    NetworkIdentity& chest = game.spawn(game.chest());
    // The initial batch takes a while.
    Bag& large = game.spawn(game.chest()).component<Bag>(0);
    for (std::int32_t i = 0; i < 150; ++i) {
        large.things.add({std::string(300, 'x'), i});
    }
    Bag& bag = chest.component<Bag>(0);
    bag.numbers.add(1);
    game.join();
    // One operation in each tick, while the client comes: each is in what it begins with, or told.
    for (std::int32_t i = 2; i < 90; ++i) {
        game.tick();
        bag.numbers.add(i);
    }
    game.settle();
    game.check_equal(chest);
    const Told& told = game.bag_on(0, chest).told;
    REQUIRE(told.size() > 2);
    const auto start = std::find(told.begin(), told.end(), "start client");
    REQUIRE(start != told.end());
    CHECK(told.back() == "add 88 89 of 89");
    // None is told twice, and none is left out from the first on.
    const std::size_t count = told.size() - 1;
    std::int32_t number = 90 - static_cast<std::int32_t>(count);
    for (const std::string& text : told) {
        if (text != "start client") {
            CHECK(text.starts_with("add " + std::to_string(number - 1) + " " +
                                   std::to_string(number)));
            ++number;
        }
    }
    CHECK(start != told.begin());
}

TEST_CASE("U43 Collections: many large items arrive, all at first and one by one", "[behaviours]") {
    BagOptions options;
    options.config.bunch_bytes_max = 256 * 1024;
    BagGame game(options);
    game.join_settled();
    NetworkIdentity& chest = game.spawn(game.chest());
    Bag& bag = chest.component<Bag>(0);
    game.settle();
    for (std::int32_t i = 0; i < 200; ++i) {
        REQUIRE(bag.things.add({std::string(1'000, static_cast<char>('a' + i % 26)), i}));
    }
    game.settle();
    game.check_equal(chest);
    for (std::uint32_t i = 0; i < 2'048; ++i) {
        REQUIRE(bag.keys.add(i * 7));
    }
    const LogSpy log;
    CHECK_FALSE(bag.keys.add(1));
    game.join_settled();
    game.check_equal(chest);
    CHECK(LogSpy::messages().empty());
}

TEST_CASE("Collections: an item that no call carries arrives as a default one", "[behaviours]") {
    BagOptions options;
    options.config.call_bytes_max = 2'000;
    options.limits.string_bytes_max = 5'000;
    BagGame game(options);
    game.join();
    NetworkIdentity& chest = game.spawn(game.chest());
    Bag& bag = chest.component<Bag>(0);
    game.settle();
    const LogSpy log;
    bag.things.add({"rope", 1});
    bag.things.add({std::string(5'000, 'x'), 2});  // beyond call_bytes_max
    bag.things.add({"axe", 3});
    bag.prices.set(std::string(5'000, 'y'), 2);
    bag.prices.set("axe", 4);
    game.settle();
    CHECK(game.bag_on(0, chest).things.items() == std::vector<Thing>{{"rope", 1}, {}, {"axe", 3}});
    CHECK(game.bag_on(0, chest).prices.size() == 2);
    CHECK(*game.bag_on(0, chest).prices.find("axe") == 4);
    CHECK(LogSpy::messages().size() >= 2);
    bag.things.remove_at(1);
    game.settle();
    CHECK(game.bag_on(0, chest).things.items() == bag.things.items());
}

TEST_CASE("Collections: of a behaviour that is in no object they are what any container is",
          "[behaviours]") {
    Bag bag;
    bag.listen();
    CHECK_FALSE(bag.numbers.is_read_only());
    CHECK(bag.numbers.add(1));
    CHECK(bag.prices.set("rope", 2));
    CHECK(bag.keys.add(3));
    CHECK(bag.numbers.items() == Numbers{1});
    CHECK(bag.numbers.waiting_count() == 0);
    CHECK(bag.told.empty());
}

TEST_CASE("Collections: a server that does not play is told nothing of what it writes",
          "[behaviours]") {
    BagGame game;
    NetworkIdentity& chest = game.join_with(game.chest());
    Bag& bag = chest.component<Bag>(0);
    bag.listen();
    bag.numbers.add(1);
    bag.prices.set("rope", 2);
    bag.keys.add(3);
    CHECK(bag.told.empty());
    (void)game.server().start_host();
    game.settle();
    bag.told.clear();
    bag.numbers.add(2);
    CHECK(bag.told == Told{"add 1 2 of 2"});
}

}  // namespace
}  // namespace replayout::test
