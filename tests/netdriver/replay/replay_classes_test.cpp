// SPDX-License-Identifier: MIT
//
// Every kind of property in a recording, with checkpoints every few ticks: what one connection was
// told of elements, deltas and references must not be missed by the next.
#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/hostile/replay_screen.h"
#include "support/types/delta_types.h"
#include "support/types/mixed_types.h"
#include "support/worlds/class_game.h"
#include "support/worlds/typed_world.h"

namespace replayout::test {
namespace {

/// A world of one class.
template <typename T>
class ClassScreen final : public TypedWorld<T> {
  public:
    ClassScreen(std::span<const std::byte> bytes, const RepLayout& layout)
        : TypedWorld<T>(77'001), source_(bytes), player(NetDriverSettings(), source_, *this) {
        REQUIRE(player.driver().add_layout(layout));
        REQUIRE(player.open() == ReplayError::None);
    }

    [[nodiscard]] const T* find_guid(NetGUID guid) const {
        return this->find(player.driver().guids().find_object(guid));
    }

  private:
    BytesSource source_;

  public:
    ReplayPlayer player;
};

}  // namespace

TEST_CASE("Replay: every kind of property is right at each tick and wherever is sought",
          "[netdriver][replay][random]") {
    for (const std::uint64_t seed : seed_range(1, 3)) {
        INFO("seed " << seed);
        ClassGameOptions options;
        options.sharing = sharing_level(seed % 2 == 1);
        ClassGame<Bazaar> game(build_bazaar, options);
        game.join();
        SeededRandom random(seed);
        ReplayMemory sink;
        ReplayRecorderSettings settings;
        settings.checkpoint_ms = 60;
        ReplayRecorder recorder(sink, settings);
        std::vector<ObjectHandle> objects;
        std::map<std::int64_t, std::map<std::uint64_t, Bazaar>> states;
        std::map<std::int64_t, std::map<std::uint64_t, std::vector<std::int32_t>>> coin_ids;
        REQUIRE(game.driver().start_recording(recorder));
        for (std::int64_t tick = 0; tick < 200; ++tick) {
            game.tick([&] {
                if (objects.size() < 4) {
                    objects.push_back(game.add());
                    game.driver().set_dynamic_condition(game.id_of(objects.back()), "hint",
                                                        LifetimeCondition::SkipOwner);
                }
                for (const ObjectHandle object : objects) {
                    if (random.percent(60)) {
                        game.object(object).change();
                    }
                }
            });
            for (const ObjectHandle object : objects) {
                const std::uint64_t guid = game.driver().guid_of(game.id_of(object)).value;
                states[1'020 + 20 * tick].emplace(guid, game.object(object));
                std::vector<std::int32_t>& ids = coin_ids[1'020 + 20 * tick][guid];
                for (const Coin& coin : game.object(object).purse.items) {
                    ids.push_back(coin.replication_id);
                }
                std::sort(ids.begin(), ids.end());
            }
        }
        game.driver().stop_recording();
        CHECK(recorder.stats().checkpoints_written > 60);

        ClassScreen<Bazaar> screen(sink.bytes(), game.layout());
        const auto check = [&](std::int64_t ms) {
            INFO("at " << ms << " ms");
            for (const auto& [guid, state] : states.at(ms)) {
                const Bazaar* shown = screen.find_guid(NetGUID{guid});
                REQUIRE(shown != nullptr);
                // Copies, as items that are copied forget their ids.
                REQUIRE(shows_the_same(Bazaar(*shown), Bazaar(state)));
                std::vector<std::int32_t> ids;
                for (const Coin& coin : shown->purse.items) {
                    ids.push_back(coin.replication_id);
                }
                std::sort(ids.begin(), ids.end());
                REQUIRE(ids == coin_ids.at(ms).at(guid));
            }
        };
        for (const auto& [ms, state] : states) {
            REQUIRE(screen.player.advance(NetTime::from_milliseconds(ms)) == ReplayError::None);
            check(ms);
        }
        CHECK(screen.spawned.size() == objects.size());
        for (std::uint32_t i = 0; i < 100; ++i) {
            const std::int64_t ms = 1'020 + 20 * random.below(200);
            REQUIRE(screen.player.seek(NetTime::from_milliseconds(ms)) == ReplayError::None);
            check(ms);
        }
    }
}

// The serializer of this class takes a delta on its own base alone, and refuses all others.
TEST_CASE("Replay: a checkpoint begins the deltas of a custom serializer anew",
          "[netdriver][replay]") {
    ClassGameOptions options;
    options.is_validating = false;  // a note is not sent
    ClassGame<Table> game(build_table, options);
    const ObjectHandle table = game.add();
    game.object(table).scores.note = 1;  // it writes nothing where there is nothing to say
    ReplayMemory sink;
    ReplayRecorderSettings settings;
    settings.checkpoint_ms = 100;
    ReplayRecorder recorder(sink, settings);
    std::map<std::int64_t, ScoreMap> states;
    REQUIRE(game.driver().start_recording(recorder));
    SeededRandom random(3);
    for (std::int64_t tick = 0; tick < 300; ++tick) {
        game.tick([&] {
            // Versions are the object's: those of its deltas are not one behind the other.
            if (random.percent(70)) {
                ++game.object(table).round;
                return;
            }
            ScoreMap& scores = game.object(table).scores.values;
            if (random.percent(40)) {
                scores.clear();  // of what is the archetype's a new connection is told nothing
                return;
            }
            scores[random.below(20)] = static_cast<std::int32_t>(tick);
            scores.erase(random.below(20));
        });
        states[1'020 + 20 * tick] = game.object(table).scores.values;
    }
    game.driver().stop_recording();
    const NetGUID guid = game.driver().guid_of(game.id_of(table));
    ClassScreen<Table> screen(sink.bytes(), game.layout());
    for (const auto& [ms, scores] : states) {
        INFO("at " << ms << " ms");
        REQUIRE(screen.player.advance(NetTime::from_milliseconds(ms)) == ReplayError::None);
        REQUIRE(screen.find_guid(guid)->scores.values == scores);
    }
    for (std::uint32_t i = 0; i < 100; ++i) {
        const std::int64_t ms = 1'020 + 20 * random.below(300);
        INFO("at " << ms << " ms");
        REQUIRE(screen.player.seek(NetTime::from_milliseconds(ms)) == ReplayError::None);
        REQUIRE(screen.find_guid(guid)->scores.values == states.at(ms));
    }
}

}  // namespace replayout::test
