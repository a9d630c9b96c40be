// SPDX-License-Identifier: MIT
//
// Limits that are known at the write are checked there, and the caller learns it. So what an end
// holds can be sent, and two clients never differ for good.
#include <replayout/behaviours/sync_dictionary.h>
#include <replayout/behaviours/sync_list.h>
#include <replayout/behaviours/sync_set.h>

#include <limits>
#include <string>
#include <vector>

#include "collection_parts.h"
#include "support/checks/choices.h"
#include "support/checks/contains.h"
#include "support/checks/log_spy.h"
#include "support/checks/run_seed.h"
#include "support/worlds/arena_game.h"
#include "support/worlds/bag_game.h"

namespace replayout::test {
namespace {

constexpr const char* broken_text = "caf\xE9";

/// What is refused is in the log once, by class, property and limit.
void check_line(const std::string& name, const std::string& limit) {
    REQUIRE_FALSE(LogSpy::messages().empty());
    INFO(LogSpy::messages().back());
    CHECK(contains(LogSpy::messages().back(), name));
    CHECK(contains(LogSpy::messages().back(), limit));
    LogSpy::messages().clear();
}

TEST_CASE("Collections: an item that cannot be sent is refused where it is written",
          "[behaviours]") {
    BagOptions options;
    options.limits.string_bytes_max = 100;
    BagGame game(options);
    NetworkIdentity& chest = game.join_with(game.chest());
    Bag& bag = chest.component<Bag>(0);
    REQUIRE(bag.things.add({"rope", 1}));
    REQUIRE(bag.prices.add("rope", 1));
    LogSpy spy(LogLevel::Warning);
    const std::string long_text(101, 'x');
    for (const std::string& text : {long_text, std::string(broken_text)}) {
        const std::string limit = text == long_text ? "string_bytes_max (100)" : "not UTF-8";
        CHECK_FALSE(bag.things.add({text, 2}));
        check_line("\"Bag.things\"", limit);
        CHECK_FALSE(bag.things.insert(0, {text, 2}));
        CHECK_FALSE(bag.things.set(0, {text, 2}));
        CHECK_FALSE(bag.prices.add(text, 2));
        check_line("\"Bag.prices\"", limit);
        CHECK_FALSE(bag.prices.set(text, 2));
    }
    CHECK(bag.things.size() == 1);
    CHECK(bag.prices.size() == 1);
    CHECK(bag.things.add({std::string(100, 'x'), 3}));
    game.join_settled();
    game.check_equal(chest);
}

TEST_CASE("SyncVar: a value that cannot be sent is refused, and the variable stays as it is",
          "[behaviours]") {
    ArenaGame game;
    NetworkIdentity& pawn = game.join_with(game.types().pawn());
    Fighter& fighter = pawn.component<Fighter>(0);
    CHECK(fighter.name.set("ann"));
    LogSpy spy;
    CHECK_FALSE(fighter.name.set(std::string(1'025, 'x')));
    check_line("\"Fighter.name\"", "string_bytes_max (1024)");
    CHECK_FALSE(fighter.name.modify([](std::string& name) { name = broken_text; }));
    check_line("\"Fighter.name\"", "not UTF-8");
    fighter.name = std::string(broken_text);
    CHECK(fighter.name.get() == "ann");
    CHECK(fighter.name.set(std::string(1'024, 'x')));
    game.join_settled();
    CHECK(game.fighter_on(0, pawn).name.get() == fighter.name.get());
    CHECK(game.fighter_on(1, pawn).name.get() == fighter.name.get());
}

class Scales : public NetworkBehaviour {
  public:
    SyncSet<float> weights;
    SyncDictionary<double, std::int32_t> prices;
    SyncVar<std::vector<std::string>> names;
};

void add_scales(NetworkTypes& types) {
    const auto scales = BehaviourBuilder<Scales>(types, "Scales")
                            .sync_set<&Scales::weights>()
                            .sync_dictionary<&Scales::prices>()
                            .sync_var<&Scales::names>()
                            .build();
    REQUIRE(scales.has_value());
    PrefabOptions options;
    options.limits.array_count_max = 8;
    REQUIRE(types.add_prefab("Scales", {{*scales}}, options).has_value());
}

TEST_CASE("Collections: NaN is no item of a set and no key", "[behaviours]") {
    ArenaGame game({}, add_scales);
    NetworkIdentity& object = game.join_with(game.types().find("Scales"));
    auto& scales = object.component<Scales>(0);
    LogSpy spy(LogLevel::Warning);
    CHECK(scales.weights.add(1.5f));
    CHECK_FALSE(scales.weights.add(std::numeric_limits<float>::quiet_NaN()));
    check_line("\"Scales.weights\"", "NaN");
    CHECK_FALSE(scales.prices.set(std::numeric_limits<double>::quiet_NaN(), 1));
    check_line("\"Scales.prices\"", "NaN");
    CHECK_FALSE(scales.weights.union_with({2.5f, std::numeric_limits<float>::quiet_NaN()}));
    CHECK(scales.weights.items() == std::vector<float>{1.5f, 2.5f});
    LogSpy::messages().clear();
    CHECK_FALSE(scales.names.set(std::vector<std::string>(9, "x")));
    check_line("\"Scales.names\"", "array_count_max (8)");
    CHECK_FALSE(scales.names.set({"x", broken_text}));
    game.join_settled();
    for (const std::size_t client : {0u, 1u}) {
        const auto& shown = game.on_client(client, object)->component<Scales>(0);
        CHECK(shown.weights.items() == scales.weights.items());
        CHECK(shown.weights.refused_count() == 0);
    }
}

// In parts.

/// The object by which the client speaks of its connection.
[[nodiscard]] ObjectHandle channel_of(BagGame& game, std::size_t client) {
    for (std::uint64_t id = 1; id < 20; ++id) {
        const ObjectHandle found = game.client(client).driver().guids().find_object(NetGUID{id});
        const auto* object = reinterpret_cast<const NetworkIdentity*>(found.value);
        if (object != nullptr && &object->prefab() == &game.types().get().connection_prefab()) {
            return found;
        }
    }
    return {};
}

[[nodiscard]] Thing large_thing(std::int32_t number, std::size_t bytes) {
    return {std::string(bytes, static_cast<char>('a' + number % 26)), number};
}

TEST_CASE("Collections: one larger than a message reaches a client that joins later, in parts",
          "[behaviours]") {
    BagGame game;
    game.join();
    NetworkIdentity& chest = game.spawn(game.chest());
    Bag& bag = chest.component<Bag>(0);
    for (std::int32_t i = 0; i < 200; ++i) {
        REQUIRE(bag.things.add(large_thing(i, 500)));
        REQUIRE(bag.prices.set(std::string(900, 'p') + std::to_string(i), i));
        game.tick();
    }
    LogSpy spy;
    const std::size_t late = game.join();
    // While it changes.
    for (std::int32_t i = 0; i < 100; ++i) {
        REQUIRE(bag.things.set(static_cast<std::uint32_t>(i), large_thing(i + 1, 400)));
        REQUIRE(bag.things.remove_at(199));
        REQUIRE(bag.things.insert(3, large_thing(i, 450)));
        game.tick();
    }
    game.tick(100);
    game.settle();
    game.check_equal(chest);
    CHECK(game.client(late).counters().collections_refused == 0);
    while (bag.things.size() > 5) {
        REQUIRE(bag.things.remove_at(0));
    }
    REQUIRE(bag.things.add({"new", 1}));
    game.join();
    game.tick(50);
    game.settle();
    game.check_equal(chest);
    CHECK(LogSpy::messages().empty());
}

TEST_CASE(
    "Collections: parts that were on their way when the object was hidden are not counted as "
    "refused",
    "[behaviours]") {
    BagOptions options;
    options.link.latency_ms = 20;
    BagGame game(options);
    NetworkIdentity& chest = game.spawn(game.chest());
    Bag& bag = chest.component<Bag>(0);
    for (std::int32_t i = 0; i < 300; ++i) {
        REQUIRE(bag.things.add(large_thing(i, 900)));
    }
    const std::size_t late = game.join();
    LogSpy spy;
    for (std::uint32_t round = 0; round < 40; ++round) {
        game.tick(1 + round % 8);
        game.show(late, chest, false);
        game.tick(round / 8);
        game.show(late, chest, true);
    }
    game.settle();
    game.tick(60);
    game.check_equal(chest);
    CHECK(game.client(late).counters().collections_refused == 0);
    CHECK(LogSpy::messages().empty());
}

TEST_CASE("Collections: the parts of a large one arrive as operations, in order", "[behaviours]") {
    BagGame game;
    NetworkIdentity& chest = game.spawn(game.chest());
    Bag& bag = chest.component<Bag>(0);
    for (std::int32_t i = 0; i < 300; ++i) {
        REQUIRE(bag.things.add(large_thing(i, 400)));
    }
    std::vector<std::string> told;
    bool is_order_right = true;
    std::uint32_t added = 0;
    game.on_made = [&](NetworkIdentity& made) {
        Bag& shown = made.component<Bag>(0);
        shown.things.on_add = [&](std::uint32_t index) { is_order_right &= index == added++; };
        shown.things.on_clear = [&] { told.push_back("clear"); };
    };
    game.join();
    game.tick(100);
    game.check_equal(chest);
    CHECK(is_order_right);
    CHECK(added == 300);
    CHECK(told.empty());
}

class Loot : public NetworkBehaviour {
  public:
    SyncList<std::string> items;
};

/// A trunk of two components: one that its owner decides, and one that nobody else sees.
void add_trunk(NetworkTypes& types) {
    const auto loot = BehaviourBuilder<Loot>(types, "Loot").sync_list<&Loot::items>().build();
    REQUIRE(loot.has_value());
    SyncSettings owners;
    owners.sync_direction = SyncDirection::ClientToServer;
    SyncSettings secret;
    secret.sync_mode = SyncMode::Owner;
    REQUIRE(types.add_prefab("Trunk", {{*loot, owners}, {*loot, secret}}).has_value());
}

TEST_CASE("Collections: an owner is sent a large one that is for it alone, or that it decides",
          "[behaviours]") {
    ArenaGame game({}, add_trunk);
    game.join();
    game.join();
    NetworkIdentity& trunk = game.spawn(game.types().find("Trunk"));
    const auto items_of = [](NetworkIdentity & object, std::size_t component) -> auto& {
        return object.component<Loot>(component).items;
    };
    for (std::int32_t i = 0; i < 200; ++i) {
        REQUIRE(items_of(trunk, 0).add(std::string(500, 'i') + std::to_string(i)));
        REQUIRE(items_of(trunk, 1).add(std::string(600, 's') + std::to_string(i)));
    }
    const auto check_equal = [&] {
        game.tick(120);
        for (const std::size_t client : {0u, 1u}) {
            CHECK(items_of(*game.on_client(client, trunk), 0).items() ==
                  items_of(trunk, 0).items());
        }
    };
    check_equal();
    for (const std::size_t owner : {0u, 1u, 0u}) {
        INFO("owner " << owner);
        REQUIRE(game.server().assign_client_authority(trunk, game.connection(owner)));
        check_equal();
        NetworkIdentity& owned = *game.on_client(owner, trunk);
        CHECK(items_of(owned, 1).items() == items_of(trunk, 1).items());
        REQUIRE_FALSE(items_of(owned, 0).is_read_only());
        CHECK(items_of(owned, 0).set(7, std::string(300, 'o')));
        CHECK(items_of(owned, 0).add("new"));
        check_equal();
        REQUIRE(game.server().remove_client_authority(trunk));
        check_equal();
        CHECK(items_of(owned, 0).is_read_only());
    }
    CHECK(game.server().counters().collections_refused == 0);
}

TEST_CASE(
    "Collections: a client that asks for ever is sent a part a tick, and the same once a second",
    "[behaviours]") {
    BagGame game;
    game.join();
    NetworkIdentity& chest = game.spawn(game.chest());
    Bag& bag = chest.component<Bag>(0);
    for (std::int32_t i = 0; i < 200; ++i) {
        REQUIRE(bag.things.add(large_thing(i, 500)));
    }
    const std::size_t late = game.join();
    game.tick(100);
    game.check_equal(chest);
    game.tick(100);
    const std::uint64_t before = game.transport().sent_bytes;
    detail::CollectionsWanted wanted;
    const std::uint64_t calls = game.client(late).driver().stats().calls_run;
    wanted.paths.push_back({game.on_client(late, chest), 0, 1});
    wanted.paths.push_back({game.on_client(late, chest), 0, 200});
    wanted.paths.push_back({game.on_client(late, chest), 77, 1});
    wanted.paths.push_back({nullptr, 0, 1});
    for (int i = 0; i < 50; ++i) {  // a second
        (void)game.client(late).driver().call_function(channel_of(game, late),
                                                       "0.collections_wanted", &wanted);
        game.tick();
    }
    const std::uint64_t sent = game.transport().sent_bytes - before;
    CHECK(game.client(late).driver().stats().calls_run > calls);
    CHECK(sent > 100'000);
    CHECK(sent < 330'000);  // what it has, and then not more than one answer a second
    CHECK(game.server().find_connection(BagGame::peer_of(late)) != nullptr);
    game.check_equal(chest);
}

// At random.

class LimitStorm {
  public:
    LimitStorm(std::uint64_t seed, const BagOptions& options)
        : choices_(Choices::from_seed(seed, 1, 1 << 16)), game_(options) {
        game_.join();
        chest_ = &game_.spawn(game_.chest());
    }

    void play(std::uint32_t tick_count) {
        for (std::uint32_t i = 0; i < tick_count; ++i) {
            for (std::uint32_t writes = choices_.below(4); writes > 0; --writes) {
                write(chest_->component<Bag>(choices_.percent(50) ? 0 : 2));
            }
            const std::size_t client =
                choices_.below(static_cast<std::uint32_t>(game_.client_count()));
            if (game_.client_count() < 6 && choices_.percent(4)) {
                game_.join();
            } else if (game_.is_there(client) && choices_.percent(3)) {
                game_.show(client, *chest_, choices_.percent(60));
            }
            game_.tick();
        }
        for (std::size_t client = 0; client < game_.client_count(); ++client) {
            game_.show(client, *chest_, true);
        }
        game_.tick(250);
        game_.settle();
        game_.check_equal(*chest_);
    }
    [[nodiscard]] std::uint32_t refused_count() const noexcept { return refused_count_; }
    [[nodiscard]] std::uint32_t large_count() const noexcept { return large_count_; }

  private:
    /// Mostly within the limits, and near them.
    [[nodiscard]] std::string text() {
        if (choices_.percent(5)) {
            return broken_text;
        }
        const std::uint32_t sizes[] = {0, 40, 700, 899, 900, 900, 901, 2'000};
        return std::string(sizes[choices_.below(8)],
                           static_cast<char>('a' + static_cast<char>(choices_.below(26))));
    }
    void write(Bag& bag) {
        const std::uint32_t count = bag.things.size();
        bool is_taken = true;
        switch (choices_.below(9)) {
            case 0:
                is_taken = bag.prices.set(text(), static_cast<std::int32_t>(choices_.below(9)));
                break;
            case 1:
                is_taken = bag.keys.add(choices_.below(200));
                break;
            case 2:
                is_taken = count == 0 || bag.things.set(choices_.below(count), {text(), 1});
                break;
            case 3:
                is_taken = count == 0 || bag.things.remove_at(choices_.below(count));
                break;
            case 4:
                is_taken = !choices_.percent(10) || bag.things.clear();
                break;
            default:
                for (std::uint32_t i = choices_.below(12); i > 0; --i) {
                    is_taken =
                        bag.things.insert(choices_.below(bag.things.size() + 1), {text(), 2}) &&
                        is_taken;
                }
        }
        refused_count_ += is_taken ? 0 : 1;
        std::size_t bytes = 0;
        for (const Thing& thing : bag.things) {
            bytes += thing.name.size();
        }
        large_count_ += bytes > 48 * 1'024 ? 1 : 0;
    }

    Choices choices_;
    BagGame game_;
    NetworkIdentity* chest_ = nullptr;
    std::uint32_t refused_count_ = 0;
    std::uint32_t large_count_ = 0;
};

TEST_CASE("Collections: whatever is written around the limits, clients end equal",
          "[behaviours][random][stress]") {
    std::uint32_t refused_count = 0;
    std::uint32_t large_count = 0;
    const SeedRange seeds = seed_range(1, 12);
    for (const std::uint64_t seed : seeds) {
        INFO("REPLAYOUT_SEED=" << seed);
        BagOptions options;
        options.seed = seed;
        options.limits.string_bytes_max = 900;
        options.limits.array_count_max = 500;
        options.link.loss = 0.05 * static_cast<double>(seed % 4);
        options.link.latency_ms = 20;
        LimitStorm storm(seed, options);
        storm.play(150);
        refused_count += storm.refused_count();
        large_count += storm.large_count();
    }
    CHECK((!seeds.is_default || refused_count > 500));
    CHECK((!seeds.is_default || large_count > 500));
}

/// A server whose client takes a megabyte of arrays and texts.
struct TightClient {
    TightClient() : game(options()) {
        game.join_settled();
        for (int i = 0; i < 8; ++i) {
            chests.push_back(&game.spawn(game.chest(), &game.connection(0)));
        }
        game.settle();
    }
    [[nodiscard]] static BagOptions options() {
        BagOptions options;
        options.config.dynamic_bytes_max = 1024 * 1024;
        options.is_validating = false;
        return options;
    }
    [[nodiscard]] CloseReason reason() { return game.client(0).driver().close_reason(); }

    BagGame game;
    std::vector<NetworkIdentity*> chests;
};

TEST_CASE("Collections: what operations bring counts toward dynamic_bytes_max", "[behaviours]") {
    const bool is_of_owner = GENERATE(false, true);
    CAPTURE(is_of_owner);
    TightClient tight;
    const std::string text(900, 'x');
    std::uint64_t bytes = 0;
    for (int i = 0; i < 400 && tight.game.client(0).is_connected(); ++i) {
        for (NetworkIdentity* chest : tight.chests) {
            if (is_of_owner) {
                (void)chest->component<Pouch>(1).secrets.add(text);
            } else {
                (void)chest->component<Bag>(0).things.add({text, i});
            }
            bytes += text.size();
        }
        tight.game.tick(5);
    }
    CHECK(tight.reason() == CloseReason::TooMuchMemory);
    CHECK(bytes > 500'000);
    CHECK(bytes < 2'200'000);
}

TEST_CASE("Collections: what parts bring counts toward dynamic_bytes_max", "[behaviours]") {
    BagGame game(TightClient::options());
    for (int chest = 0; chest < 4; ++chest) {
        Bag& bag = game.spawn(game.chest()).component<Bag>(0);
        for (int i = 0; i < 1'500; ++i) {
            (void)bag.things.add({std::string(900, 'x'), i});
        }
    }
    game.join();
    for (int i = 0; i < 4'000 && game.client(0).driver().close_reason() == CloseReason::None; ++i) {
        game.tick();
    }
    CHECK(game.client(0).driver().close_reason() == CloseReason::TooMuchMemory);
}

TEST_CASE("Collections: what comes and goes ends no client that keeps little of it",
          "[behaviours]") {
    TightClient tight;
    for (int i = 0; i < 600; ++i) {
        for (NetworkIdentity* chest : tight.chests) {
            Bag& bag = chest->component<Bag>(0);
            (void)bag.things.add({std::string(900, 'x'), i});
            (void)chest->component<Pouch>(1).secrets.add(std::string(500, 'y'));
            if (bag.things.size() > 20) {
                bag.things.remove_at(0);
                chest->component<Pouch>(1).secrets.remove_at(0);
            }
        }
        tight.game.tick();
    }
    tight.game.settle();
    CHECK(tight.game.client(0).is_connected());
    tight.game.check_equal(*tight.chests.front());
}

}  // namespace
}  // namespace replayout::test
