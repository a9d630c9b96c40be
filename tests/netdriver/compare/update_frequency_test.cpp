// SPDX-License-Identifier: MIT
//
// How often objects are looked at: what waits for that, and what does not.
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"
#include "support/checks/heap_count.h"
#include "support/worlds/call_game.h"
#include "support/worlds/class_game.h"
#include "support/worlds/spawn_game.h"

namespace replayout::test {
namespace {

struct Clock {
    std::uint32_t time = 0;
};

[[nodiscard]] Result<const Type*> build_clock(TypeRegistry& registry) {
    return class_builder<Clock>(registry, "Clock").property<&Clock::time>().build();
}

using ClockGame = ClassGame<Clock>;

constexpr std::uint32_t ticks_per_second = 50;  // of ClassGame
constexpr std::uint32_t hop_ticks = 2;          // to a client, the tick of the change included

/// Ticks in which the object at the client changed, while it changes at the server in each.
[[nodiscard]] std::vector<std::uint32_t> changes_on(ClockGame& game, std::size_t client,
                                                    ObjectHandle clock, std::uint32_t ticks) {
    std::vector<std::uint32_t> changes;
    for (std::uint32_t tick = 0; tick < ticks; ++tick) {
        const std::uint32_t before = game.object_on(client, clock).time;
        game.tick([&] { ++game.object(clock).time; });
        if (game.object_on(client, clock).time != before) {
            changes.push_back(tick);
        }
    }
    return changes;
}

/// Ticks until the client shows what the server has.
[[nodiscard]] std::uint32_t ticks_until_equal(ClockGame& game, ObjectHandle clock) {
    for (std::uint32_t tick = 1; tick < 1'000; ++tick) {
        game.tick();
        const Clock* shown = game.find_on(0, clock);
        if (shown != nullptr && shown->time == game.object(clock).time) {
            return tick;
        }
    }
    return 1'000;
}

/// Looked at once in five seconds, and not soon.
[[nodiscard]] ObjectHandle add_slow(ClockGame& game) {
    const ObjectHandle clock = game.add();
    game.driver().rates().set_net_update_frequency(game.id_of(clock), {0.2f});
    REQUIRE(game.settle());
    const std::uint64_t looks = game.lookup_count();
    while (game.lookup_count() == looks) {
        game.tick();
    }
    return clock;
}

}  // namespace

TEST_CASE("Update frequency: an object is looked at and sent so often, to all in the same ticks",
          "[netdriver][rates]") {
    ClockGame game(build_clock);
    for (int i = 0; i < 3; ++i) {
        game.join();
    }
    const ObjectHandle clock = game.add();
    const NetObjectId id = game.id_of(clock);
    game.driver().rates().set_net_update_frequency(id, {5});
    CHECK(game.driver().rates().net_update_frequency_of(id) == NetUpdateFrequency{5});
    REQUIRE(game.settle());

    const std::uint64_t looks = game.lookup_count();
    const ReplicationCounters before = game.driver().stats().replication;
    const std::uint64_t sent = game.driver().stats().records_sent;
    const std::vector<std::uint32_t> changes = changes_on(game, 0, clock, 10 * ticks_per_second);
    CHECK(changes.size() == 50);
    for (std::size_t i = 1; i < changes.size(); ++i) {
        CHECK(changes[i] - changes[i - 1] == 10);
    }
    CHECK(game.lookup_count() - looks == 50);
    CHECK(game.driver().stats().records_sent - sent == 3 * 50);
    const ReplicationCounters& counters = game.driver().stats().replication;
    CHECK(counters.payloads_built - before.payloads_built == 50);
    CHECK(counters.payloads_reused - before.payloads_reused == 2 * 50);
    CHECK(game.object_on(1, clock).time == game.object_on(0, clock).time);
    CHECK(game.object_on(2, clock).time == game.object_on(0, clock).time);

    game.driver().rates().set_net_update_frequency(id, {});
    CHECK(changes_on(game, 0, clock, 20).size() >= 19);
}

TEST_CASE("Update frequency: of 5,000 objects once a second each tick looks at its hundredth",
          "[netdriver][rates]") {
    ClockGame game(build_clock);
    game.driver().rates().set_class_net_update_frequency(game.layout(), {1});
    game.join();
    for (int i = 0; i < 5'000; ++i) {
        (void)game.add();
    }
    REQUIRE(game.settle());
    for (std::uint32_t tick = 0; tick < 2 * ticks_per_second; ++tick) {
        const std::uint64_t looks = game.lookup_count();
        const std::uint64_t compared = game.driver().stats().replication.objects_compared;
        game.tick();
        CHECK(game.lookup_count() - looks >= 90);
        CHECK(game.lookup_count() - looks <= 110);
        CHECK(game.driver().stats().replication.objects_compared - compared <= 110);
    }
}

TEST_CASE("Update frequency: that of a class is of objects added later", "[netdriver][rates]") {
    ClockGame game(build_clock);
    const ObjectHandle before = game.add();
    game.driver().rates().set_class_net_update_frequency(game.layout(), {2, 1});
    const ObjectHandle after = game.add();
    const NetRates rates = game.driver().rates();
    CHECK(rates.net_update_frequency_of(game.id_of(before)) == NetUpdateFrequency{});
    CHECK(rates.net_update_frequency_of(game.id_of(after)) == NetUpdateFrequency{2, 1});
}

TEST_CASE("Update frequency: a part has that of its outer, and its ticks", "[netdriver][rates]") {
    SpawnGame game;
    game.join();
    const ObjectHandle crate = game.add(game.layouts().prop());
    const ObjectHandle early = game.add_part(crate);
    NetRates rates = game.server().driver.rates();
    rates.set_net_update_frequency(game.id_of(crate), {4});
    const ObjectHandle late = game.add_part(crate);
    CHECK(rates.net_update_frequency_of(game.id_of(early)) == NetUpdateFrequency{4});
    CHECK(rates.net_update_frequency_of(game.id_of(late)) == NetUpdateFrequency{4});
    REQUIRE(game.settle());
    std::uint32_t changes = 0;
    for (int tick = 0; tick < 100; ++tick) {
        const auto before = game.prop_on(0, crate).hp;
        game.tick([&] {
            ++game.prop(crate).hp;
            game.prop(early).hp = game.prop(crate).hp;
            game.prop(late).hp = game.prop(crate).hp;
        });
        changes += game.prop_on(0, crate).hp != before ? 1u : 0u;
        CHECK(game.prop_on(0, early).hp == game.prop_on(0, crate).hp);
        CHECK(game.prop_on(0, late).hp == game.prop_on(0, crate).hp);
    }
    CHECK(changes == 8);
}

TEST_CASE("Update frequency: what does not change is looked at more rarely, until it does",
          "[netdriver][rates]") {
    ClockGame game(build_clock);
    game.join();
    const ObjectHandle clock = game.add();
    game.driver().rates().set_net_update_frequency(game.id_of(clock), {50, 2});
    CHECK(changes_on(game, 0, clock, 0).empty());
    REQUIRE(game.settle());
    for (std::uint32_t tick = 0; tick < 10 * ticks_per_second; ++tick) {
        game.tick();
    }
    const std::uint64_t looks = game.lookup_count();
    for (std::uint32_t tick = 0; tick < 10 * ticks_per_second; ++tick) {
        game.tick();
    }
    // Every 16 periods: the power of two below 25.
    CHECK(game.lookup_count() - looks >= 30);
    CHECK(game.lookup_count() - looks <= 32);
    ++game.object(clock).time;
    CHECK(ticks_until_equal(game, clock) <= 16 + hop_ticks);
    CHECK(changes_on(game, 0, clock, 50).size() >= 48);
}

TEST_CASE("Update frequency: a new object does not wait, nor one that is opened later",
          "[netdriver][rates]") {
    ClockGame game(build_clock);
    game.join();
    REQUIRE(game.settle());
    game.driver().rates().set_class_net_update_frequency(game.layout(), {0.2f});
    const ObjectHandle clock = game.add();
    game.object(clock).time = 7;
    CHECK(ticks_until_equal(game, clock) <= hop_ticks);
    const std::size_t late = game.join();
    REQUIRE(game.settle());
    CHECK(game.object_on(late, clock).time == 7);
}

TEST_CASE("Update frequency: force_net_update looks in the next flush", "[netdriver][rates]") {
    ClockGame game(build_clock);
    game.join();
    const ObjectHandle clock = add_slow(game);
    ++game.object(clock).time;
    for (int i = 0; i < 20; ++i) {
        game.tick();
    }
    CHECK(game.object_on(0, clock).time != game.object(clock).time);
    game.driver().rates().force_net_update(game.id_of(clock));
    CHECK(ticks_until_equal(game, clock) <= hop_ticks);
    // Its own ticks stay what they were.
    ++game.object(clock).time;
    CHECK(ticks_until_equal(game, clock) > 100);
}

TEST_CASE("Update frequency: what was lost does not wait", "[netdriver][rates]") {
    ClockGame game(build_clock);
    game.join();
    const ObjectHandle clock = add_slow(game);
    ++game.object(clock).time;
    game.driver().rates().force_net_update(game.id_of(clock));
    LinkSettings link;
    link.loss = 1;
    game.network().set_settings(link);
    game.tick();
    game.network().set_settings(LinkSettings());
    CHECK(ticks_until_equal(game, clock) <= 30);
}

TEST_CASE("Update frequency: dormancy does not wait, neither its begin nor a flush",
          "[netdriver][rates]") {
    ClockGame game(build_clock);
    game.join();
    const ObjectHandle clock = add_slow(game);
    const NetObjectId id = game.id_of(clock);
    ++game.object(clock).time;
    game.driver().set_dormancy(id, NetDormancy::DormantAll);
    REQUIRE(game.settle());
    CHECK(game.driver().is_dormant_for(ClockGame::peer_of(0), id));
    CHECK(game.object_on(0, clock).time == game.object(clock).time);
    ++game.object(clock).time;
    game.driver().flush_dormancy(id);
    CHECK(ticks_until_equal(game, clock) <= 5);
    REQUIRE(game.settle());
    ++game.object(clock).time;
    game.driver().rates().force_net_update(id);  // flushes it, too
    CHECK(ticks_until_equal(game, clock) <= 5);
    REQUIRE(game.settle());
    // What is dormant is not looked at when its turn comes.
    const std::uint64_t looks = game.lookup_count();
    for (std::uint32_t tick = 0; tick < 12 * ticks_per_second; ++tick) {
        game.tick();
    }
    CHECK(game.lookup_count() == looks);
    ++game.object(clock).time;
    game.driver().set_dormancy(id, NetDormancy::Awake);
    CHECK(ticks_until_equal(game, clock) <= 5);
    ++game.object(clock).time;
    const std::uint32_t ticks = ticks_until_equal(game, clock);
    CHECK(ticks > 5);
    CHECK(ticks <= 5 * ticks_per_second + hop_ticks);
}

TEST_CASE("Update frequency: a torn off object is sent as it is at its end", "[netdriver][rates]") {
    SpawnGame game;
    game.join();
    const ObjectHandle prop = game.add(game.layouts().prop());
    game.server().driver.rates().set_net_update_frequency(game.id_of(prop), {0.2f});
    REQUIRE(game.settle());
    const ObjectHandle shown = game.find_on(0, prop);
    game.prop(prop).hp = 1;
    game.server().driver.tear_off(game.id_of(prop));
    game.tick();
    game.server().world.remove(prop);  // its memory is not asked for any more
    REQUIRE(game.settle());
    CHECK(game.client(0).world.told.back() == "despawn: tear-off");
    CHECK(game.client(0).world.at(shown).hp == 1);
}

TEST_CASE("Update frequency: a call comes with what its object, and those it names, are then",
          "[netdriver][rates]") {
    CallFixture game;
    game.join();
    const ObjectHandle turret = game.add();
    const ObjectHandle target = game.add();
    NetRates rates = game.server().driver.rates();
    rates.set_net_update_frequency(game.id_of(turret), {0.1f});
    rates.set_net_update_frequency(game.id_of(target), {0.1f});
    REQUIRE(game.settle());
    for (std::uint32_t i = 1; i <= 20; ++i) {
        game.turret(turret).power = i;
        game.turret(target).power = 100 + i;
        Order order;
        order.number = i;
        order.target = target;
        const char* function = i % 2 == 0 ? "multicast_boom" : "multicast_flash";
        REQUIRE(game.call(turret, function, order) != CallResult::Full);
        game.tick(3);
    }
    const std::vector<HeardCall>& heard = game.client(0).world.heard;
    REQUIRE(heard.size() == 20);
    for (const HeardCall& call : heard) {
        CHECK(call.power == call.number);
        CHECK(call.target_power == 100 + call.number);
    }
}

TEST_CASE("Update frequency: a warm game takes no memory", "[netdriver][rates]") {
    CountingResource resource;
    ClassGameOptions options;
    options.resource = &resource;
    options.is_validating = false;
    ClockGame game(build_clock, options);
    game.driver().rates().set_class_net_update_frequency(game.layout(), {7, 1});
    game.join();
    std::vector<ObjectHandle> clocks = add_many(300, [&] { return game.add(); });
    REQUIRE(game.settle());
    const auto play = [&](std::uint32_t ticks) {
        for (std::uint32_t tick = 0; tick < ticks; ++tick) {
            for (std::size_t i = tick % 5; i < clocks.size(); i += 5) {
                ++game.object(clocks[i]).time;
            }
            game.tick();
        }
    };
    play(1'000);
    const DefaultResourceScope scope(resource);
    const std::uint64_t taken = resource.allocation_count();
    const std::uint64_t heap = heap_allocation_count();
    play(1'000);
    const std::uint64_t heap_taken = heap_allocation_count() - heap;
    CHECK(resource.allocation_count() == taken);
    CHECK(heap_taken == 0);
}

}  // namespace replayout::test
