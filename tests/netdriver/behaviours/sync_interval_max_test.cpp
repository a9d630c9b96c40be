// SPDX-License-Identifier: MIT
//
// SyncSettings::sync_interval_max_us: what the class of a SyncVar tolerates is sent in the end.
#include <replayout/behaviours/behaviour_builder.h>
#include <replayout/net_archive.h>
#include <replayout/reflection/type_builder.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/contains.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/arena_game.h"

namespace replayout {
namespace {

/// The same within a degree.
struct Course {
    float degrees = 0.0f;

    bool net_serialize(NetArchive& archive, PackageMap*, bool&) {
        archive.serialize(degrees);
        return true;
    }
    bool identical(const Course& other) const { return std::abs(degrees - other.degrees) < 1.0f; }
    friend bool operator==(const Course&, const Course&) = default;
};

}  // namespace

template <>
struct StructTraitsOf<Course> : DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
    static constexpr bool with_net_shared_serialization = true;
    static constexpr bool with_identical = true;
};

namespace test {
namespace {

class Glider : public NetworkBehaviour {
  public:
    SyncVar<Course> course;
    SyncVar<float> height;

    std::vector<float> told;
    void on_course(const Course&, const Course& current) { told.push_back(current.degrees); }
};

[[nodiscard]] Result<const NetworkPrefab*> add_glider(NetworkTypes& types, const char* name,
                                                      const SyncSettings& settings) {
    const BehaviourType* type = nullptr;
    if (const NetworkPrefab* known = types.find_prefab("Glider")) {
        type = known->components().front().type;
    } else {
        REQUIRE(struct_builder<Course>(types.registry(), "Course").build().has_value());
        const auto built = BehaviourBuilder<Glider>(types, "Glider")
                               .sync_var<&Glider::course, &Glider::on_course>()
                               .sync_var<&Glider::height>()
                               .quantised(Quantisation::steps(0.0, 100.0, 1.0))
                               .build();
        REQUIRE(built.has_value());
        type = *built;
    }
    return types.add_prefab(name, {PrefabComponent{type, settings}});
}

constexpr std::int64_t interval_us = 100'000;
constexpr std::int64_t most_us = 400'000;

const auto add_gliders = [](NetworkTypes& types) {
    REQUIRE(add_glider(types, "Glider", {}).has_value());
    SyncSettings settings;
    settings.sync_interval_max_us = most_us;
    REQUIRE(add_glider(types, "Settling", settings).has_value());
    settings.sync_interval_us = interval_us;
    REQUIRE(add_glider(types, "Slow", settings).has_value());
    settings.sync_interval_us = 0;
    settings.sync_direction = SyncDirection::ClientToServer;
    REQUIRE(add_glider(types, "Owned", settings).has_value());
};

/// Ticks of the game that last no less than that.
[[nodiscard]] std::uint32_t ticks_in(ArenaGame& game, std::int64_t us) {
    const NetTime begin = game.server().now();
    game.tick();
    const std::int64_t tick_us = game.server().now().microseconds - begin.microseconds;
    return static_cast<std::uint32_t>((us + tick_us - 1) / tick_us);
}

}  // namespace

TEST_CASE("SyncVar: what its class tolerates is sent after the largest interval, and its hook runs",
          "[behaviours]") {
    ArenaGame game({}, add_gliders);
    game.join();
    NetworkIdentity& loose = game.spawn(game.types().find("Glider"));
    NetworkIdentity& settling = game.spawn(game.types().find("Settling"));
    NetworkIdentity& slow = game.spawn(game.types().find("Slow"));
    game.settle();
    const std::uint32_t most_ticks = ticks_in(game, most_us);
    game.tick(10);
    for (NetworkIdentity* object : {&loose, &settling, &slow}) {
        object->component<Glider>(0).course = Course{0.5f};
        object->component<Glider>(0).height = 0.25f;
    }
    const auto course_on = [&](NetworkIdentity& object) {
        return game.on_client(0, object)->component<Glider>(0).course.get().degrees;
    };
    game.tick(most_ticks / 2);
    CHECK(course_on(settling) == 0.0f);
    CHECK(course_on(slow) == 0.0f);
    game.tick(most_ticks / 2 + 3);
    CHECK(course_on(settling) == 0.5f);
    CHECK(course_on(slow) == 0.5f);
    CHECK(game.on_client(0, settling)->component<Glider>(0).told == std::vector<float>{0.5f});
    game.tick(100);
    CHECK(course_on(loose) == 0.0f);
    // On the grid of its steps it is what it was, and what a new client would be sent.
    CHECK(game.on_client(0, settling)->component<Glider>(0).height == 0.0f);
}

TEST_CASE(
    "SyncVar: while courses creep in every tick, each client has what the server had within the "
    "largest interval",
    "[behaviours][random]") {
    for (const std::uint64_t seed : seed_range(1, 3)) {
        INFO("seed " << seed);
        SeededRandom random(seed);
        ArenaGame game({}, add_gliders);
        game.join();
        game.join();
        std::vector<NetworkIdentity*> gliders;
        for (int i = 0; i < 4; ++i) {
            gliders.push_back(&game.spawn(game.types().find("Settling")));
            gliders.push_back(&game.spawn(game.types().find("Slow")));
        }
        game.settle();
        const std::uint32_t most_ticks = ticks_in(game, most_us);
        std::map<NetworkIdentity*, std::deque<float>> past;
        for (std::size_t i = 0; i < 300; ++i) {
            for (NetworkIdentity* glider : gliders) {
                SyncVar<Course>& course = glider->component<Glider>(0).course;
                const float by = 0.001f * static_cast<float>(random.below(70));
                course = Course{course.get().degrees + (random.percent(2) ? -3.0f : by)};
                past[glider].push_back(course.get().degrees);
                if (past[glider].size() > most_ticks + 4) {
                    past[glider].pop_front();
                }
            }
            game.tick();
            for (NetworkIdentity* glider : gliders) {
                for (std::size_t client = 0; client < 2 && i > most_ticks + 4; ++client) {
                    const float shown =
                        game.on_client(client, *glider)->component<Glider>(0).course.get().degrees;
                    const std::deque<float>& known = past[glider];
                    REQUIRE(std::find(known.begin(), known.end(), shown) != known.end());
                }
            }
        }
        game.tick(most_ticks + 4);
        game.settle();
        for (NetworkIdentity* glider : gliders) {
            for (std::size_t client = 0; client < 2; ++client) {
                CHECK(game.on_client(client, *glider)->component<Glider>(0).course.get() ==
                      glider->component<Glider>(0).course.get());
            }
        }
    }
}

TEST_CASE("SyncVar: what an owner decides, and its class tolerates, all others have in the end",
          "[behaviours]") {
    ArenaGame game({}, add_gliders);
    game.join_settled(2);
    NetworkIdentity& glider = game.spawn(game.types().find("Owned"), &game.connection(0));
    game.settle();
    NetworkIdentity* const own = game.on_client(0, glider);
    REQUIRE(own != nullptr);
    own->component<Glider>(0).course = Course{0.5f};
    game.tick(ticks_in(game, most_us) + 6);
    CHECK(glider.component<Glider>(0).course.get().degrees == 0.5f);
    CHECK(game.on_client(1, glider)->component<Glider>(0).course.get().degrees == 0.5f);
}

TEST_CASE("SyncSettings: a largest interval below the interval, or beyond an hour, is refused",
          "[behaviours]") {
    struct Case {
        std::int64_t interval_us;
        std::int64_t most_us;
        const char* why;
    };
    const Case cases[] = {
        {0, 0, nullptr},
        {0, 1, nullptr},
        {50'000, 50'000, nullptr},
        {50'000, 0, nullptr},
        {0, 3'600'000'000, nullptr},
        {0, 3'600'000'001, "neither 0 nor between 1 and 3,600,000,000"},
        {0, -1, "neither 0 nor between 1 and 3,600,000,000"},
        {50'000, 49'999, "sync_interval_max_us is less than sync_interval_us"},
    };
    for (const Case& each : cases) {
        INFO(each.interval_us << ", " << each.most_us);
        NetworkTypes types;
        SyncSettings settings;
        settings.sync_interval_us = each.interval_us;
        settings.sync_interval_max_us = each.most_us;
        const auto added = add_glider(types, "Glider", settings);
        CHECK(added.has_value() == (each.why == nullptr));
        if (!added) {
            CHECK(contains(added.error().message, each.why));
            CHECK(contains(added.error().message, "component \"Glider\""));
        }
    }
}

}  // namespace test
}  // namespace replayout
