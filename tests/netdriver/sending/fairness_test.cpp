// SPDX-License-Identifier: MIT
//
// Who is sent how soon, when there is more to send than a connection can take.
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/call_game.h"
#include "support/worlds/crate_game.h"
#include "support/worlds/net_fixture.h"

namespace replayout::test {
namespace {

// One way takes five ticks of 20 ms, and an answer comes with the tick after that.
constexpr std::uint32_t one_way_ticks = 5;
constexpr std::uint32_t round_trip_ticks = 11;
// 1,200 bytes a packet: a fragment has 1,136 of them, and two crates of 500 bytes fit.
constexpr std::size_t fragment_size = 1'136;
constexpr std::uint32_t crates_per_packet = 2;
// Shares of the window of 224 packets.
constexpr std::uint32_t packets_for_certain = 56;
constexpr std::uint32_t packets_of_values = 168;

[[nodiscard]] ClassGameOptions slow_answers() {
    ClassGameOptions options;
    options.link.latency_ms = 100;
    options.layout.limits.string_bytes_max = 60'000;
    return options;
}

/// Objects of one kind, which change in every tick.
struct Flood {
    CrateGame& game;
    std::size_t bytes;
    std::vector<ObjectHandle> crates;
    std::uint32_t arrived_count = 0;  ///< changes of contents that the client showed
    std::vector<char> shown;

    Flood(CrateGame& of, std::size_t count, std::size_t content_bytes)
        : game(of), bytes(content_bytes), shown(count, ' ') {
        for (std::size_t i = 0; i < count; ++i) {
            crates.push_back(game.add());
        }
    }
    void change(std::uint32_t tick) {
        for (const ObjectHandle crate : crates) {
            fill(game.object(crate), tick, bytes);
        }
    }
    /// After a tick. How old the oldest is that the client shows; one that it lacks is as old as
    /// can be.
    [[nodiscard]] std::uint32_t look(std::uint32_t tick) {
        std::uint32_t oldest = 0;
        for (std::size_t i = 0; i < crates.size(); ++i) {
            const Crate* seen = game.find_on(0, crates[i]);
            oldest = std::max(oldest, seen == nullptr ? tick : tick - seen->tick);
            const char content = seen == nullptr || seen->content.empty() ? ' ' : seen->content[0];
            arrived_count += content != shown[i] ? 1U : 0U;
            shown[i] = content;
        }
        return oldest;
    }
};

/// Both change for so many ticks. How old the oldest of `watched` was, later than `settled_tick`.
[[nodiscard]] std::uint32_t play_floods(CrateGame& game, Flood& values, Flood& watched,
                                        std::uint32_t ticks, std::uint32_t settled_tick) {
    std::uint32_t oldest = 0;
    for (std::uint32_t tick = 1; tick <= ticks; ++tick) {
        values.change(tick);
        watched.change(tick);
        game.tick();
        (void)values.look(tick);
        const std::uint32_t age = watched.look(tick);
        oldest = tick > settled_tick ? std::max(oldest, age) : oldest;
    }
    return oldest;
}

/// Everything that the client shows in the end.
void check_ends_equal(CrateGame& game, const Flood& flood) {
    game.network().heal();
    REQUIRE(game.settle());
    CHECK(game.client_driver(0).close_reason() == CloseReason::None);
    for (const ObjectHandle crate : flood.crates) {
        CHECK(game.object_on(0, crate).tick == game.object(crate).tick);
        CHECK(game.object_on(0, crate).content == game.object(crate).content);
    }
}

}  // namespace

TEST_CASE("Unreal conformance 10: while the window is full objects take turns, and none starves",
          "[netdriver][fairness]") {
    CrateGame game(build_crate, slow_answers());
    game.join();
    std::vector<ObjectHandle> crates = add_many(600, [&] { return game.add(); });
    // Two crates to a packet, 224 packets to a window, a window to a round trip of eleven ticks:
    // sixty of these objects are far more than the connection takes, in every tick.
    std::uint32_t oldest = 0;
    for (std::uint32_t tick = 1; tick <= 300; ++tick) {
        for (const ObjectHandle crate : crates) {
            fill(game.object(crate), tick, 500);
        }
        game.tick();
        for (const ObjectHandle crate : crates) {
            const Crate* seen = game.find_on(0, crate);
            if (tick > 100) {
                REQUIRE(seen != nullptr);
                oldest = std::max(oldest, tick - seen->tick);
            }
        }
    }
    // A turn of all takes two windows at most; then half a round trip, and what was sent before.
    CHECK(oldest <= 3 * 11);
    CHECK(oldest > 6);
}

TEST_CASE("Unreal conformance 10: under a flood of large values a small object goes out each tick",
          "[netdriver][fairness]") {
    for (const bool is_sharing : {true, false}) {
        ClassGameOptions options = slow_answers();
        options.sharing = sharing_level(is_sharing);
        CrateGame game(build_crate, options);
        game.join();
        Flood values(game, 40, 50'000);
        Flood small(game, 1, 3);
        REQUIRE(game.settle());
        const std::uint64_t bunches_before = game.driver().stats().bunches_sent;
        const std::uint32_t oldest = play_floods(game, values, small, 300, one_way_ticks);
        // It takes one packet a tick, so eleven are under way, and 56 are for certain.
        CHECK(oldest == one_way_ticks);
        // Values have three quarters of the window to themselves, a fragment a packet.
        const std::uint64_t bunches = game.driver().stats().bunches_sent - bunches_before;
        constexpr std::uint32_t fragments_max = 300 * packets_of_values / round_trip_ticks;
        CHECK(bunches >= fragments_max * 9 / 10);
        CHECK(values.arrived_count >= fragments_max * 8 / 10 / (50'000 / fragment_size + 1));
        check_ends_equal(game, values);
    }
}

TEST_CASE("Unreal conformance 10: a flood of large values that get lost holds nobody up either",
          "[netdriver][fairness]") {
    const std::uint64_t first_seed = run_seed();
    for (std::uint64_t seed = first_seed; seed < first_seed + 3; ++seed) {
        INFO("seed " << seed);
        ClassGameOptions options = slow_answers();
        options.seed = seed;
        CrateGame game(build_crate, options);
        game.join();
        Flood values(game, 40, 50'000);
        Flood small(game, 1, 3);
        REQUIRE(game.settle());
        options.link.loss = 0.1;
        game.network().set_settings(options.link);
        const std::uint32_t oldest = play_floods(game, values, small, 150, one_way_ticks);
        // It goes out each tick, and that twelve are lost in a row is one in 10^12.
        CHECK(oldest < one_way_ticks + 12);
        constexpr std::uint32_t fragments_max = 150 * packets_of_values / round_trip_ticks;
        CHECK(values.arrived_count >= fragments_max / 2 / (50'000 / fragment_size + 1));
        check_ends_equal(game, values);
    }
}

TEST_CASE("Unreal conformance 10: objects come and go at once under a flood of large values",
          "[netdriver][fairness]") {
    CrateGame game(build_crate, slow_answers());
    game.join();
    Flood values(game, 40, 50'000);
    REQUIRE(game.settle());
    for (std::uint32_t tick = 1; tick <= 60; ++tick) {
        values.change(tick);
        game.tick();
    }
    std::vector<ObjectHandle> all_fresh;
    // By now megabytes wait, and the window is full but for the share of objects.
    for (std::uint32_t tick = 61; tick <= 80; ++tick) {
        values.change(tick);
        const ObjectHandle fresh = game.add();
        fill(game.object(fresh), tick, 3);
        for (std::uint32_t i = 0; i <= one_way_ticks; ++i) {
            game.tick();
        }
        REQUIRE(game.find_on(0, fresh) != nullptr);
        CHECK(game.object_on(0, fresh).tick == tick);
        all_fresh.push_back(fresh);
    }
    std::uint32_t tick = 80;
    for (const ObjectHandle fresh : all_fresh) {
        values.change(++tick);
        const std::uint64_t closed_count = game.client_driver(0).stats().channels_closed;
        game.remove(fresh);
        for (std::uint32_t i = 0; i <= one_way_ticks; ++i) {
            game.tick();
        }
        CHECK(game.client_driver(0).stats().channels_closed == closed_count + 1);
    }
    check_ends_equal(game, values);
}

TEST_CASE("Unreal conformance 10: under a flood of changes large values have their share",
          "[netdriver][fairness]") {
    CrateGame game(build_crate, slow_answers());
    game.join();
    Flood objects(game, 600, 500);
    Flood values(game, 2, 50'000);
    for (std::uint32_t tick = 1; tick <= 100; ++tick) {
        objects.change(tick);
        game.tick();
    }
    for (std::uint32_t tick = 101; tick <= 400; ++tick) {
        objects.change(tick);
        values.change(tick);
        game.tick();
        (void)values.look(tick);
    }
    // A value waits for the turn of its object, 600 crates in three quarters of the window, then
    // for its share, then for its last fragment.
    constexpr std::uint32_t turn_ticks =
        (600 / (crates_per_packet * packets_of_values) + 1) * round_trip_ticks;
    constexpr std::uint32_t ticks_of_a_value = turn_ticks + 3 * round_trip_ticks;
    CHECK(values.arrived_count >= 2 * (300 / ticks_of_a_value));
    check_ends_equal(game, values);
}

TEST_CASE("Unreal conformance 10: of a flood of both neither starves", "[netdriver][fairness]") {
    for (const double loss : {0.0, 0.05}) {
        ClassGameOptions options = slow_answers();
        options.link.loss = loss;
        CrateGame game(build_crate, options);
        game.join();
        Flood objects(game, 300, 500);
        Flood values(game, 40, 50'000);
        const std::uint32_t oldest = play_floods(game, values, objects, 300, 150);
        // In turn: so many round trips until all had theirs, one more until it begins, one way; and
        // what was lost waits for a turn more.
        constexpr std::uint32_t turn_ticks =
            (300 / (crates_per_packet * packets_for_certain) + 1) * round_trip_ticks;
        const std::uint32_t turns = loss > 0 ? 4 : 1;
        CHECK(oldest <= turns * turn_ticks + round_trip_ticks + one_way_ticks);
        CHECK(values.arrived_count > 25);
        check_ends_equal(game, objects);
        check_ends_equal(game, values);
    }
}

namespace {

/// A game of large and small objects that come, change and go, with random limits and sizes.
/// Returns all that the server sent.
std::vector<Datagram> play_random_game(std::uint64_t seed, bool is_sharing) {
    SeededRandom random(seed);
    NetFixtureOptions options;
    options.seed = seed;
    options.sharing = sharing_level(is_sharing);
    options.link.loss = random.below(4) * 0.1;
    options.link.latency_ms = random.below(100);
    options.link.jitter_ms = random.below(20);
    options.server.packet_bytes_max = random.between(256, 1'400);
    options.server.bunch_bytes_max = random.between(4'000, 60'000);
    options.server.reliable_waiting_max = random.between(1, 1 + random.below(200));
    options.server.reliable_waiting_bytes_max =
        options.server.bunch_bytes_max * random.between(1, 5);
    options.client = options.server;
    NetFixture net(options);
    net.server().transport.is_recording = true;
    net.join();
    std::vector<ObjectHandle> archives;
    for (std::uint32_t step = 0; step < 120; ++step) {
        if (archives.size() < 20 && random.percent(40)) {
            archives.push_back(net.add_archive());
        }
        if (archives.size() > 5 && random.percent(20)) {
            const std::uint32_t index = random.below(static_cast<std::uint32_t>(archives.size()));
            net.remove(archives[index]);
            archives.erase(archives.begin() + index);
        }
        for (const ObjectHandle archive : archives) {
            const std::uint32_t page = random.below(4);
            net.archive(archive).counter = step;
            if (random.percent(30)) {
                net.archive(archive).pages[page].assign(
                    random.below(options.server.bunch_bytes_max - 100),
                    static_cast<char>('a' + step % 26));
            }
        }
        net.tick();
    }
    net.network().heal();
    REQUIRE(net.settle(20'000));
    CHECK(net.client_driver(0).close_reason() == CloseReason::None);
    CHECK(net.client_text(0) == net.server_text());
    return net.server().transport.sent;
}

}  // namespace

TEST_CASE("Unreal conformance 10: whatever the limits and sizes, everything arrives within them",
          "[netdriver][fairness]") {
    const std::uint64_t first_seed = run_seed();
    for (std::uint64_t seed = first_seed; seed < first_seed + 6; ++seed) {
        INFO("seed " << seed);
        const std::vector<Datagram> sent = play_random_game(seed, true);
        CHECK(play_random_game(seed, false) == sent);
    }
}

TEST_CASE("Unreal conformance 10: under a flood of calls a small object goes out each tick",
          "[netdriver][fairness][rpc]") {
    CallFixtureOptions options;
    options.link.latency_ms = 100;
    CallFixture net(options);
    net.join();
    const ObjectHandle called = net.add_owned(0);
    const ObjectHandle small = net.add();
    REQUIRE(net.settle());
    const std::string text(1'000, 'x');
    std::uint32_t oldest = 0;
    std::uint32_t number = 0;
    for (std::uint32_t tick = 1; tick <= 200; ++tick) {
        while (net.call(called, "client_tell", {number, {}, text}) == CallResult::Sent) {
            ++number;
        }
        net.turret(small).power = tick;
        net.tick();
        const std::uint32_t age = tick - net.turret_on(0, small).power;
        oldest = tick > one_way_ticks ? std::max(oldest, age) : oldest;
    }
    CHECK(oldest == one_way_ticks);
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "tell").size() == number);
    // Three quarters of the window, a call a packet.
    CHECK(number > 200 * 168 / round_trip_ticks * 9 / 10);
}

}  // namespace replayout::test
