// SPDX-License-Identifier: MIT
//
// Custom deltas over a network. The serializer of these tests refuses a delta on any base but its
// own, which closes the connection; so a game that ends equal proves each base, too.
#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/types/delta_types.h"
#include "support/worlds/class_game.h"

namespace replayout::test {
namespace {

using TableGame = ClassGame<Table>;

void edit(Table& table, SeededRandom& random, std::uint32_t key_count) {
    const std::uint32_t key = random.below(key_count);
    switch (random.below(4)) {
        case 0:
            table.scores.values.erase(key);
            return;
        case 1:
            ++table.round;
            return;
        default:
            table.scores.values[key] = static_cast<std::int32_t>(random.bits());
            return;
    }
}

void check_equal(TableGame& game, ObjectHandle object) {
    for (std::size_t client = 0; client < game.client_count(); ++client) {
        INFO("client " << client);
        CHECK(game.object_on(client, object).scores == game.object(object).scores);
        CHECK(game.object_on(client, object).round == game.object(object).round);
    }
}

void play_tables(std::uint64_t seed, std::uint32_t key_count) {
    INFO("seed " << seed << ", " << key_count << " keys");
    ClassGameOptions options;
    options.seed = seed;
    options.sharing = sharing_level(seed % 2 == 0);
    options.link.loss = 0.25;
    options.link.duplicate = 0.1;
    options.link.reorder = 0.1;
    options.link.latency_ms = 70;
    options.link.jitter_ms = 30;
    TableGame game(build_table, options);
    SeededRandom random(seed);
    game.join();
    game.join();
    const ObjectHandle table = game.add();
    for (std::uint32_t tick = 0; tick < 400; ++tick) {
        for (std::uint32_t i = random.below(4); i > 0; --i) {
            edit(game.object(table), random, key_count);
        }
        if (tick == 150 || tick == 300) {
            game.join();
        }
        game.tick();
    }
    game.network().set_settings(LinkSettings());
    REQUIRE(game.settle());
    check_equal(game, table);
}

}  // namespace

TEST_CASE("Net delta: every client ends equal over a network that loses, late joiners included",
          "[netdriver][net_delta]") {
    const std::uint64_t seed = run_seed();
    for (std::uint64_t round = 0; round < 6; ++round) {
        play_tables(seed * 100 + round, 12);
    }
}

TEST_CASE("Net delta: a value too large for a packet travels reliably, and the rest as deltas",
          "[netdriver][net_delta]") {
    const std::uint64_t seed = run_seed();
    ClassGameOptions options;
    options.seed = seed;
    options.link.loss = 0.25;
    options.link.latency_ms = 50;
    TableGame game(build_table, options);
    SeededRandom random(seed);
    game.join();
    const ObjectHandle table = game.add();
    for (std::uint32_t burst = 0; burst < 5; ++burst) {
        for (std::uint32_t key = 0; key < 600; ++key) {
            game.object(table).scores.values[burst * 1'000 + key] = static_cast<std::int32_t>(key);
        }
        for (std::uint32_t tick = 0; tick < 30; ++tick) {
            edit(game.object(table), random, 5'000);
            game.tick();
        }
    }
    game.join();
    game.network().set_settings(LinkSettings());
    REQUIRE(game.settle());
    check_equal(game, table);
}

TEST_CASE("Net delta: connections in the same state are served by one call",
          "[netdriver][net_delta]") {
    TableGame game(build_table);
    const ObjectHandle table = game.add();
    for (std::uint32_t client = 0; client < 16; ++client) {
        game.join();
    }
    game.object(table).scores.values = {{1, 10}, {2, 20}};
    REQUIRE(game.settle());
    for (std::int32_t round = 1; round <= 5; ++round) {
        const std::uint64_t calls = Scores::calls;
        game.object(table).scores.values[2] += round;
        game.tick();
        CHECK(Scores::calls == calls + 1);
    }
    REQUIRE(game.settle());
    check_equal(game, table);
}

TEST_CASE("Net delta: a channel that is used again begins with the archetype",
          "[netdriver][net_delta]") {
    TableGame game(build_table);
    game.join();
    const ObjectHandle first = game.add();
    game.object(first).scores.values = {{1, 10}};
    REQUIRE(game.settle());
    game.remove(first);
    const ObjectHandle second = game.add();
    game.object(second).scores.values = {{2, 20}};
    REQUIRE(game.settle());
    check_equal(game, second);
}

TEST_CASE("Net delta: what has nothing to say lets the world come to rest",
          "[netdriver][net_delta]") {
    TableGame game(build_table);
    game.join();
    const ObjectHandle table = game.add();
    game.object(table).scores.values = {{1, 10}};
    REQUIRE(game.settle());
    for (const std::uint32_t note : {1u, 2u}) {
        game.object(table).scores.note = note;
        REQUIRE(game.settle());
    }
    game.object(table).scores.values[1] = 11;
    REQUIRE(game.settle());
    CHECK(game.object_on(0, table).scores.values == game.object(table).scores.values);
}

}  // namespace replayout::test
