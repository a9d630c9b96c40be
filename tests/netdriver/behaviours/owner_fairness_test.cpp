// SPDX-License-Identifier: MIT
//
// What an owner decides arrives in turns, within a bound, at any frame rate; and no rate ends an
// honest client.
#include <replayout/netdriver/net_rates.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "support/checks/run_seed.h"
#include "support/worlds/arena_game.h"
#include "support/worlds/ledger_game.h"

namespace replayout::test {
namespace {

/// Milliseconds of a game without loss: a round of turns, a flush of each end, and one more.
[[nodiscard]] std::int64_t bound_ms(std::size_t part_count, std::uint32_t frames_per_second) {
    const NetConfig config;
    return static_cast<std::int64_t>(2 * part_count * 1'000 / config.client_updates_per_second_max +
                                     4 * 1'000 / frames_per_second + 4);
}

/// A tick takes whole milliseconds here, so this is near the rate.
[[nodiscard]] ArenaOptions at(std::uint32_t frames_per_second, double loss, std::uint64_t seed) {
    ArenaOptions options;
    options.tick_ms = 1'000 / frames_per_second;
    options.link.loss = loss;
    options.seed = seed;
    return options;
}

/// Milliseconds until `is_there`; what moves goes on moving.
[[nodiscard]] std::int64_t time_until(ArenaGame& game, std::int64_t tick_ms,
                                      const std::function<void()>& move,
                                      const std::function<bool()>& is_there) {
    std::int64_t time_ms = 0;
    while (!is_there() && time_ms < 60'000) {
        move();
        game.tick();
        time_ms += tick_ms;
    }
    return time_ms;
}

struct Owner {
    explicit Owner(const ArenaOptions& options, std::size_t count)
        : game(options, add_ledgers({})) {
        game.join();
        game.settle();
        for (std::size_t i = 0; i < count; ++i) {
            objects.push_back(&game.spawn(game.types().find("Ledger"), &game.connection(0)));
        }
        game.settle();
        game.tick(50);
    }
    [[nodiscard]] Ledger& own(std::size_t i) {
        NetworkIdentity* shown = game.on_client(0, *objects[i]);
        REQUIRE(shown != nullptr);
        return shown->component<Ledger>(1);
    }
    [[nodiscard]] Ledger& at_server(std::size_t i) { return objects[i]->component<Ledger>(1); }
    void move_all() {
        ++time;
        for (std::size_t i = 0; i < objects.size(); ++i) {
            own(i).value = time;
        }
    }

    ArenaGame game;
    std::vector<NetworkIdentity*> objects;
    std::int32_t time = 0;
};

}  // namespace

TEST_CASE("Owner fairness: whatever moves in each frame, an item and another object arrive in time",
          "[behaviours]") {
    const std::uint32_t frames = GENERATE(30u, 50u, 60u, 144u, 240u);
    CAPTURE(frames);
    const ArenaOptions options = at(frames, 0, 1);
    Owner owner(options, 5);
    for (int i = 0; i < 100; ++i) {
        owner.move_all();
        owner.game.tick();
    }
    for (std::int32_t item = 1; item <= 10; ++item) {
        (void)owner.own(0).list.add(item);
        (void)owner.own(1).book.set(1, item);
        (void)owner.own(4).set.add(item);
        const std::int64_t time_ms = time_until(
            owner.game, options.tick_ms, [&] { owner.move_all(); },
            [&] {
                return newest(owner.at_server(0), 'l') == item &&
                       newest(owner.at_server(1), 'b') == item &&
                       newest(owner.at_server(4), 's') == item;
            });
        CHECK(time_ms <= bound_ms(8, frames));
        // What moves is not held up for it either.
        for (std::size_t i = 0; i < owner.objects.size(); ++i) {
            const std::int64_t behind_ms =
                (owner.time - owner.at_server(i).value.get()) * options.tick_ms;
            CHECK(behind_ms <= bound_ms(8, frames));
        }
    }
}

TEST_CASE("Owner fairness: where enough changes, updates use the whole rate", "[behaviours]") {
    const ArenaOptions options = at(50, 0, 1);
    Owner owner(options, 100);
    for (int i = 0; i < 100; ++i) {
        owner.move_all();
        owner.game.tick();
        if (i > 20) {
            for (std::size_t object = 0; object < owner.objects.size(); ++object) {
                const std::int64_t behind_ms =
                    (owner.time - owner.at_server(object).value.get()) * options.tick_ms;
                CHECK(behind_ms <= bound_ms(100, 50));
            }
        }
    }
    // 1,000 a second, for two seconds.
    CHECK(owner.game.client(0).driver().stats().calls_sent > 1'500);
    CHECK(owner.game.server().driver().connection_count() == 1);
}

TEST_CASE("Owner fairness: under loss and at any rate everything that an owner writes arrives",
          "[behaviours][random]") {
    for (const std::uint64_t seed : seed_range(1, 8)) {
        CAPTURE(seed);
        SeededRandom random(seed);
        constexpr std::uint32_t rates[] = {30, 50, 60, 144, 240};
        const std::uint32_t frames = random.pick(rates);
        const ArenaOptions options = at(frames, 0.01 * static_cast<double>(random.below(31)), seed);
        CAPTURE(frames, options.link.loss);
        Owner owner(options, 1 + random.below(20));
        std::int32_t item = 0;
        for (int round = 0; round < 6; ++round) {
            const std::size_t chosen =
                random.below(static_cast<std::uint32_t>(owner.objects.size()));
            Ledger& own = owner.own(chosen);
            switch (++item; random.below(3)) {
                case 0:
                    (void)own.list.add(item);
                    break;
                case 1:
                    (void)own.book.set(item % 3, item);
                    break;
                default:
                    (void)own.set.add(item);
            }
            const std::int64_t time_ms = time_until(
                owner.game, options.tick_ms, [&] { owner.move_all(); },
                [&] {
                    const Ledger& server = owner.at_server(chosen);
                    return std::max({newest(server, 'l'), newest(server, 'b'),
                                     newest(server, 's')}) == item;
                });
            // A loss is noticed and repaired in a few round trips; calls of one object keep order.
            CHECK(time_ms <= bound_ms(owner.objects.size() + 1, frames) + 2'500);
        }
        REQUIRE(owner.game.server().driver().connection_count() == 1);
    }
}

TEST_CASE("Honest clients: a command in each frame, whatever the frame rate, ends nobody",
          "[behaviours]") {
    const std::uint32_t frames = GENERATE(60u, 75u, 144u, 240u);
    const bool is_reliable = GENERATE(true, false);
    CAPTURE(frames, is_reliable);
    const ArenaOptions options = at(frames, 0, 1);
    Owner owner(options, 1);
    const LogSpy log(LogLevel::Warning);
    std::uint32_t sent = 0;
    std::uint32_t refused = 0;
    const std::int64_t ticks = 20'000 / options.tick_ms;
    for (std::int64_t tick = 0; tick < ticks; ++tick) {
        Ledger& own = owner.own(0);
        const CallResult result = is_reliable ? own.call<&Ledger::cmd_check>(counts_of(own))
                                              : own.call<&Ledger::cmd_glance>();
        sent += result == CallResult::Sent ? 1u : 0u;
        refused += result == CallResult::Full ? 1u : 0u;
        owner.game.tick();
    }
    owner.game.tick(20);
    REQUIRE(owner.game.server().driver().connection_count() == 1);
    CHECK(sent + refused == static_cast<std::uint32_t>(ticks));
    CHECK(owner.at_server(0).call_count == sent);
    const NetConfig config;
    const std::uint32_t rate = config.function_calls_per_second_max;
    const std::uint32_t most = 20 * rate + config.function_calls_burst_max;
    CHECK(sent >= std::min(20 * rate, static_cast<std::uint32_t>(ticks)) - 2);
    CHECK(sent <= most + 2);
    CHECK(owner.game.server().driver().stats().calls_over_rate == 0);
    // A caller that is refused gets the reason once in the log.
    CHECK(LogSpy::messages().size() == (refused > 0 ? 1u : 0u));
}

TEST_CASE("Honest clients: no stall of the line or of the server below the timeout ends anybody",
          "[behaviours]") {
    const std::int64_t stall_ms = GENERATE(2'000, 5'000, 9'000);
    const bool is_line = GENERATE(true, false);
    CAPTURE(stall_ms, is_line);
    const ArenaOptions options = at(60, 0, 1);
    Owner owner(options, 3);
    std::uint32_t sent = 0;
    std::uint32_t glances = 0;
    const auto play = [&] {
        owner.move_all();
        Ledger& own = owner.own(0);
        (void)own.list.add(owner.time);
        if (own.list.size() > 5) {
            (void)own.list.remove_at(0);
        }
        sent += own.call<&Ledger::cmd_check>(counts_of(own)) == CallResult::Sent ? 1u : 0u;
        glances += owner.own(1).call<&Ledger::cmd_glance>() == CallResult::Sent ? 1u : 0u;
    };
    for (int round = 0; round < 2; ++round) {
        for (int tick = 0; tick < 300; ++tick) {
            play();
            owner.game.tick();
        }
        if (is_line) {
            LinkSettings dead;
            dead.loss = 1;
            owner.game.network().set_settings(dead);
        }
        for (std::int64_t time_ms = 0; time_ms < stall_ms; time_ms += options.tick_ms) {
            play();
            if (is_line) {
                owner.game.tick();
            } else {
                owner.game.tick_clients();
            }
        }
        owner.game.network().set_settings(LinkSettings());
    }
    for (int tick = 0; tick < 300; ++tick) {
        play();
        owner.game.tick();
    }
    REQUIRE(owner.game.server().driver().connection_count() == 1);
    owner.game.settle();
    owner.game.tick(100);
    CHECK(owner.at_server(0).call_count == sent);
    CHECK(owner.at_server(0).stale_count == 0);
    CHECK(owner.at_server(1).call_count <= glances);
    CHECK(owner.at_server(0).list.items() == owner.own(0).list.items());
    for (std::size_t i = 0; i < owner.objects.size(); ++i) {
        CHECK(owner.at_server(i).value == owner.time);
    }
}

TEST_CASE("Calls: one slow reader ends alone, and delays neither lists nor calls of others",
          "[behaviours]") {
    ArenaOptions options;
    ArenaGame game(options, add_ledgers({}));
    for (int i = 0; i < 4; ++i) {
        game.join();
    }
    game.settle();
    NetworkIdentity& object = game.spawn(game.types().find("Plain"));
    game.settle();
    game.server().driver().rates().set_bytes_per_second_max(ArenaGame::client_peer(0), 1'800);
    Ledger& server = object.component<Ledger>(0);
    std::int32_t count = 0;
    std::uint32_t refused = 0;
    std::uint32_t calls = 0;
    for (int tick = 0; tick < 15'000; ++tick) {  // five minutes
        ++count;
        (void)server.list.add(count);
        if (server.list.size() > 10) {
            (void)server.list.remove_at(0);
        }
        const CallResult result = server.call<&Ledger::rpc_check>(counts_of(server));
        calls += result == CallResult::Sent ? 1u : 0u;
        refused += result == CallResult::Sent ? 0u : 1u;
        game.tick();
        for (std::size_t client = 1; client < 4; ++client) {
            const Ledger& shown = game.on_client(client, object)->component<Ledger>(0);
            // What was sent in this tick arrives with the next.
            if (newest(shown, 'l') < count - 1 || shown.call_count + 1 < calls) {
                FAIL("client " << client << " is behind in tick " << tick);
            }
        }
    }
    CHECK(refused == 0);
    CHECK(game.server().driver().connection_count() == 3);
    const auto stalled = static_cast<std::size_t>(CloseReason::CallsStalled);
    CHECK(game.server().driver().stats().closed[stalled] == 1);
    for (std::size_t client = 1; client < 4; ++client) {
        CHECK(game.on_client(client, object)->component<Ledger>(0).stale_count == 0);
    }
}

}  // namespace replayout::test
