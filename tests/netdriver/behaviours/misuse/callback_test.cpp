// SPDX-License-Identifier: MIT
//
// Functions that the game hands to the library may clear and replace themselves while they run.
#include <replayout/reflection/callback.h>

#include <memory>
#include <string>
#include <vector>

#include "support/checks/heap_count.h"
#include "support/worlds/arena_game.h"
#include "support/worlds/bag_game.h"

namespace replayout::test {
namespace {

/// What a function captured, and finds intact as long as it runs.
struct Kept {
    std::string text = std::string(100, 'k');
    std::shared_ptr<int> alive = std::make_shared<int>(1);

    [[nodiscard]] std::size_t size() const { return text.size(); }
};

TEST_CASE("Callback: one that clears or replaces itself lives until it returns", "[behaviours]") {
    Callback<int(int)> callback;
    CHECK_FALSE(callback);
    const Kept kept;
    std::vector<int> told;
    SECTION("it clears itself") {
        callback = [&, kept](int value) {
            callback = nullptr;
            told.push_back(value);
            return static_cast<int>(kept.size());
        };
        CHECK(callback(7) == 100);
        CHECK_FALSE(callback);
    }
    SECTION("it replaces itself") {
        callback = [&, kept](int value) {
            callback = [](int) { return 2; };
            told.push_back(value);
            return static_cast<int>(kept.size());
        };
        CHECK(callback(7) == 100);
        CHECK(callback(7) == 2);
    }
    SECTION("it calls itself, and the inner one clears it") {
        callback = [&, kept](int value) {
            told.push_back(value);
            if (value == 0) {
                callback = nullptr;
                return static_cast<int>(kept.size());
            }
            return callback(value - 1) + static_cast<int>(kept.size());
        };
        CHECK(callback(2) == 300);
        CHECK(told == std::vector<int>{2, 1, 0});
    }
    callback = nullptr;
    CHECK(kept.alive.use_count() == 1);
}

TEST_CASE("Callback: copies share the function, and calling allocates nothing", "[behaviours]") {
    int sum = 0;
    Callback<void(int)> first = [&sum, kept = Kept()](int value) { sum += value; };
    const Callback<void(int)> second = first;
    first = [second](int value) { second(value * 10); };
    const std::uint64_t before = heap_allocation_count();
    first(1);
    second(2);
    CHECK(heap_allocation_count() == before);
    CHECK(sum == 12);
    CHECK_FALSE(Callback<void(int)>(std::function<void(int)>()));
    CHECK_FALSE(Callback<void(int)>(nullptr));
}

/// Each callback of the bag clears itself, and then uses what it captured.
struct Once {
    explicit Once(Bag& bag) {
        const auto once = [this](auto& callback, const char* name) {
            callback = [this, &callback, name, kept = Kept()](const auto&...) {
                callback = nullptr;
                told.push_back(name + std::to_string(kept.size()));
            };
        };
        once(bag.numbers.on_add, "add");
        once(bag.numbers.on_insert, "insert");
        once(bag.numbers.on_set, "set");
        once(bag.numbers.on_remove, "remove");
        once(bag.numbers.on_clear, "clear");
        once(bag.numbers.on_change, "change");
        once(bag.prices.on_add, "price");
        once(bag.prices.on_set, "other price");
        once(bag.prices.on_remove, "no price");
        once(bag.prices.on_clear, "no prices");
        once(bag.prices.on_change, "prices");
        once(bag.keys.on_add, "key");
        once(bag.keys.on_remove, "no key");
        once(bag.keys.on_clear, "no keys");
        once(bag.keys.on_change, "keys");
    }
    std::vector<std::string> told;
};

/// All that there is to be told, twice; each kind of change in a tick of its own.
void change_all(BagGame& game, Bag& bag) {
    for (int i = 0; i < 2; ++i) {
        CHECK(bag.numbers.add(1));
        game.tick();
        CHECK(bag.numbers.insert(0, 2));
        game.tick();
        CHECK(bag.numbers.set(0, 3 + i));
        game.tick();
        CHECK(bag.numbers.remove_at(0));
        game.tick();
        CHECK(bag.numbers.clear());
        CHECK(bag.prices.add("rope", 1));
        game.tick();
        CHECK(bag.prices.set("rope", 2 + i));
        game.tick();
        CHECK(bag.prices.set("tea", 2));
        game.tick();
        CHECK(bag.prices.remove("rope"));
        game.tick();
        CHECK(bag.prices.clear());
        CHECK(bag.keys.add(5));
        game.tick();
        CHECK(bag.keys.add(6));
        game.tick();
        CHECK(bag.keys.remove(5));
        game.tick();
        CHECK(bag.keys.clear());
    }
}

TEST_CASE("Callback: each one of a collection may take itself away while it runs", "[behaviours]") {
    BagGame game;
    const bool is_host = GENERATE(false, true);
    game.join();
    if (is_host) {
        game.server().start_host();
    }
    NetworkIdentity& chest = game.spawn(game.chest());
    game.settle();
    Bag& bag = chest.component<Bag>(0);
    Once once(is_host ? bag : game.bag_on(0, chest));
    change_all(game, bag);
    game.settle();
    CHECK(once.told.size() == 15);
    game.check_equal(chest);
}

TEST_CASE("Callback: one of a host may clear its collection, and the key it received stays valid",
          "[behaviours]") {
    BagGame game;
    game.server().start_host();
    NetworkIdentity& chest = game.spawn(game.chest());
    game.settle();
    Bag& bag = chest.component<Bag>(0);
    const std::string rope(60, 'r');
    REQUIRE(bag.prices.add(rope, 1));
    std::string told;
    bag.prices.on_set = [&](const std::string&, const std::int32_t&) { bag.prices.clear(); };
    bag.prices.on_change = [&](SyncDictionaryOperation operation, const std::string& key,
                               const std::int32_t&) {
        told += operation == SyncDictionaryOperation::Set ? key : "";
    };
    CHECK(bag.prices.set(bag.prices.begin()->key, 2));
    CHECK(told == rope);
    CHECK(bag.prices.empty());
}

TEST_CASE("Callback: a spawn handler may unregister or replace itself while it runs",
          "[behaviours]") {
    ArenaGame game;
    game.join_settled();
    NetworkClient& client = game.client(0);
    const NetworkPrefab& pawn = game.types().pawn();
    std::vector<std::string> told;
    const auto make = [&](const char* name) {
        NetworkSpawnHandler handler;
        handler.spawn = [&, name, kept = Kept()](NetworkClient& by, const SpawnInfo&) {
            by.unregister_spawn_handler(pawn.asset_id());
            told.push_back(name + std::to_string(kept.size()));
            return &by.instantiate(pawn);
        };
        handler.unspawn = [&, name, kept = Kept()](NetworkClient& by, NetworkIdentity& object,
                                                   ChannelCloseReason) {
            by.unregister_spawn_handler(pawn.asset_id());
            told.push_back(std::string("no ") + name + std::to_string(kept.size()));
            by.destroy(object);
        };
        return handler;
    };
    REQUIRE(client.register_spawn_handler(pawn.asset_id(), make("a")));
    NetworkIdentity& first = game.spawn(pawn);
    NetworkIdentity& second = game.spawn(pawn);  // by no handler
    game.settle();
    CHECK(game.on_client(0, first) != nullptr);
    CHECK(game.on_client(0, second) != nullptr);
    REQUIRE(client.register_spawn_handler(pawn.asset_id(), make("b")));
    game.server().destroy(first);
    game.server().destroy(second);
    game.settle();
    CHECK(told == std::vector<std::string>{"a100", "no b100"});
}

}  // namespace
}  // namespace replayout::test
