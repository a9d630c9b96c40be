// SPDX-License-Identifier: MIT
//
// Who joins a world that is there already: a little in each flush, the nearest first, and the
// client is told when it begins and when it has everything.
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/hostile/forged_pawn.h"
#include "support/hostile/forged_peer.h"
#include "support/worlds/spawn_game.h"

namespace replayout::test {
namespace {

[[nodiscard]] NetConfig with_opens(std::uint32_t initial_opens_per_flush_max) {
    NetConfig config;
    config.initial_opens_per_flush_max = initial_opens_per_flush_max;
    return config;
}

[[nodiscard]] std::uint64_t opened_count(SpawnGame& game) {
    return game.server().driver.stats().channels_opened;
}

/// The x of what a client was sent, in that order.
[[nodiscard]] std::vector<std::string> spawned_places(PropHost& client) {
    std::vector<std::string> places;
    const std::string begin = "spawn at ";
    for (const std::string& line : client.world.told) {
        if (line.starts_with(begin)) {
            places.push_back(line.substr(begin.size(), line.find(',') - begin.size()));
        }
    }
    return places;
}

/// Ticks until a client has joined that looks at the world from there.
void join_at(SpawnGame& game, float x) {
    const std::size_t client = game.join();
    PropHost& server = game.server();
    server.world.on_peer_joined = [&server, x](PeerId peer) {
        server.driver.interest().set_viewer(peer, Vector3{x, 0, 0});
    };
    for (int i = 0;
         server.driver.connection_state(SpawnGame::peer_of(client)) != ConnectionState::Joined;
         ++i) {
        REQUIRE(i < 1'000);
        game.tick();
    }
}

[[nodiscard]] Bytes batch_started(std::uint32_t count) {
    return written([&](BitWriter& writer) {
        writer.write_bits(8, 8);
        writer.write_packed_uint(count);
    });
}

[[nodiscard]] Bytes batch_finished() {
    return written([](BitWriter& writer) { writer.write_bits(9, 8); });
}

}  // namespace

TEST_CASE("Initial batch: a client is told before its first object, and when it has the last",
          "[netdriver][initial_batch]") {
    SpawnGame game({}, with_opens(4));
    const std::size_t lonely = game.join();
    REQUIRE(game.settle());
    const std::size_t placed = std::size(SpawnGame::map_names);
    CHECK(game.client(lonely).world.batch_told == std::vector{placed, placed});
    for (int i = 0; i < 20; ++i) {
        game.prop(game.add_at(0)).hp = i;
    }
    const std::size_t client = game.join();
    const NetDriver& driver = game.client(client).driver;
    CHECK_FALSE(driver.initial_batch().is_started);
    std::uint32_t spawned = 0;
    for (int i = 0; !driver.initial_batch().is_finished; ++i) {
        REQUIRE(i < 1'000);
        game.tick();
        const InitialBatchProgress progress = driver.initial_batch();
        CHECK(progress.spawned_count >= spawned);
        CHECK((!progress.is_started || progress.object_count == 20));
        spawned = progress.spawned_count;
    }
    CHECK(spawned == 20);
    CHECK(game.client(client).world.batch_told == std::vector{placed, placed + 20});
    CHECK(game.client(lonely).world.batch_told.size() == 2);  // what came later is of no batch
    CHECK_FALSE(game.server().driver.initial_batch().is_started);
}

TEST_CASE("Initial batch: when it is finished a client has all that was there when it joined",
          "[netdriver][initial_batch]") {
    const std::uint64_t seed = run_seed();
    for (std::uint64_t round = 0; round < 40; ++round) {
        INFO("seed " << seed << ", round " << round);
        SeededRandom random(seed * 100 + round);
        SpawnGame game(bad_link(), with_opens(random.between(1, 30)), seed * 100 + round);
        std::vector<ObjectHandle> props;
        for (int i = 0; i < 60; ++i) {
            props.push_back(game.add_at(static_cast<float>(random.below(100))));
            if (random.percent(30)) {
                props.push_back(game.add_part(props.back()));
            }
        }
        const auto change = [&] {
            for (int i = 0; i < 10; ++i) {
                ++game.prop(random.pick(props)).hp;
            }
        };
        for (int i = 0; i < 5; ++i) {
            change();
            game.tick();
        }
        std::map<ObjectHandle, std::int32_t> at_join;
        game.server().world.on_peer_joined = [&](PeerId) {
            for (const ObjectHandle prop : props) {
                at_join[prop] = game.prop(prop).hp;
            }
        };
        const std::size_t client = game.join();
        bool is_finished = false;
        game.client(client).world.on_batch_finished = [&] {
            is_finished = true;
            for (const ObjectHandle prop : props) {
                CHECK(game.prop_on(client, prop).hp >= at_join.at(prop));
                CHECK(game.prop_on(client, prop).hp <= game.prop(prop).hp);
            }
        };
        for (int i = 0; i < 2'000 && !is_finished; ++i) {
            change();
            game.tick();
        }
        CHECK(is_finished);
        REQUIRE(game.settle());
    }
}

TEST_CASE("Initial batch: while everything moves it is over a round trip after the last object",
          "[netdriver][initial_batch]") {
    const bool is_bad = GENERATE(false, true);
    LinkSettings link = is_bad ? bad_link() : LinkSettings();
    link.latency_ms = 40;
    SpawnGame game(link);
    std::vector<ObjectHandle> props;
    for (int i = 0; i < 300; ++i) {
        props.push_back(game.add_at(static_cast<float>(i)));
    }
    const std::size_t client = game.join();
    const NetDriver& driver = game.client(client).driver;
    int last_spawn_tick = 0;
    int tick = 0;
    for (; !driver.initial_batch().is_finished && tick < 1'000; ++tick) {
        const std::uint32_t before = driver.initial_batch().spawned_count;
        for (const ObjectHandle prop : props) {
            ++game.prop(prop).hp;
        }
        game.tick();
        last_spawn_tick = driver.initial_batch().spawned_count != before ? tick : last_spawn_tick;
    }
    CHECK(driver.initial_batch().spawned_count == 300);
    // There and back, a tick at each end, and on a bad network losses of losses.
    CHECK(tick - last_spawn_tick <= (is_bad ? 60 : 10));
}

TEST_CASE("Initial batch: what is nowhere comes first, then the nearest",
          "[netdriver][initial_batch]") {
    SpawnGame game({}, with_opens(1));
    (void)game.add_at(50);
    (void)game.add_at(-7);
    (void)game.add_at(3);
    const ObjectHandle moving = game.add_at(100);
    (void)game.add_at(8);
    const ObjectHandle rules = game.add(game.layouts().prop());
    game.server().driver.interest().set_location(game.id_of(moving), Vector3{4, 0, 0});
    join_at(game, 5);
    game.tick(2);
    CHECK_FALSE(game.find_on(0, rules).is_null());
    REQUIRE(game.settle());
    CHECK(spawned_places(game.client(0)) == std::vector<std::string>{"100", "3", "8", "-7", "50"});
}

TEST_CASE("Initial batch: without a viewer objects come in their order",
          "[netdriver][initial_batch]") {
    SpawnGame game({}, with_opens(1));
    (void)game.add_at(50);
    (void)game.add_at(1);
    (void)game.add_at(7);
    (void)game.join();
    REQUIRE(game.settle());
    CHECK(spawned_places(game.client(0)) == std::vector<std::string>{"50", "1", "7"});
}

TEST_CASE("Initial batch: no flush opens more than the config says, however many join",
          "[netdriver][initial_batch]") {
    SpawnGame game({}, with_opens(64));
    for (int i = 0; i < 300; ++i) {
        (void)game.add_at(static_cast<float>(i));
    }
    for (int i = 0; i < 8; ++i) {
        (void)game.join();
    }
    std::uint64_t opened = 0;
    for (int i = 0; i < 100; ++i) {
        game.tick();
        CHECK(opened_count(game) - opened <= 64);
        opened = opened_count(game);
    }
    CHECK(opened == 8 * 300);
    REQUIRE(game.settle());
}

TEST_CASE("Initial batch: who joins in turn is served in turn", "[netdriver][initial_batch]") {
    SpawnGame game({}, with_opens(8));
    for (int i = 0; i < 100; ++i) {
        (void)game.add_at(0);
    }
    (void)game.join();
    (void)game.join();
    game.tick(10);
    const auto first = game.client(0).driver.initial_batch();
    const auto second = game.client(1).driver.initial_batch();
    CHECK(first.spawned_count > 20);
    CHECK(first.spawned_count == second.spawned_count);
    CHECK_FALSE(first.is_finished);
}

TEST_CASE("Initial batch: an object that comes later does not wait behind it",
          "[netdriver][initial_batch]") {
    SpawnGame game({}, with_opens(1));
    for (int i = 0; i < 100; ++i) {
        (void)game.add_at(0);
    }
    join_at(game, 0);
    game.tick(3);
    const ObjectHandle rocket = game.add_at(1'000);
    game.tick(2);
    CHECK_FALSE(game.find_on(0, rocket).is_null());
    CHECK_FALSE(game.client(0).driver.initial_batch().is_finished);
}

TEST_CASE("Initial batch: what ends, hides, sleeps or is torn off meanwhile is not waited for",
          "[netdriver][initial_batch]") {
    SpawnGame game({}, with_opens(1));
    std::vector<ObjectHandle> props;
    for (int i = 0; i < 12; ++i) {
        props.push_back(game.add_at(static_cast<float>(i)));
    }
    const ObjectHandle part = game.add_part(props[9]);
    join_at(game, 0);
    game.tick(2);
    NetDriver& driver = game.server().driver;
    game.remove(props[11]);
    driver.interest().set_relevant_for(SpawnGame::peer_of(0), game.id_of(props[10]), false);
    driver.remove_object(game.id_of(part));
    driver.set_dormancy(game.id_of(props[8]), NetDormancy::DormantAll);
    driver.tear_off(game.id_of(props[7]));
    const ObjectHandle in_its_place = game.add_at(99);
    REQUIRE(game.settle());
    CHECK(game.client(0).driver.initial_batch().is_finished);
    CHECK(game.find_on(0, props[10]).is_null());
    CHECK(game.find_on(0, props[7]).is_null());
    CHECK_FALSE(game.find_on(0, props[8]).is_null());  // asleep, but sent once
    CHECK_FALSE(game.find_on(0, in_its_place).is_null());
    driver.interest().set_relevant_for(SpawnGame::peer_of(0), game.id_of(props[10]), true);
    REQUIRE(game.settle());
    CHECK_FALSE(game.find_on(0, props[10]).is_null());
}

TEST_CASE("Initial batch: an object comes with its parts", "[netdriver][initial_batch]") {
    SpawnGame game({}, with_opens(1));
    std::vector<ObjectHandle> parts;
    for (int i = 0; i < 10; ++i) {
        const ObjectHandle whole = game.add_at(static_cast<float>(i));
        parts.push_back(game.add_part(whole));
        parts.push_back(game.add_part(parts.back()));
    }
    join_at(game, 0);
    std::uint64_t opened = opened_count(game);
    for (int i = 0; i < 8; ++i) {
        game.tick();
        CHECK(opened_count(game) - opened <= 3);
        opened = opened_count(game);
    }
    CHECK(opened > 20);
    REQUIRE(game.settle());
    for (const ObjectHandle part : parts) {
        CHECK_FALSE(game.find_on(0, part).is_null());
    }
}

TEST_CASE("Initial batch: each value is encoded once, however many join and when",
          "[netdriver][initial_batch][sharing]") {
    const auto values_encoded = [](int client_count) {
        SpawnGame game({}, with_opens(16));
        for (int i = 0; i < 100; ++i) {
            game.prop(game.add_at(0)).hp = i;
        }
        for (int i = 0; i < client_count; ++i) {
            (void)game.join();
            game.tick();
        }
        REQUIRE(game.settle());
        CHECK(game.server().driver.stats().replication.values_reused >=
              static_cast<std::uint64_t>(client_count - 1) * 100);
        return game.server().driver.stats().replication.values_encoded;
    };
    const std::uint64_t of_one = values_encoded(1);
    CHECK(of_one == 100);
    CHECK(values_encoded(12) == of_one);
}

TEST_CASE("Hostile: the initial batch starts once, and is finished once", "[netdriver][hostile]") {
    ForgedServer server;
    if (const bool is_early = GENERATE(false, true); is_early) {
        server.deliver_packet({control_bunch(1, batch_started(3))});
        CHECK(server.driver().close_reason() == CloseReason::NotAllowed);
        return;
    }
    server.welcome();
    SECTION("as it should be") {
        server.deliver_packet(
            {control_bunch(2, batch_started(3)), control_bunch(3, batch_finished())});
        CHECK(server.is_joined());
        CHECK(server.driver().initial_batch().is_finished);
        SECTION("finished again") {
            server.deliver_packet({control_bunch(4, batch_finished())});
            CHECK(server.driver().close_reason() == CloseReason::NotAllowed);
        }
        SECTION("started again") {
            server.deliver_packet({control_bunch(4, batch_started(3))});
            CHECK(server.driver().close_reason() == CloseReason::NotAllowed);
        }
    }
    SECTION("finished before it started") {
        server.deliver_packet({control_bunch(2, batch_finished())});
        CHECK(server.driver().close_reason() == CloseReason::NotAllowed);
    }
    SECTION("with something behind it") {
        Bytes started = batch_started(3);
        started.push_back(std::byte{0});
        server.deliver_packet({control_bunch(2, started)});
        CHECK(server.driver().close_reason() == CloseReason::NotAllowed);
    }
    SECTION("of more objects than an index can say") {
        const Bytes started = written([](BitWriter& writer) {
            writer.write_bits(8, 8);
            writer.write_packed_uint(std::uint64_t{1} << 32);
        });
        server.deliver_packet({control_bunch(2, started)});
        CHECK(server.driver().close_reason() == CloseReason::NotAllowed);
    }
}

}  // namespace replayout::test
