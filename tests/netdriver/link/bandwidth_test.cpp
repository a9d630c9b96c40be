// SPDX-License-Identifier: MIT
//
// What a connection with a cap sends: how much, to whom first, and what becomes of the rest.
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/byte_meter.h"
#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"
#include "support/checks/heap_count.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/hostile/packet_forge.h"
#include "support/worlds/call_game.h"
#include "support/worlds/crate_game.h"
#include "support/worlds/net_fixture.h"

namespace replayout::test {
namespace {

constexpr std::uint32_t ticks_per_second = ByteMeter::ticks_per_second;
constexpr std::size_t packet_bytes = 1'200;

/// A tick of which the bytes to each client are counted.
void metered_tick(NetFixture& net, std::vector<ByteMeter>& meters) {
    ScriptedTransport& transport = net.server().transport;
    transport.is_recording = true;
    transport.sent.clear();
    net.tick();
    transport.is_recording = false;
    transport.received.clear();
    std::vector<std::size_t> bytes(meters.size());
    for (const Datagram& datagram : transport.sent) {
        bytes[datagram.peer.value - NetFixture::client_peer(0).value] += datagram.bytes.size();
    }
    for (std::size_t i = 0; i < meters.size(); ++i) {
        meters[i].tick(bytes[i]);
    }
}

[[nodiscard]] ClassGameOptions crate_options() {
    ClassGameOptions options;
    options.link.latency_ms = 40;
    options.layout.limits.string_bytes_max = 30'000;
    return options;
}

}  // namespace

TEST_CASE("Bandwidth: no second has more than the cap and one packet, whatever happens",
          "[netdriver][bandwidth]") {
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    SeededRandom random(seed);
    for (int game = 0; game < 6; ++game) {
        NetFixtureOptions options;
        options.seed = seed + static_cast<std::uint64_t>(game);
        options.link.loss = 0.02 * game;
        options.link.latency_ms = 30;
        options.server.bytes_per_second_max = 40'000;
        NetFixture net(options);
        std::vector<ObjectHandle> pawns = add_many(300, [&] { return net.add_pawn(); });
        const std::uint32_t caps[] = {40'000, random.between(1'800, 9'000),
                                      random.between(9'000, 200'000)};
        std::vector<ByteMeter> meters(3);
        for (std::size_t i = 0; i < meters.size(); ++i) {
            net.join();
        }
        bool are_caps_set = false;
        for (std::uint32_t tick = 0; tick < 12 * ticks_per_second; ++tick) {
            if (!are_caps_set && net.server_driver().connection_count() == 3) {
                are_caps_set = true;
                for (std::size_t i = 0; i < meters.size(); ++i) {
                    net.server_driver().rates().set_bytes_per_second_max(NetFixture::client_peer(i),
                                                                         caps[i]);
                }
                meters.assign(3, ByteMeter());
            }
            const std::uint32_t moves = random.percent(30) ? 0 : random.below(300);
            for (std::uint32_t i = 0; i < moves; ++i) {
                net.pawn(random.pick(pawns)).health = static_cast<std::int32_t>(tick);
            }
            if (random.percent(5)) {
                const std::size_t place = random.below(static_cast<std::uint32_t>(pawns.size()));
                net.remove(pawns[place]);
                pawns[place] = net.add_pawn();
            }
            metered_tick(net, meters);
        }
        REQUIRE(are_caps_set);
        for (std::size_t i = 0; i < meters.size(); ++i) {
            INFO("cap " << caps[i]);
            CHECK(net.client_driver(i).close_reason() == CloseReason::None);
            // The first second may have packets of before the cap was set.
            CHECK(meters[i].most <= caps[i] + packet_bytes);
        }
        net.network().heal();
        for (std::size_t i = 0; i < meters.size(); ++i) {
            net.server_driver().rates().set_bytes_per_second_max(NetFixture::client_peer(i), 0);
        }
        REQUIRE(net.settle());
        for (std::size_t i = 0; i < meters.size(); ++i) {
            CHECK(net.client_text(i) == net.server_text());
        }
    }
}

TEST_CASE("Bandwidth: session after session of a peer has no more than the cap of one",
          "[netdriver][bandwidth]") {
    constexpr std::uint32_t cap = 20'000;
    for (const std::uint32_t ticks_a_session : {1u, 2u, 3u, 7u}) {
        INFO("ticks a session " << ticks_a_session);
        NetFixtureOptions options;
        options.server.bytes_per_second_max = cap;
        NetFixture net(options);
        for (int i = 0; i < 500; ++i) {
            (void)net.add_pawn();
        }
        net.join();
        ByteMeter meter;
        for (std::uint32_t tick = 1; tick <= 4 * ticks_per_second; ++tick) {
            const std::uint64_t before = net.server_driver().stats().bytes_sent;
            net.tick();
            meter.tick(static_cast<std::size_t>(net.server_driver().stats().bytes_sent - before));
            if (tick % ticks_a_session == 0) {
                net.restart(0);
            }
        }
        CHECK(meter.most <= cap + packet_bytes);
        REQUIRE(net.settle());
        CHECK(net.client_text(0) == net.server_text());
    }
}

TEST_CASE("Bandwidth: while there is something to send nine tenths of a cap are used",
          "[netdriver][bandwidth]") {
    for (const std::uint32_t cap : {3'000u, 20'000u, 200'000u}) {
        NetFixtureOptions options;
        options.server.bytes_per_second_max = cap;
        NetFixture net(options);
        std::vector<ObjectHandle> pawns = add_many(1'000, [&] { return net.add_pawn(); });
        net.join();
        net.tick_for_ms(3'000);
        std::vector<ByteMeter> meters(1);
        for (std::uint32_t tick = 0; tick < 10 * ticks_per_second; ++tick) {
            for (const ObjectHandle pawn : pawns) {
                ++net.pawn(pawn).health;
            }
            metered_tick(net, meters);
        }
        INFO("cap " << cap);
        CHECK(meters[0].total + packet_bytes >= 10 * cap / 10 * 9);
        CHECK(meters[0].most <= cap + packet_bytes);
    }
}

TEST_CASE("Bandwidth: with a cap sharing changes no byte either", "[netdriver][bandwidth]") {
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    const auto play = [&](bool is_sharing) {
        NetFixtureOptions options;
        options.seed = seed;
        options.sharing = sharing_level(is_sharing);
        options.link.loss = 0.05;
        options.link.latency_ms = 30;
        options.server.bytes_per_second_max = 15'000;
        options.server.has_congestion_control = true;
        NetFixture net(options);
        net.server().transport.is_recording = true;
        SeededRandom random(seed);
        std::vector<ObjectHandle> pawns = add_many(200, [&] { return net.add_pawn(); });
        for (int i = 0; i < 3; ++i) {
            net.join();
        }
        for (std::uint32_t tick = 0; tick < 400; ++tick) {
            for (std::uint32_t i = random.below(200); i > 0; --i) {
                ++net.pawn(random.pick(pawns)).health;
            }
            net.tick();
        }
        return net.server().transport.sent;
    };
    CHECK((play(true) == play(false)));
}

TEST_CASE("Bandwidth: under a flood of large values objects have their share, and the other way",
          "[netdriver][bandwidth]") {
    const bool are_objects_many = GENERATE(false, true);
    CrateGame game(build_crate, crate_options());
    game.join();
    std::vector<ObjectHandle> large;
    std::vector<ObjectHandle> small;
    for (int i = 0; i < 20; ++i) {
        large.push_back(game.add());
    }
    for (int i = 0; i < (are_objects_many ? 400 : 1); ++i) {
        small.push_back(game.add());
    }
    REQUIRE(game.settle());
    set_cap(game, 100'000);
    std::uint32_t oldest = 0;
    std::uint32_t large_count = 0;
    std::vector<std::uint32_t> shown(large.size());
    for (std::uint32_t tick = 1; tick <= 20 * ticks_per_second; ++tick) {
        for (const ObjectHandle crate : large) {
            fill(game.object(crate), tick, 20'000);
        }
        for (const ObjectHandle crate : small) {
            fill(game.object(crate), tick, 30);
        }
        game.tick();
        for (std::size_t i = 0; i < large.size(); ++i) {
            const char first = game.object_on(0, large[i]).content.empty()
                                   ? ' '
                                   : game.object_on(0, large[i]).content.front();
            large_count += static_cast<std::uint32_t>(first) != shown[i] ? 1u : 0u;
            shown[i] = static_cast<std::uint32_t>(first);
        }
        if (tick > 5 * ticks_per_second) {
            for (const ObjectHandle crate : small) {
                oldest = std::max(oldest, tick - game.object_on(0, crate).tick);
            }
        }
    }
    CHECK(game.client_driver(0).close_reason() == CloseReason::None);
    // A quarter of 90,000 bytes for 20 s are 22 values of 20,000; the rest goes the same way where
    // objects leave it.
    CHECK(large_count >= (are_objects_many ? 18 : 60));
    // 400 crates of 40 bytes are 16,000, in a quarter of 90,000 a second.
    CHECK(oldest <= (are_objects_many ? ticks_per_second * 3 / 2 : 10));
}

TEST_CASE("Bandwidth: who joins a world that changes gets all of it, and sees it change meanwhile",
          "[netdriver][bandwidth]") {
    NetFixtureOptions options;
    options.server.bytes_per_second_max = 30'000;
    NetFixture net(options);
    std::vector<ObjectHandle> pawns = add_many(600, [&] { return net.add_pawn(); });
    net.join();
    const auto is_there = [&](ObjectHandle pawn) { return !net.find_on(0, pawn).is_null(); };
    std::uint32_t tick = 0;
    std::uint32_t changes_seen = 0;
    std::int32_t shown = 0;
    while (!std::all_of(pawns.begin(), pawns.end(), is_there) && tick < 1'000) {
        ++tick;
        for (const ObjectHandle pawn : pawns) {
            ++net.pawn(pawn).health;
        }
        net.tick();
        if (is_there(pawns.front())) {
            const std::int32_t now_shown = net.pawn_on(0, pawns.front()).health;
            changes_seen += now_shown != shown ? 1u : 0u;
            shown = now_shown;
        }
    }
    // 600 opens of some 20 bytes in a quarter of 27,000 bytes a second, which is less than two
    // seconds, though there is always something else to send.
    CHECK(tick > 20);
    CHECK(tick <= 4 * ticks_per_second);
    CHECK(changes_seen >= 2);
    REQUIRE(net.settle());
    CHECK(net.client_text(0) == net.server_text());
}

TEST_CASE("Bandwidth: calls that find no room are refused, and never end a connection",
          "[netdriver][bandwidth]") {
    CallFixtureOptions options;
    options.server.bytes_per_second_max = 1'800;
    options.server.calls_waiting_max = 64;
    CallFixture game(options);
    const ObjectHandle turret = game.join_with_turret();
    std::uint32_t accepted = 0;
    std::uint32_t refused = 0;
    for (std::uint32_t tick = 0; tick < 20 * ticks_per_second; ++tick) {
        for (int i = 0; i < 3; ++i) {
            Order order;
            order.number = accepted + 1;
            order.text.assign(20, 'x');
            const CallResult result = game.call(turret, "client_tell", order);
            if (result == CallResult::Sent) {
                ++accepted;
            } else {
                REQUIRE(result == CallResult::Full);
                ++refused;
            }
        }
        game.tick();
    }
    CHECK(refused > 1'000);
    CHECK(accepted > 20 * 1'600 / 60);
    REQUIRE(game.settle(10'000));
    CHECK(game.client(0).driver.close_reason() == CloseReason::None);
    const Numbers numbers = heard(game.client(0), "tell");
    REQUIRE(numbers.size() == accepted);
    CHECK(std::is_sorted(numbers.begin(), numbers.end()));
}

TEST_CASE("Bandwidth: under a flood of calls objects have their share", "[netdriver][bandwidth]") {
    CallFixtureOptions options;
    options.server.bytes_per_second_max = 20'000;
    CallFixture game(options);
    const ObjectHandle turret = game.join_with_turret();
    const ObjectHandle other = game.add();
    REQUIRE(game.settle());
    std::uint32_t oldest = 0;
    for (std::uint32_t tick = 1; tick <= 10 * ticks_per_second; ++tick) {
        for (int i = 0; i < 20; ++i) {
            Order order;
            order.number = tick;
            order.text.assign(100, 'x');
            (void)game.call(turret, "client_tell", order);
        }
        game.turret(other).power = tick;
        game.tick();
        if (tick > 100) {
            oldest = std::max(oldest, tick - game.turret_on(0, other).power);
        }
    }
    // While a packet of 1,200 bytes is paid for, 66 ms, and a tick or two.
    CHECK(oldest <= 8);
    CHECK(game.client(0).driver.close_reason() == CloseReason::None);
}

TEST_CASE("Bandwidth: under floods of state and of small calls a large call has its share",
          "[netdriver][bandwidth]") {
    CallFixtureOptions options;
    options.server.bytes_per_second_max = 40'000;
    CallFixture game(options);
    const ObjectHandle turret = game.join_with_turret();
    const ObjectHandle other = game.add_owned(0);
    std::vector<ObjectHandle> crowd = add_many(300, [&] { return game.add(); });
    REQUIRE(game.settle());
    CHECK(game.call_with(other, "client_deliver", make_cargo(1, 30'000)) == CallResult::Sent);
    std::uint32_t tick = 0;
    while (heard(game.client(0), "deliver").empty() && tick < 20 * ticks_per_second) {
        ++tick;
        for (const ObjectHandle one : crowd) {
            game.turret(one).power = tick;
        }
        for (std::uint32_t i = 0; i < 10; ++i) {
            Order order;
            order.number = tick;
            order.text.assign(100, 'x');
            (void)game.call(turret, "client_tell", order);
        }
        game.tick();
    }
    // 30,000 bytes in a quarter of 36,250 a second.
    CHECK(tick <= 4 * ticks_per_second);
    CHECK(game.client(0).driver.close_reason() == CloseReason::None);
}

TEST_CASE("Bandwidth: a call that is lost with the open of its object goes again, at any cap",
          "[netdriver][bandwidth]") {
    for (const std::uint32_t cap : {1'800u, 5'000u, 40'000u}) {
        INFO("cap " << cap);
        CallFixtureOptions options;
        options.server.bytes_per_second_max = cap;
        CallFixture game(options);
        game.join_settled();
        bool has_lost = false;
        game.server().transport.set_script([&](Bytes& datagram) {
            const auto packet = parse_packet(datagram);
            const bool is_it = !has_lost && packet.has_value() && packet->has_open();
            has_lost = has_lost || is_it;
            return !is_it;
        });
        const ObjectHandle turret = game.add_owned(0);
        game.turret(turret).label.assign(1'000, 'x');  // what goes with the open is paid for
        REQUIRE(game.call(turret, "client_tell", {1, {}, ""}) == CallResult::Sent);
        REQUIRE(game.settle());
        CHECK(has_lost);
        CHECK(heard(game.client(0), "tell") == Numbers{1});
    }
}

TEST_CASE("Bandwidth: a client's own packets have a cap as well", "[netdriver][bandwidth]") {
    CallFixtureOptions options;
    options.client.bytes_per_second_max = 2'000;
    options.server.calls_per_second_max = 100'000;
    options.server.calls_burst_max = 100'000;
    options.server.function_calls_per_second_max = 100'000;
    options.server.function_calls_burst_max = 100'000;
    CallFixture game(options);
    const ObjectHandle turret = game.join_with_turret();
    REQUIRE(game.settle());
    const std::uint64_t before = game.client(0).driver.stats().bytes_sent;
    std::uint32_t accepted = 0;
    for (std::uint32_t tick = 0; tick < 10 * ticks_per_second; ++tick) {
        for (int i = 0; i < 5; ++i) {
            Order order;
            order.number = accepted + 1;
            order.text.assign(50, 'x');
            accepted +=
                game.call_from(0, turret, "server_aim", order) == CallResult::Sent ? 1u : 0u;
        }
        game.tick();
    }
    const std::uint64_t bytes = game.client(0).driver.stats().bytes_sent - before;
    CHECK(bytes <= 10 * 2'000 + packet_bytes);
    CHECK(bytes >= 10 * 1'800);
    CHECK(game.client(0).driver.close_reason() == CloseReason::None);
}

TEST_CASE("Bandwidth: a cap of one client is no other's, and can be taken away",
          "[netdriver][bandwidth]") {
    CrateGame game(build_crate, crate_options());
    game.join();
    game.join();
    const ObjectHandle crate = game.add();
    REQUIRE(game.settle());
    NetRates rates = game.driver().rates();
    rates.set_bytes_per_second_max(CrateGame::peer_of(0), 5'000);
    rates.set_bytes_per_second_max(PeerId{77}, 5'000);  // nobody
    CHECK(rates.bandwidth_of(CrateGame::peer_of(0)).bytes_per_second == 5'000);
    CHECK(rates.bandwidth_of(CrateGame::peer_of(1)).bytes_per_second == 0);
    CHECK(rates.bandwidth_of(PeerId{77}).bytes_per_second_max == 0);
    const auto ticks_until_shown = [&](std::size_t client) {
        std::uint32_t ticks = 0;
        fill(game.object(crate), game.object(crate).tick + 1, 20'000);
        while (game.object_on(client, crate).content != game.object(crate).content) {
            game.tick();
            ++ticks;
        }
        return ticks;
    };
    CHECK(ticks_until_shown(1) < 20);
    CHECK(ticks_until_shown(0) > 3 * ticks_per_second);
    rates.set_bytes_per_second_max(CrateGame::peer_of(0), 0);
    CHECK(ticks_until_shown(0) < 20);
}

TEST_CASE("Bandwidth: congestion control loses little on a narrow line, and uses it",
          "[netdriver][bandwidth]") {
    const auto play = [](bool has_congestion_control) {
        NetFixtureOptions options;
        options.server.has_congestion_control = has_congestion_control;
        options.link.latency_ms = 30;
        options.link.bandwidth_bytes_per_second = 60'000;
        options.link.queue_bytes = 12'000;
        NetFixture net(options);
        std::vector<ObjectHandle> pawns = add_many(400, [&] { return net.add_pawn(); });
        net.join();
        const auto play_for = [&](std::uint32_t seconds) {
            for (std::uint32_t tick = 0; tick < seconds * ticks_per_second; ++tick) {
                for (const ObjectHandle pawn : pawns) {
                    ++net.pawn(pawn).health;
                }
                net.tick();
            }
        };
        play_for(10);
        const NetStats before = net.server_driver().stats();
        play_for(20);
        const NetStats& after = net.server_driver().stats();
        const auto lost = static_cast<double>(after.packets_lost - before.packets_lost);
        const auto sent = static_cast<double>(after.packets_sent - before.packets_sent);
        const std::uint64_t delivered = after.packets_delivered - before.packets_delivered;
        if (has_congestion_control) {
            const NetBandwidth bandwidth =
                net.server_driver().rates().bandwidth_of(NetFixture::client_peer(0));
            CHECK(bandwidth.bytes_per_second > 20'000);
            CHECK(bandwidth.bytes_per_second < 150'000);
            CHECK(bandwidth.round_trip_us > 60'000);
            CHECK(bandwidth.round_trip_us < 400'000);
            CHECK(delivered * 1'200 > 20 * 60'000 / 2);
        }
        return lost / sent;
    };
    const double without = play(false);
    const double with = play(true);
    CHECK(without > 0.5);
    CHECK(with < 0.1);
}

TEST_CASE("Bandwidth: within a cap congestion control learns no rate that was never tried",
          "[netdriver][bandwidth]") {
    constexpr std::uint32_t cap = 100'000;
    NetFixtureOptions options;
    options.server.has_congestion_control = true;
    options.server.bytes_per_second_max = cap;
    options.link.latency_ms = 30;
    NetFixture net(options);
    std::vector<ObjectHandle> pawns = add_many(1'000, [&] { return net.add_pawn(); });
    net.join();
    for (std::uint32_t tick = 0; tick < 20 * ticks_per_second; ++tick) {
        for (const ObjectHandle pawn : pawns) {
            ++net.pawn(pawn).health;
        }
        net.tick();
    }
    NetRates rates = net.server_driver().rates();
    const PeerId peer = NetFixture::client_peer(0);
    CHECK(rates.bandwidth_of(peer).bytes_per_second == cap);
    rates.set_bytes_per_second_max(peer, 0);
    // Once the rate is above the cap it is the cap that is reached.
    CHECK(rates.bandwidth_of(peer).bytes_per_second >= cap);
    CHECK(rates.bandwidth_of(peer).bytes_per_second <= 2 * cap);
}

TEST_CASE("Bandwidth: with a cap that is always reached a warm game takes no memory",
          "[netdriver][bandwidth]") {
    CountingResource resource;
    ClassGameOptions options;
    options.resource = &resource;
    options.is_validating = false;
    CrateGame game(build_crate, options);
    game.join();
    std::vector<ObjectHandle> crates = add_many(500, [&] { return game.add(); });
    REQUIRE(game.settle());
    set_cap(game, 10'000);
    std::uint32_t tick = 0;
    const auto play = [&](std::uint32_t ticks) {
        for (; ticks > 0; --ticks) {
            ++tick;
            for (const ObjectHandle crate : crates) {
                game.object(crate).tick = tick;
            }
            game.tick();
        }
    };
    play(2'000);
    const DefaultResourceScope scope(resource);
    const std::uint64_t taken = resource.allocation_count();
    const std::uint64_t heap = heap_allocation_count();
    play(500);
    const std::uint64_t heap_taken = heap_allocation_count() - heap;
    CHECK(resource.allocation_count() == taken);
    CHECK(heap_taken == 0);
}

TEST_CASE("Bandwidth: what waits under a cap is kept in the driver's memory",
          "[netdriver][bandwidth]") {
    CountingResource resource;
    CountingResource elsewhere;
    ClassGameOptions options;
    options.resource = &resource;
    options.is_validating = false;
    CrateGame game(build_crate, options);
    game.join();
    std::vector<ObjectHandle> crates = add_many(500, [&] { return game.add(); });
    REQUIRE(game.settle());
    set_cap(game, 5'000);
    const DefaultResourceScope scope(elsewhere);
    for (std::uint32_t tick = 1; tick <= 300; ++tick) {
        for (const ObjectHandle crate : crates) {
            game.object(crate).tick = tick;
        }
        game.tick();
    }
    CHECK(elsewhere.allocation_count() == 0);
}

TEST_CASE("Bandwidth: objects that are up to date keep their share from large values",
          "[netdriver][bandwidth]") {
    CrateGame game(build_crate, crate_options());
    game.join();
    const ObjectHandle large = game.add();
    std::vector<ObjectHandle> small = add_many(20, [&] { return game.add(); });
    REQUIRE(game.settle());
    set_cap(game, 64'000);
    std::uint32_t oldest = 0;
    for (std::uint32_t tick = 1; tick <= 10 * ticks_per_second; ++tick) {
        fill(game.object(large), tick, 60'000);
        if (tick % 3 == 0) {  // in between all of them are up to date
            for (const ObjectHandle crate : small) {
                game.object(crate).tick = tick;
            }
        }
        game.tick();
        if (tick > ticks_per_second) {
            for (const ObjectHandle crate : small) {
                oldest =
                    std::max(oldest, tick - tick % 3 -
                                         std::min(tick - tick % 3, game.object_on(0, crate).tick));
            }
        }
    }
    CHECK(oldest <= 3);  // what changed in this tick is under way
}

}  // namespace replayout::test
