// SPDX-License-Identifier: MIT
//
// Who is sent how often where a connection's cap is reached, and what a game is told of it.
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/crate_game.h"
#include "support/worlds/net_fixture.h"
#include "support/worlds/spawn_game.h"

namespace replayout::test {
namespace {

constexpr std::uint32_t ticks_per_second = 50;

/// Crates that change in every tick, and what the first client shows of them.
struct Flood {
    explicit Flood(CrateGame& of, std::size_t count) : game(of), shown(count), updates(count) {
        for (std::size_t i = 0; i < count; ++i) {
            crates.push_back(game.add());
        }
    }
    void tick() {
        ++now;
        for (const ObjectHandle crate : crates) {
            game.object(crate).tick = now;
        }
        game.tick();
        for (std::size_t i = 0; i < crates.size(); ++i) {
            const std::uint32_t seen = game.object_on(0, crates[i]).tick;
            updates[i] += seen != shown[i] ? 1u : 0u;
            shown[i] = seen;
        }
    }
    void play(std::uint32_t ticks) {
        for (; ticks > 0; --ticks) {
            tick();
        }
    }
    void forget() { updates.assign(crates.size(), 0); }
    /// Updates of every second crate, beginning with that one.
    [[nodiscard]] std::uint32_t updates_from(std::size_t first) const {
        std::uint32_t sum = 0;
        for (std::size_t i = first; i < updates.size(); i += 2) {
            sum += updates[i];
        }
        return sum;
    }

    CrateGame& game;
    std::vector<ObjectHandle> crates;
    std::vector<std::uint32_t> shown;
    std::vector<std::uint32_t> updates;
    std::uint32_t now = 0;
};

[[nodiscard]] OwedReason reason(CrateGame& game, ObjectHandle crate) {
    return game.driver().rates().owed_to(CrateGame::peer_of(0), game.id_of(crate)).reason;
}

}  // namespace

TEST_CASE("Priority: with twice the priority an object is sent twice as often, and none starves",
          "[netdriver][rates]") {
    CrateGame game(build_crate);
    game.join();
    Flood flood(game, 1'000);  // five packets hold them
    REQUIRE(game.settle());
    for (std::size_t i = 0; i < flood.crates.size(); i += 2) {
        game.driver().rates().set_net_priority(game.id_of(flood.crates[i]), 2);
    }
    set_cap(game, 20'000);
    flood.play(20 * ticks_per_second);
    flood.forget();
    flood.play(40 * ticks_per_second);
    const std::uint32_t high = flood.updates_from(0);
    const std::uint32_t low = flood.updates_from(1);
    CHECK(high * 10 >= low * 16);
    CHECK(high * 10 <= low * 30);
    CHECK(*std::min_element(flood.updates.begin(), flood.updates.end()) > 30);
}

TEST_CASE("Priority: what is near a client's viewer is sent more often than what is far",
          "[netdriver][rates]") {
    CrateGame game(build_crate);
    game.join();
    Flood flood(game, 1'000);  // five packets hold them
    REQUIRE(game.settle());
    for (std::size_t i = 0; i < flood.crates.size(); ++i) {
        const float x = i % 2 == 0 ? 30.0f : 350.0f;  // beyond 100 and 200, a quarter
        game.driver().interest().set_location(game.id_of(flood.crates[i]), {x, 0, 0});
    }
    game.driver().interest().set_viewer(CrateGame::peer_of(0), {0, 0, 0});
    set_cap(game, 20'000);
    flood.play(20 * ticks_per_second);
    flood.forget();
    flood.play(20 * ticks_per_second);
    CHECK(flood.updates_from(0) < flood.updates_from(1) * 5 / 4);

    game.driver().rates().set_priority_distance(100);
    flood.play(20 * ticks_per_second);
    flood.forget();
    flood.play(40 * ticks_per_second);
    CHECK(flood.updates_from(0) >= flood.updates_from(1) * 3);
    CHECK(*std::min_element(flood.updates.begin(), flood.updates.end()) > 15);
}

TEST_CASE("Priority: in a flat world nothing is far away for being high up", "[netdriver][rates]") {
    const InterestAxes axes = GENERATE(InterestAxes::XY, InterestAxes::XZ, InterestAxes::XYZ);
    ClassGameOptions options;
    options.interest.axes = axes;
    CrateGame game(build_crate, options);
    game.join();
    Flood flood(game, 1'000);
    REQUIRE(game.settle());
    Interest interest = game.driver().interest();
    interest.set_viewer(CrateGame::peer_of(0), {0, 0, 0});
    interest.set_location(game.id_of(flood.crates[0]), {10, 10, 10});
    interest.set_location(game.id_of(flood.crates[1]), {150, 0, 0});
    interest.set_location(game.id_of(flood.crates[2]), {0, 150, 0});
    interest.set_location(game.id_of(flood.crates[3]), {0, 0, 150});
    game.driver().rates().set_priority_distance(100);
    set_cap(game, 20'000);
    flood.play(10 * ticks_per_second);
    const auto step_down = [&](std::size_t crate) {
        const NetObjectId id = game.id_of(flood.crates[crate]);
        return game.driver().rates().owed_to(CrateGame::peer_of(0), id).step_down;
    };
    REQUIRE(step_down(0) > 0);
    CHECK(step_down(1) == step_down(0) + 1);
    CHECK(step_down(2) == step_down(0) + (axes == InterestAxes::XZ ? 0u : 1u));
    CHECK(step_down(3) == step_down(0) + (axes == InterestAxes::XY ? 0u : 1u));
}

TEST_CASE("Priority: that of a class is of objects added later, and of a part that of its outer",
          "[netdriver][rates]") {
    SpawnGame game;
    const std::size_t client = game.join();
    NetRates rates = game.server().driver.rates();
    const ObjectHandle ordinary = game.add(game.layouts().prop());
    rates.set_class_net_priority(game.layouts().prop(), 0.25f);
    const ObjectHandle later = game.add(game.layouts().prop());
    const ObjectHandle part = game.add_part(ordinary);
    std::vector<ObjectHandle> others;
    for (int i = 0; i < 200; ++i) {
        others.push_back(game.add(game.layouts().prop()));
    }
    REQUIRE(game.settle());
    rates.set_bytes_per_second_max(SpawnGame::peer_of(client), 5'000);
    for (std::int32_t tick = 0; tick < 500; ++tick) {
        game.tick([&] {
            for (const ObjectHandle prop : others) {
                game.prop(prop).hp = tick;
            }
        });
    }
    const auto step_down = [&](ObjectHandle prop) {
        return rates.owed_to(SpawnGame::peer_of(client), game.id_of(prop)).step_down;
    };
    CHECK(step_down(later) == step_down(ordinary) + 2);
    CHECK(step_down(part) == step_down(ordinary));
}

TEST_CASE("Priority: no object waits longer than promised, whatever is lost",
          "[netdriver][rates]") {
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    SeededRandom random(seed);
    for (int round = 0; round < 8; ++round) {
        ClassGameOptions options;
        options.seed = seed + static_cast<std::uint64_t>(round);
        options.link.latency_ms = 30;
        CrateGame game(build_crate, options);
        game.join();
        Flood flood(game, random.between(20, 200));
        // What a block takes of packets: its values, its head, and its part of what a packet has.
        std::uint64_t bytes = 0;
        for (const ObjectHandle crate : flood.crates) {
            const std::uint32_t size = random.between(0, 150);
            game.object(crate).content.assign(size, 'x');
            game.driver().rates().set_net_priority(
                game.id_of(crate), 1.0f / static_cast<float>(1u << random.below(4)));
            bytes += 12 + 2;
        }
        REQUIRE(game.settle());
        LinkSettings link;
        link.latency_ms = 30;
        const bool is_losing = round % 2 == 1;
        link.loss = is_losing ? 0.1 : 0;
        game.network().set_settings(link);
        const std::uint32_t cap = random.between(2'000, 30'000);
        INFO("cap " << cap << ", crates " << flood.crates.size());
        set_cap(game, cap);
        flood.play(60 * ticks_per_second);  // the pressure settles
        std::vector<std::uint32_t> step_down(flood.crates.size());
        std::vector<std::uint32_t> oldest(flood.crates.size());
        for (std::uint32_t tick = 0; tick < 60 * ticks_per_second; ++tick) {
            flood.tick();
            for (std::size_t i = 0; i < flood.crates.size(); ++i) {
                const OwedUpdate owed = game.driver().rates().owed_to(CrateGame::peer_of(0),
                                                                      game.id_of(flood.crates[i]));
                step_down[i] = std::max(step_down[i], owed.step_down);
                oldest[i] = std::max(oldest[i], flood.now - flood.shown[i]);
            }
        }
        const std::uint64_t per_flush = std::uint64_t{cap} * 29 / 32 / ticks_per_second;
        const std::uint64_t cycle = (bytes + per_flush - 1) / per_flush + 1;
        for (std::size_t i = 0; i < flood.crates.size(); ++i) {
            // On its way; where packets get lost, again and again.
            const std::uint64_t bound =
                (cycle << step_down[i]) * (is_losing ? 4 : 1) + (is_losing ? 20 : 4);
            CHECK(oldest[i] <= bound);
        }
    }
}

TEST_CASE(
    "Priority: an object with a frequency is not stepped down as if it were sent in each tick",
    "[netdriver][rates]") {
    CrateGame game(build_crate);
    game.join();
    Flood flood(game, 1'000);
    const ObjectHandle door = game.add();
    REQUIRE(game.settle());
    NetRates rates = game.driver().rates();
    rates.set_net_update_frequency(game.id_of(door), {2});
    set_cap(game, 20'000);
    flood.play(20 * ticks_per_second);
    const auto step_down = [&](ObjectHandle crate) {
        return rates.owed_to(CrateGame::peer_of(0), game.id_of(crate)).step_down;
    };
    const std::uint32_t of_others = step_down(flood.crates.front());
    REQUIRE(of_others >= 3);
    CHECK(step_down(door) == of_others - std::min(of_others, 4u));  // 25 ticks a look
    // As late as any other: a look, and what all wait for.
    const auto ticks_until_there = [&](bool is_forced) {
        std::uint32_t longest = 0;
        for (std::uint32_t value = 1; value <= 10; ++value) {
            flood.play(53);
            game.object(door).tick += value;
            if (is_forced) {
                rates.force_net_update(game.id_of(door));
            }
            std::uint32_t ticks = 0;
            while (game.object_on(0, door).tick != game.object(door).tick) {
                REQUIRE(ticks < 2'000);
                flood.tick();
                ++ticks;
            }
            longest = std::max(longest, ticks);
        }
        return longest;
    };
    CHECK(ticks_until_there(false) <= 25 + (4u << of_others));
    CHECK(ticks_until_there(true) <= 2u << of_others);
}

TEST_CASE("Priority: what is spawned has its values, whatever is lost and however little fits",
          "[netdriver][rates]") {
    const std::uint32_t cap = GENERATE(3'000u, 20'000u);
    CAPTURE(cap);
    ClassGameOptions options;
    options.seed = run_seed();
    INFO("seed " << options.seed);
    options.link.latency_ms = 40;
    CrateGame game(build_crate, options);
    game.join();
    Flood flood(game, 50);
    REQUIRE(game.settle());
    LinkSettings link = options.link;
    link.loss = 0.02;
    game.network().set_settings(link);
    set_cap(game, cap);
    flood.play(10 * ticks_per_second);
    std::vector<ObjectHandle> fresh;
    for (int i = 0; i < 60; ++i) {
        fresh.push_back(game.add());
        game.object(fresh.back()).tick = 7;
        game.object(fresh.back()).content.assign(100, 'x');
    }
    std::vector<std::uint32_t> bare(fresh.size());
    std::size_t shown = 0;
    for (std::uint32_t tick = 0; tick < 60 * ticks_per_second && shown < fresh.size(); ++tick) {
        flood.tick();
        shown = 0;
        for (std::size_t i = 0; i < fresh.size(); ++i) {
            const Crate* crate = game.find_on(0, fresh[i]);
            bare[i] += crate != nullptr && crate->tick == 0 ? 1u : 0u;
            shown += crate != nullptr && crate->tick == 7 ? 1u : 0u;
        }
    }
    CHECK(shown == fresh.size());
    // Where the block was lost, a round trip; and what a packet has to wait for at such a cap.
    const std::uint32_t packet_ticks = 1'200 * ticks_per_second / (cap / 4);
    CHECK(*std::max_element(bare.begin(), bare.end()) <= 12 + 2 * packet_ticks);
}

TEST_CASE("Priority: beside new objects of a higher priority none starves", "[netdriver][rates]") {
    CrateGame game(build_crate);
    game.join();
    const ObjectHandle pawn = game.add();
    REQUIRE(game.settle());
    set_cap(game, 20'000);
    game.driver().rates().set_class_net_priority(game.layout(), 2);
    std::vector<ObjectHandle> shots;
    std::uint32_t shown = 0;
    std::uint32_t wait = 0;
    std::uint32_t longest = 0;
    for (std::uint32_t tick = 1; tick <= 120 * ticks_per_second; ++tick) {
        game.tick([&] {
            game.object(pawn).tick = tick;
            for (int i = 0; i < 30; ++i) {
                shots.push_back(game.add());
                game.object(shots.back()).tick = tick;
            }
            if (shots.size() > 600) {
                std::for_each(shots.begin(), shots.begin() + 30,
                              [&](ObjectHandle shot) { game.remove(shot); });
                shots.erase(shots.begin(), shots.begin() + 30);
            }
        });
        const std::uint32_t seen = game.object_on(0, pawn).tick;
        wait = seen != shown ? 0 : wait + 1;
        shown = seen;
        longest = std::max(longest, wait);
    }
    CHECK(longest <= 2 * ticks_per_second);
}

TEST_CASE("Priority: clients that step down share what they are sent", "[netdriver][rates]") {
    constexpr std::size_t clients = 10;
    ClassGameOptions options;
    options.link.loss = 0.02;
    options.link.latency_ms = 40;
    CrateGame game(build_crate, options);
    for (std::size_t i = 0; i < clients; ++i) {
        game.join();
    }
    Flood flood(game, 300);
    REQUIRE(game.settle());
    for (std::size_t i = 0; i < clients; ++i) {
        set_cap(game, 20'000, i);
    }
    flood.play(10 * ticks_per_second);
    const ReplicationCounters before = game.driver().stats().replication;
    flood.play(30 * ticks_per_second);
    const ReplicationCounters& after = game.driver().stats().replication;
    const auto reused = static_cast<double>(after.payloads_reused - before.payloads_reused);
    const auto blocks = static_cast<double>(after.blocks_sent - before.blocks_sent);
    const double most = 1.0 - 1.0 / clients;
    INFO("reused " << reused / blocks);
    CHECK(reused / blocks >= 0.95 * most);
}

TEST_CASE("Priority: without a cap it changes no byte, with one sharing does not",
          "[netdriver][rates]") {
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    const auto play = [&](std::uint32_t cap, bool is_sharing, bool has_priorities) {
        NetFixtureOptions options;
        options.seed = seed;
        options.sharing = sharing_level(is_sharing);
        options.link.loss = 0.05;
        options.link.latency_ms = 30;
        options.server.bytes_per_second_max = cap;
        NetFixture net(options);
        net.server().transport.is_recording = true;
        SeededRandom random(seed);
        SeededRandom priorities(seed + 1);
        std::vector<ObjectHandle> pawns = add_many(150, [&] { return net.add_pawn(); });
        for (int i = 0; i < 3; ++i) {
            net.join();
        }
        NetRates rates = net.server_driver().rates();
        for (std::uint32_t tick = 0; tick < 400; ++tick) {
            for (std::uint32_t i = random.below(200); i > 0; --i) {
                ++net.pawn(random.pick(pawns)).health;
            }
            if (has_priorities) {
                const NetObjectId id = net.id_of(priorities.pick(pawns));
                rates.set_net_priority(id, static_cast<float>(priorities.between(1, 40)) / 8.0f);
                rates.set_priority_distance(static_cast<float>(priorities.below(100)));
                net.server_driver().interest().set_location(
                    id, {static_cast<float>(priorities.below(1'000)), 0, 0});
                net.server_driver().interest().set_viewer(
                    NetFixture::client_peer(priorities.below(3)),
                    {static_cast<float>(priorities.below(1'000)), 0, 0});
            }
            net.tick();
        }
        return net.server().transport.sent;
    };
    CHECK((play(10'000, true, true) == play(10'000, false, true)));
    CHECK((play(40'000, true, true) == play(40'000, false, true)));
    CHECK((play(0, true, false) == play(0, true, true)));
}

TEST_CASE("Owed: a game can ask what a client lacks, and why", "[netdriver][rates]") {
    CrateGame game(build_crate);
    const ObjectHandle crate = game.add();
    const NetObjectId id = game.id_of(crate);
    CHECK(reason(game, crate) == OwedReason::NotJoined);
    game.join();
    Flood flood(game, 300);
    REQUIRE(game.settle());
    CHECK(reason(game, crate) == OwedReason::Nothing);
    const ObjectHandle fresh = game.add();
    CHECK(reason(game, fresh) == OwedReason::NotDue);

    NetDriver& driver = game.driver();
    // It has what the last look found, whenever the next one is.
    driver.rates().set_net_update_frequency(id, {0.1f});
    game.tick();
    CHECK(reason(game, crate) == OwedReason::Nothing);
    driver.rates().set_net_update_frequency(id, {});

    driver.interest().set_relevant_for(CrateGame::peer_of(0), id, false);
    game.tick();
    CHECK(reason(game, crate) == OwedReason::NotRelevant);
    driver.interest().set_relevant_for(CrateGame::peer_of(0), id, true);
    REQUIRE(game.settle());
    driver.set_dormancy(id, NetDormancy::DormantAll);
    REQUIRE(game.settle());
    CHECK(reason(game, crate) == OwedReason::Dormant);
    driver.set_dormancy(id, NetDormancy::Awake);
    REQUIRE(game.settle());

    set_cap(game, 3'000);
    flood.tick();
    std::uint32_t missed = 0;
    for (const ObjectHandle other : flood.crates) {
        missed += reason(game, other) == OwedReason::NoBudget ? 1u : 0u;
    }
    CHECK(missed > 100);
    flood.play(20 * ticks_per_second);
    std::uint32_t stepped_down = 0;
    for (const ObjectHandle other : flood.crates) {
        stepped_down += reason(game, other) == OwedReason::SteppedDown ? 1u : 0u;
    }
    CHECK(stepped_down > 100);
    CHECK(driver.rates().owed_to(CrateGame::peer_of(0), id).step_down > 3);
    set_cap(game, 0);
    REQUIRE(game.settle());
    CHECK(reason(game, flood.crates.front()) == OwedReason::Nothing);
}

TEST_CASE("Owed: what is new to a client waits for the next flush, and does not step down",
          "[netdriver][rates]") {
    const bool is_capped = GENERATE(false, true);
    CrateGame game(build_crate);
    game.join();
    Flood flood(game, 300);
    const ObjectHandle crate = game.add();
    REQUIRE(game.settle());
    set_cap(game, is_capped ? 3'000 : 0);
    Interest interest = game.driver().interest();
    interest.set_relevant_for(CrateGame::peer_of(0), game.id_of(crate), false);
    flood.play(20 * ticks_per_second);
    interest.set_relevant_for(CrateGame::peer_of(0), game.id_of(crate), true);
    CHECK(reason(game, crate) == OwedReason::NotDue);
    flood.tick();
    CHECK(reason(game, crate) == (is_capped ? OwedReason::NoBudget : OwedReason::Nothing));
}

TEST_CASE("Owed: what waits for the one that had its name waits for another object",
          "[netdriver][rates]") {
    const std::uint32_t cap = GENERATE(0u, 100'000u);
    LinkSettings link;
    link.latency_ms = 200;
    SpawnGame game(link);
    const std::size_t client = game.join();
    ObjectHandle door = game.announce("door");
    REQUIRE(game.settle());
    NetRates rates = game.server().driver.rates();
    rates.set_bytes_per_second_max(SpawnGame::peer_of(client), cap);
    game.remove(door);
    (void)game.add(game.layouts().prop());  // in the door's place
    (void)game.server().world.place("door");
    door = game.announce("door");
    game.tick(5);
    CHECK(rates.owed_to(SpawnGame::peer_of(client), game.id_of(door)).reason ==
          OwedReason::WaitsForObject);
    REQUIRE(game.settle());
    CHECK(rates.owed_to(SpawnGame::peer_of(client), game.id_of(door)).reason ==
          OwedReason::Nothing);
}

TEST_CASE("Owed: an open that is held back, as too many are on their way, waits for the window",
          "[netdriver][rates]") {
    NetFixtureOptions options;
    options.server.bytes_per_second_max = GENERATE(0u, 100'000u);
    options.server.reliable_waiting_max = 8;
    options.link.latency_ms = 300;
    NetFixture net(options);
    net.join_settled();
    std::vector<ObjectHandle> pawns = add_many(40, [&] { return net.add_pawn(); });
    const auto owed = [&](ObjectHandle pawn) {
        return net.server_driver().rates().owed_to(NetFixture::client_peer(0), net.id_of(pawn));
    };
    net.tick(3);
    CHECK(owed(pawns.front()).reason == OwedReason::Nothing);
    CHECK(owed(pawns.back()).reason == OwedReason::WindowFull);
    REQUIRE(net.settle());
    CHECK(owed(pawns.back()).reason == OwedReason::Nothing);
}

TEST_CASE("Owed: a full window, and an initial batch that is not over, are told",
          "[netdriver][rates]") {
    CrateGame game(build_crate);
    game.join();
    Flood flood(game, 300);
    REQUIRE(game.settle());
    LinkSettings link;
    link.latency_ms = 5'000;  // nothing is acknowledged for long
    game.network().set_settings(link);
    std::uint32_t full = 0;
    for (std::uint32_t tick = 1; tick <= 100 && full == 0; ++tick) {
        for (const ObjectHandle crate : flood.crates) {
            game.object(crate).tick = tick;
            game.object(crate).content.assign(200, static_cast<char>('a' + tick % 26));
        }
        game.tick();
        full += reason(game, flood.crates.back()) == OwedReason::WindowFull ? 1u : 0u;
    }
    CHECK(full > 0);

    NetFixtureOptions options;
    options.server.initial_opens_per_flush_max = 1;
    NetFixture net(options);
    std::vector<ObjectHandle> pawns = add_many(20, [&] { return net.add_pawn(); });
    net.join();
    REQUIRE(net.tick_until([&] { return net.server_driver().connection_count() == 1; }));
    const auto owed =
        net.server_driver().rates().owed_to(NetFixture::client_peer(0), net.id_of(pawns.back()));
    CHECK(owed.reason == OwedReason::Joining);
    REQUIRE(net.settle());
}

}  // namespace replayout::test
