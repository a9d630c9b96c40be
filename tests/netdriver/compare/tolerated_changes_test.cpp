// SPDX-License-Identifier: MIT
//
// Changes that the Identical of a struct tolerates: they are sent in the end, after the time that
// its property says (sent_within_ms), however slowly a value creeps.
#include <replayout/netdriver/net_driver.h>
#include <replayout/reflection/reflection.h>

#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"
#include "support/worlds/class_game.h"

namespace replayout {
namespace {

/// Shared or not: the same value within a degree.
template <bool IsShared>
struct Bearing {
    float degrees = 0.0f;

    bool net_serialize(NetArchive& archive, PackageMap*, bool&) {
        archive.serialize(degrees);
        return true;
    }
    bool identical(const Bearing& other) const { return std::abs(degrees - other.degrees) < 1.0f; }
    friend bool operator==(const Bearing& left, const Bearing& right) {
        ++equal_count;
        return left.degrees == right.degrees;
    }
    static inline std::uint64_t equal_count = 0;
};
using Heading = Bearing<true>;
using Private = Bearing<false>;

struct Station {
    std::int32_t id = 0;
    Heading at;

    friend bool operator==(const Station&, const Station&) = default;
};

struct Mast {
    std::int32_t number = 0;
    Heading polled;
    Heading loose;  // for ever
    Private marked;
    std::vector<Heading> list;
    std::vector<Station> stations;
    std::uint32_t told = 0;

    void on_rep_polled() { ++told; }
};

/// Without a keyed array, which alone would keep it from being scanned.
struct Vane {
    std::int32_t number = 0;
    std::vector<Heading> list;
    std::optional<Heading> spare;

    void multicast_turn() {}
};

constexpr std::int64_t tick_ms = 20;
constexpr std::uint32_t within_ms = 200;
constexpr std::size_t within_ticks = within_ms / tick_ms;

}  // namespace

template <bool IsShared>
struct StructTraitsOf<Bearing<IsShared>> : DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
    static constexpr bool with_net_shared_serialization = IsShared;
    static constexpr bool with_identical = true;
};

namespace test {
namespace {

[[nodiscard]] Result<const Type*> build_mast(TypeRegistry& registry) {
    REQUIRE(struct_builder<Heading>(registry, "Heading").build());
    REQUIRE(struct_builder<Private>(registry, "Private").build());
    REQUIRE(struct_builder<Station>(registry, "Station")
                .property<&Station::id>()
                .property<&Station::at>()
                .build());
    return class_builder<Mast>(registry, "Mast")
        .property<&Mast::number>()
        .property<&Mast::polled>()
        .on_rep<&Mast::on_rep_polled>()
        .sent_within_ms(within_ms)
        .property<&Mast::loose>()
        .property<&Mast::marked>()
        .push_based()
        .sent_within_ms(within_ms)
        .property<&Mast::list>()
        .sent_within_ms(within_ms)
        .property<&Mast::stations>()
        .keyed_by<&Station::id>()
        .sent_within_ms(within_ms)
        .build();
}

[[nodiscard]] Result<const Type*> build_vane(TypeRegistry& registry) {
    REQUIRE(struct_builder<Heading>(registry, "Heading").build());
    return class_builder<Vane>(registry, "Vane")
        .property<&Vane::number>()
        .property<&Vane::list>()
        .sent_within_ms(within_ms)
        .property<&Vane::spare>()
        .sent_within_ms(within_ms)
        .function<&Vane::multicast_turn>(FunctionFlags::Multicast | FunctionFlags::Reliable)
        .build();
}

/// Nothing is polled, so an object at rest is not looked at.
[[nodiscard]] Result<const Type*> build_marked_mast(TypeRegistry& registry) {
    REQUIRE(struct_builder<Private>(registry, "Private").build());
    return class_builder<Mast>(registry, "Mast")
        .property<&Mast::number>()
        .push_based()
        .property<&Mast::marked>()
        .push_based()
        .sent_within_ms(within_ms)
        .build();
}

/// All that is to be sent in the end.
[[nodiscard]] std::vector<float> values_of(const Mast& mast) {
    std::vector<float> values{mast.polled.degrees, mast.marked.degrees};
    for (const Heading& heading : mast.list) {
        values.push_back(heading.degrees);
    }
    std::map<std::int32_t, float> stations;
    for (const Station& station : mast.stations) {
        stations[station.id] = station.at.degrees;
    }
    for (const auto& [id, degrees] : stations) {
        values.push_back(degrees);
    }
    return values;
}

constexpr std::uint32_t list_count = 3;

/// Masts whose values creep in every tick by less than is looked at.
class CreepingGame {
  public:
    CreepingGame(std::uint64_t seed, const ClassGameOptions& options)
        : random_(seed), game(build_mast, options) {
        game.server_transport().is_recording = true;
        game.join();
        for (int i = 0; i < 12; ++i) {
            const ObjectHandle mast = game.add();
            game.object(mast).list.resize(list_count);
            for (std::int32_t id = 0; id < 3; ++id) {
                game.object(mast).stations.push_back({id, {}});
            }
            masts.push_back(mast);
            past_[mast].push_back(values_of(game.object(mast)));
        }
        REQUIRE(game.settle());
    }

    void creep(float& degrees) {
        degrees += 0.001f * static_cast<float>(random_.below(80));
        if (random_.percent(2)) {
            degrees -= 5.0f;  // more than is tolerated, and back
        }
    }
    void tick(bool is_moving) {
        game.tick([&] {
            for (const ObjectHandle handle : masts) {
                Mast& mast = game.object(handle);
                if (is_moving) {
                    creep(mast.polled.degrees);
                    creep(mast.loose.degrees);
                    creep(mast.marked.degrees);
                    creep(mast.list[random_.below(list_count)].degrees);
                    creep(mast.stations[random_.below(3)].at.degrees);
                    game.driver().mark_property_dirty(game.id_of(handle), "marked");
                }
                std::deque<std::vector<float>>& past = past_[handle];
                past.push_back(values_of(mast));
                // An interval, the flush that notes it, and the way.
                if (past.size() > within_ticks + 3) {
                    past.pop_front();
                }
            }
        });
    }
    /// Each value that a client shows the server had within the interval.
    void check_client(std::size_t client) {
        for (const ObjectHandle handle : masts) {
            const std::vector<float> shown = values_of(game.object_on(client, handle));
            const std::deque<std::vector<float>>& past = past_[handle];
            for (std::size_t i = 0; i < shown.size(); ++i) {
                bool is_known = false;
                for (const std::vector<float>& values : past) {
                    is_known = is_known || values[i] == shown[i];
                }
                INFO("value " << i << " of mast " << handle.value);
                REQUIRE(is_known);
            }
        }
    }
    void check_equal(std::size_t client) {
        for (const ObjectHandle handle : masts) {
            REQUIRE(values_of(game.object_on(client, handle)) == values_of(game.object(handle)));
        }
    }

  private:
    SeededRandom random_;
    std::map<ObjectHandle, std::deque<std::vector<float>>> past_;

  public:
    ClassGame<Mast> game;
    std::vector<ObjectHandle> masts;
};

}  // namespace

TEST_CASE("Tolerated changes: are sent after the time that the property says, and not before",
          "[netdriver][tolerated]") {
    ClassGame<Mast> game(build_mast);
    game.join();
    const ObjectHandle mast = game.add();
    REQUIRE(game.settle());
    game.object(mast).polled.degrees = 0.5f;
    game.object(mast).loose.degrees = 0.5f;
    game.object(mast).marked.degrees = 0.5f;
    game.driver().mark_property_dirty(game.id_of(mast), "marked");
    const Mast& shown = game.object_on(0, mast);
    const std::uint32_t told = shown.told;
    for (std::size_t i = 0; i < within_ticks; ++i) {
        game.tick();
        CHECK(shown.polled.degrees == 0.0f);
        CHECK(shown.marked.degrees == 0.0f);
    }
    game.tick();
    game.tick();
    CHECK(shown.polled.degrees == 0.5f);
    CHECK(shown.marked.degrees == 0.5f);
    CHECK(shown.told == told + 1);
    for (std::size_t i = 0; i < 10 * within_ticks; ++i) {
        game.tick();
    }
    CHECK(shown.loose.degrees == 0.0f);  // its property says no time
    CHECK(shown.told == told + 1);
}

TEST_CASE("Tolerated changes: in an array and in an optional value are sent in the end",
          "[netdriver][tolerated]") {
    ClassGame<Vane> game(build_vane);
    game.join();
    const ObjectHandle vane = game.add();
    game.object(vane).list.resize(list_count);
    game.object(vane).spare.emplace();
    REQUIRE(game.settle());
    const Vane& shown = game.object_on(0, vane);
    game.object(vane).list[1].degrees = 0.5f;
    for (std::size_t i = 0; i < within_ticks; ++i) {
        game.tick();
        CHECK(shown.list[1].degrees == 0.0f);
    }
    game.tick();
    game.tick();
    CHECK(shown.list[1].degrees == 0.5f);
    game.object(vane).spare->degrees = 0.5f;
    for (std::size_t i = 0; i < within_ticks; ++i) {
        game.tick();
        CHECK(shown.spare->degrees == 0.0f);
    }
    game.tick();
    game.tick();
    CHECK(shown.spare->degrees == 0.5f);
}

// A departing object's handle may be another object's by then.
TEST_CASE("Tolerated changes: of an object that goes after its reliable calls, are never looked at",
          "[netdriver][tolerated]") {
    ClassGame<Vane> game(build_vane);
    game.join();
    const ObjectHandle vane = game.add();
    game.object(vane).list.resize(list_count);
    REQUIRE(game.settle());
    game.object(vane).list[1].degrees = 0.5f;
    game.tick();
    game.server_transport().set_script([](std::vector<std::byte>&) { return false; });
    REQUIRE(game.driver().call<&Vane::multicast_turn>(game.id_of(vane)) == CallResult::Sent);
    game.remove(vane);  // its memory, too
    CHECK(game.driver().object_count() == 0);
    CHECK_FALSE(game.driver().is_settled());
    const std::uint64_t lookups = game.lookup_count();
    for (std::size_t i = 0; i < 2 * within_ticks; ++i) {
        game.tick();
    }
    CHECK(game.lookup_count() == lookups);
}

TEST_CASE("Tolerated changes: while all creeps, a client is never further behind than the interval",
          "[netdriver][tolerated][random]") {
    for (const std::uint64_t seed : seed_range(1, 4)) {
        INFO("seed " << seed);
        std::vector<std::vector<Datagram>> sent;
        for (const bool is_sharing : {true, false}) {
            ClassGameOptions options;
            options.seed = seed;
            options.sharing = sharing_level(is_sharing);
            CreepingGame creeping(seed, options);
            creeping.tick(true);
            creeping.tick(true);
            for (int i = 0; i < 200; ++i) {
                creeping.tick(true);
                creeping.check_client(0);
            }
            // A client that joins now is sent the values that the others will have in the end.
            const std::size_t late = creeping.game.join();
            for (std::size_t i = 0; i < within_ticks + 3; ++i) {
                creeping.tick(false);
            }
            REQUIRE(creeping.game.settle());
            creeping.check_equal(0);
            creeping.check_equal(late);
            sent.push_back(creeping.game.server_transport().sent);
        }
        CHECK(sent[0] == sent[1]);
    }
}

TEST_CASE("Tolerated changes: at a loss of 30 %, under a cap, the end is the server's",
          "[netdriver][tolerated][random]") {
    for (const std::uint64_t seed : seed_range(1, 4)) {
        INFO("seed " << seed);
        ClassGameOptions options;
        options.seed = seed;
        options.link.loss = 0.3;
        options.link.latency_ms = 30;
        options.config.bytes_per_second_max = 20'000;
        CreepingGame creeping(seed, options);
        for (int i = 0; i < 200; ++i) {
            creeping.tick(true);
        }
        for (std::size_t i = 0; i < within_ticks + 3; ++i) {
            creeping.tick(false);
        }
        REQUIRE(creeping.game.settle());
        creeping.check_equal(0);
    }
}

TEST_CASE("Tolerated changes: of what rests nothing is compared and nothing is sent",
          "[netdriver][tolerated]") {
    ClassGame<Mast> game(build_marked_mast);
    game.join();
    const ObjectHandle mast = game.add();
    REQUIRE(game.settle());
    game.object(mast).marked.degrees = 0.25f;
    game.driver().mark_property_dirty(game.id_of(mast), "marked");
    for (std::size_t i = 0; i < within_ticks + 3; ++i) {
        game.tick();
    }
    REQUIRE(game.object_on(0, mast).marked.degrees == 0.25f);
    REQUIRE(game.settle());
    const std::uint64_t equal_count = Private::equal_count;
    const NetStats before = game.driver().stats();
    for (int i = 0; i < 200; ++i) {
        game.tick();
    }
    CHECK(Private::equal_count == equal_count);
    CHECK(game.driver().stats().replication.objects_compared ==
          before.replication.objects_compared);
    CHECK(game.driver().stats().records_sent == before.records_sent);
    // A mark without a change is no reason either.
    game.driver().mark_property_dirty(game.id_of(mast), "marked");
    for (int i = 0; i < 200; ++i) {
        game.tick();
    }
    CHECK(game.driver().stats().replication.objects_compared ==
          before.replication.objects_compared + 1);
    CHECK(game.driver().stats().records_sent == before.records_sent);
}

TEST_CASE("Tolerated changes: what falls asleep or is torn off leaves clients with what it is",
          "[netdriver][tolerated]") {
    ClassGame<Mast> game(build_mast);
    game.join();
    const ObjectHandle sleeper = game.add();
    const ObjectHandle torn = game.add();
    REQUIRE(game.settle());
    const Mast& shown_sleeper = game.object_on(0, sleeper);
    const Mast& shown_torn = game.object_on(0, torn);
    game.object(sleeper).polled.degrees = 0.5f;
    game.object(torn).polled.degrees = 0.25f;
    game.driver().set_dormancy(game.id_of(sleeper), NetDormancy::DormantAll);
    game.driver().tear_off(game.id_of(torn));
    game.tick();
    game.tick();
    CHECK(shown_sleeper.polled.degrees == 0.5f);
    CHECK(shown_torn.polled.degrees == 0.25f);
}

TEST_CASE("Tolerated changes: what is back near what it was is owed, as it is not that",
          "[replayout][tolerated]") {
    const TestLayout layout(build_mast);
    BlockSender sender(*layout);
    Mast mast;
    const auto handles = [&](Version version) {
        OwedVersions position = exact_at(version);
        position.is_exact = true;
        return handles_of(sender.collect(position));
    };
    mast.polled.degrees = 10.0f;
    mast.loose.degrees = 10.0f;
    REQUIRE(sender.update(&mast));
    mast.polled.degrees = 20.0f;
    mast.loose.degrees = 20.0f;
    REQUIRE(sender.update(&mast));
    mast.polled.degrees = 10.25f;
    mast.loose.degrees = 10.25f;
    REQUIRE(sender.update(&mast));
    CHECK(handles(1) == std::vector<std::uint32_t>{2});  // 10.25 of `loose` counts as 10
    // And exactly back is back.
    mast.polled.degrees = 20.0f;
    REQUIRE(sender.update(&mast));
    CHECK(handles(2) == std::vector<std::uint32_t>{3});
}

TEST_CASE("Tolerated changes: an update that is marked exact takes what was tolerated",
          "[replayout][tolerated]") {
    const TestLayout layout(build_mast);
    BlockSender sender(*layout);
    Mast mast;
    (void)sender.update(&mast);
    mast.polled.degrees = 0.5f;
    CHECK_FALSE(sender.update(&mast));
    CHECK(sender.state.has_tolerated());
    sender.state.mark_exact();
    CHECK(sender.update(&mast));
    CHECK_FALSE(sender.state.has_tolerated());
    CHECK_FALSE(sender.update(&mast));
    mast.loose.degrees = 0.5f;
    sender.state.mark_exact();
    CHECK_FALSE(sender.update(&mast));
    CHECK_FALSE(sender.state.has_tolerated());
}

}  // namespace test
}  // namespace replayout
