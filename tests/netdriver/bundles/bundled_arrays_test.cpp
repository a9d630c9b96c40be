// SPDX-License-Identifier: MIT
//
// Objects with keyed and fast arrays and atomic structs in bundles: what is the same for every
// receiver that holds the last pivot goes out once for all. Where elements come or go, or an atomic
// struct changes, the pair is left to itself until that has arrived.
#include <replayout/fast_array.h>
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/executors.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/class_game.h"

namespace replayout::test::bundled_arrays_test {

/// Right only as a whole.
struct Till {
    std::uint32_t left = 0;
    std::uint32_t right = 0;
    std::uint32_t sum = 0;

    friend bool operator==(const Till&, const Till&) = default;
};

}  // namespace replayout::test::bundled_arrays_test

template <>
struct replayout::StructTraitsOf<replayout::test::bundled_arrays_test::Till>
    : replayout::DefaultStructTraits {
    static constexpr bool with_atomic = true;
};

namespace replayout::test::bundled_arrays_test {
namespace {

struct Tool {
    std::uint32_t id = 0;
    std::uint32_t wear = 0;
    std::string label;
    std::vector<std::uint16_t> notches;

    friend bool operator==(const Tool&, const Tool&) = default;
};

struct Round : FastArraySerializerItem {
    std::uint32_t count = 0;
};

struct Magazine : FastArraySerializer<Round> {};

struct Bag {
    std::uint32_t weight = 0;
    std::vector<Tool> tools;     // in order
    std::vector<Tool> trinkets;  // in any order
    Magazine magazine;
    std::vector<Tool> secrets;  // of the owner
    Till till;
};

[[nodiscard]] Result<const Type*> build_bag(TypeRegistry& registry) {
    (void)struct_builder<Tool>(registry, "Tool")
        .property<&Tool::id>()
        .property<&Tool::wear>()
        .property<&Tool::label>()
        .property<&Tool::notches>()
        .build();
    (void)struct_builder<Round>(registry, "Round").property<&Round::count>().build();
    (void)struct_builder<Magazine>(registry, "Magazine").property<&Magazine::items>().build();
    (void)struct_builder<Till>(registry, "Till")
        .property<&Till::left>()
        .property<&Till::right>()
        .property<&Till::sum>()
        .build();
    return class_builder<Bag>(registry, "Bag")
        .property<&Bag::weight>()
        .property<&Bag::tools>()
        .keyed_by<&Tool::id>(ArrayOrder::Kept)
        .property<&Bag::trinkets>()
        .keyed_by<&Tool::id>(ArrayOrder::Free)
        .property<&Bag::magazine>()
        .property<&Bag::secrets>()
        .keyed_by<&Tool::id>(ArrayOrder::Free)
        .condition(LifetimeCondition::OwnerOnly)
        .property<&Bag::till>()
        .build();
}

[[nodiscard]] std::vector<Tool> by_id(std::vector<Tool> tools) {
    std::sort(tools.begin(), tools.end(),
              [](const Tool& left, const Tool& right) { return left.id < right.id; });
    return tools;
}

[[nodiscard]] std::vector<std::uint32_t> counts_of(const Magazine& magazine) {
    std::vector<std::uint32_t> counts;
    for (const Round& round : magazine.items) {
        counts.push_back(round.count);
    }
    std::sort(counts.begin(), counts.end());
    return counts;
}

[[nodiscard]] bool are_equal(const Bag& left, const Bag& right) {
    return left.weight == right.weight && left.tools == right.tools &&
           by_id(left.trinkets) == by_id(right.trinkets) &&
           counts_of(left.magazine) == counts_of(right.magazine) && left.till == right.till;
}

struct Play {
    SharingLevel sharing = SharingLevel::Bundles;
    std::uint64_t seed = 1;
    double loss = 0;
    std::uint32_t cap = 0;
    std::uint32_t pay_percent = 0;  ///< how often a till changes
    Executor* executor = nullptr;
};

/// Bags whose tools wear in every tick, and now and then come and go.
class BagGame {
  public:
    static constexpr std::uint32_t bag_count = 12;
    static constexpr std::size_t client_count = 4;

    explicit BagGame(const Play& play)
        : game_(build_bag, options_of(play)), random_(play.seed), pay_percent_(play.pay_percent) {
        game_.server_transport().is_recording = true;
        for (std::size_t i = 0; i < client_count - 1; ++i) {
            game_.join();
        }
        for (std::uint32_t i = 0; i < bag_count; ++i) {
            add_bag();
        }
    }

    void tick(bool is_coming_and_going) {
        game_.tick([&] {
            for (const ObjectHandle handle : bags_) {
                Bag& bag = game_.object(handle);
                wear(bag);
                if (is_coming_and_going && random_.percent(8)) {
                    come_and_go(bag);
                }
                if (random_.percent(pay_percent_)) {
                    pay(bag.till);
                }
            }
            if (is_coming_and_going && random_.percent(3)) {
                const std::size_t place = random_.below(bag_count);
                game_.remove(bags_[place]);
                bags_.erase(bags_.begin() + static_cast<std::ptrdiff_t>(place));
                add_bag();
            }
            if (is_coming_and_going && random_.percent(3)) {
                const ObjectHandle bag = bags_[random_.below(bag_count)];
                game_.driver().set_owner(game_.id_of(bag),
                                         ClassGame<Bag>::peer_of(random_.below(client_count - 1)));
            }
        });
    }

    [[nodiscard]] ClassGame<Bag>& game() noexcept { return game_; }
    [[nodiscard]] const std::vector<Datagram>& sent() { return game_.server_transport().sent; }
    [[nodiscard]] bool are_all_equal() {
        for (const ObjectHandle bag : bags_) {
            for (std::size_t client = 0; client < game_.client_count(); ++client) {
                if (!are_equal(game_.object(bag), game_.object_on(client, bag))) {
                    return false;
                }
            }
        }
        return true;
    }
    /// A client never shows an element of which it was not sent everything, or half of a till.
    [[nodiscard]] bool are_all_whole() {
        const auto is_whole = [](const Tool& tool) {
            return tool.label == "tool " + std::to_string(tool.id);
        };
        for (const ObjectHandle handle : bags_) {
            for (std::size_t client = 0; client < game_.client_count(); ++client) {
                const Bag* const bag = game_.find_on(client, handle);
                if (bag != nullptr &&
                    !(std::all_of(bag->tools.begin(), bag->tools.end(), is_whole) &&
                      std::all_of(bag->trinkets.begin(), bag->trinkets.end(), is_whole) &&
                      std::all_of(bag->secrets.begin(), bag->secrets.end(), is_whole) &&
                      bag->till.left + bag->till.right == bag->till.sum)) {
                    return false;
                }
            }
        }
        return true;
    }

  private:
    [[nodiscard]] static ClassGameOptions options_of(const Play& play) {
        ClassGameOptions options;
        options.sharing = play.sharing;
        options.seed = play.seed;
        options.link.loss = play.loss;
        options.link.latency_ms = 45;
        options.link.jitter_ms = 15;
        options.config.bytes_per_second_max = play.cap;
        options.executor = play.executor;
        return options;
    }

    [[nodiscard]] Tool make_tool() {
        Tool tool;
        tool.id = ++last_id_;
        tool.label = "tool " + std::to_string(last_id_);
        tool.notches.assign(random_.below(4), static_cast<std::uint16_t>(last_id_));
        return tool;
    }

    void add_bag() {
        bags_.push_back(game_.add());
        Bag& bag = game_.object(bags_.back());
        for (int i = 0; i < 6; ++i) {
            bag.tools.push_back(make_tool());
            bag.trinkets.push_back(make_tool());
            bag.secrets.push_back(make_tool());
            bag.magazine.items.emplace_back().count = ++last_id_;
            bag.magazine.mark_item_dirty(bag.magazine.items.back());
        }
    }

    void wear(Bag& bag) {
        for (std::vector<Tool>* const tools : {&bag.tools, &bag.trinkets, &bag.secrets}) {
            if (!tools->empty() && random_.percent(70)) {
                Tool& tool = (*tools)[random_.below(static_cast<std::uint32_t>(tools->size()))];
                ++tool.wear;
                if (random_.percent(20)) {
                    tool.notches.push_back(static_cast<std::uint16_t>(tool.wear));
                    tool.notches.resize(std::min<std::size_t>(tool.notches.size(), 5));
                }
            }
        }
        std::vector<Round>& rounds = bag.magazine.items;
        if (!rounds.empty() && random_.percent(70)) {
            Round& round = rounds[random_.below(static_cast<std::uint32_t>(rounds.size()))];
            ++round.count;
            bag.magazine.mark_item_dirty(round);
        }
        bag.weight += random_.below(2);
    }

    /// Two of its values change.
    void pay(Till& till) {
        const std::uint32_t part = random_.below(3);
        till.left += part != 0 ? 1u : 0u;
        till.right += part == 0 ? 1u : 0u;
        till.right -= part == 1 && till.right > 0 ? 1u : 0u;
        till.sum = till.left + till.right;
    }

    void come_and_go(Bag& bag) {
        for (std::vector<Tool>* const tools : {&bag.tools, &bag.trinkets, &bag.secrets}) {
            if (random_.percent(50) && tools->size() > 1) {
                tools->erase(tools->begin() +
                             random_.below(static_cast<std::uint32_t>(tools->size())));
            } else if (tools->size() < 12) {
                tools->insert(tools->begin(), make_tool());
            }
        }
        std::vector<Round>& rounds = bag.magazine.items;
        if (random_.percent(50) && rounds.size() > 1) {
            rounds.erase(rounds.begin());
            bag.magazine.mark_array_dirty();
        } else if (rounds.size() < 12) {
            rounds.emplace_back().count = ++last_id_;
            bag.magazine.mark_item_dirty(rounds.back());
        }
    }

    ClassGame<Bag> game_;
    SeededRandom random_;
    std::vector<ObjectHandle> bags_;
    std::uint32_t last_id_ = 0;
    const std::uint32_t pay_percent_;
};

/// What the server sent in a game in which all end equal.
[[nodiscard]] std::vector<Datagram> played(const Play& play) {
    BagGame bags(play);
    for (int tick = 0; tick < 400; ++tick) {
        if (tick == 200) {
            bags.game().join();
        }
        bags.tick(tick % 100 < 70);
        REQUIRE(bags.are_all_whole());
    }
    REQUIRE(bags.game().settle());
    CHECK(bags.are_all_equal());
    return bags.sent();
}

}  // namespace

TEST_CASE("Bundled arrays: what changes in elements that all have is copied for all of them",
          "[netdriver][bundles][keyed_arrays]") {
    BagGame bags({});
    REQUIRE(bags.game().settle());
    for (int tick = 0; tick < 30; ++tick) {
        bags.tick(false);
    }
    NetDriver& driver = bags.game().driver();
    const ReplicationCounters before = driver.stats().replication;
    for (int tick = 0; tick < 50; ++tick) {
        bags.tick(false);
    }
    const ReplicationCounters after = driver.stats().replication;
    // One bundle, of up to twelve blocks, for each client and tick: each block is written once.
    CHECK(after.bundles_built - before.bundles_built == 50);
    CHECK(after.bundles_copied - before.bundles_copied == 50 * (BagGame::client_count - 1));
    CHECK(after.payloads_reused - before.payloads_reused ==
          (BagGame::client_count - 2) * (after.payloads_built - before.payloads_built));
    REQUIRE(bags.game().settle());
    CHECK(bags.are_all_equal());
}

TEST_CASE("Bundled arrays: where only a number changes, blocks under way count as those of arrays",
          "[netdriver][bundles][keyed_arrays][limits]") {
    // What one packet of acks may cost is bounded by what is under way.
    ClassGameOptions options;
    options.link.latency_ms = 10;
    ClassGame<Bag> game(build_bag, options);
    game.join();
    game.join();
    std::vector<ObjectHandle> bags;
    for (int i = 0; i < 600; ++i) {
        bags.push_back(game.add());
        game.object(bags.back()).tools.resize(1);
    }
    const auto tick = [&] {
        for (const ObjectHandle bag : bags) {
            ++game.object(bag).weight;
        }
        game.tick();
    };
    REQUIRE(game.settle());
    tick();
    REQUIRE(game.settle());
    LinkSettings silent;
    silent.loss = 1;
    game.network().set_settings(silent);
    const NetStats before = game.driver().stats();
    for (int i = 0; i < 60; ++i) {
        tick();
    }
    const NetStats& after = game.driver().stats();
    const std::uint64_t sent = after.replication.blocks_sent - before.replication.blocks_sent;
    CHECK(after.replication.bundles_copied > before.replication.bundles_copied);
    CHECK(sent > 2 * 3'000);
    CHECK(sent < 2 * 3'500);  // docs/limits.md: 3,230 of them, and a packet
}

TEST_CASE(
    "Bundled arrays: however elements come and go, every level of sharing sends the same, "
    "and all end equal",
    "[netdriver][bundles][keyed_arrays][random]") {
    for (const std::uint64_t seed : seed_range(run_seed() % 1'000'000 + 1, 6)) {
        INFO("REPLAYOUT_SEED=" << seed);
        Play play;
        play.seed = seed;
        play.loss = seed % 3 == 0 ? 0 : 0.05 * static_cast<double>(seed % 5);
        play.cap = seed % 4 == 3 ? 60'000 : 0;
        play.pay_percent = seed % 2 == 0 ? 60 : 5;
        const std::vector<Datagram> expected = played(play);
        for (const SharingLevel sharing :
             {SharingLevel::Off, SharingLevel::Pieces, SharingLevel::Payloads}) {
            play.sharing = sharing;
            CHECK((played(play) == expected));
        }
        ThreadExecutor threads(3);
        play.sharing = SharingLevel::Bundles;
        play.executor = &threads;
        CHECK((played(play) == expected));
    }
}

}  // namespace replayout::test::bundled_arrays_test
