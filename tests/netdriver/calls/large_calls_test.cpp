// SPDX-License-Identifier: MIT
//
// Remote calls larger than a packet, which go in parts.
#include <replayout/netdriver/interest.h>
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"
#include "support/checks/golden.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/hostile/packet_forge.h"
#include "support/worlds/call_game.h"

namespace replayout::test {
namespace {

/// No client makes too many.
void allow_any_rate(CallFixtureOptions& options) {
    for (NetConfig* config : {&options.server, &options.client}) {
        config->calls_per_second_max = 1'000'000;
        config->calls_burst_max = 1'000'000;
        config->function_calls_per_second_max = 1'000'000;
        config->function_calls_burst_max = 1'000'000;
    }
}

[[nodiscard]] CallFixtureOptions small_packets() {
    CallFixtureOptions options;
    options.server.packet_bytes_max = 256;
    options.client.packet_bytes_max = 256;
    allow_any_rate(options);
    return options;
}

/// Parts of calls in a datagram: of each the sequence, low bits.
[[nodiscard]] std::vector<std::uint16_t> parts_in(const Bytes& datagram) {
    std::vector<std::uint16_t> sequences;
    const auto packet = parse_packet(datagram);
    if (packet) {
        for (const Bunch& bunch : packet->bunches) {
            if (bunch.header.is_call && bunch.header.is_partial) {
                sequences.push_back(bunch.header.sequence);
            }
        }
    }
    return sequences;
}

/// 40 s of calls and values of random sizes over a slow line, and two minutes for what is left of
/// them.
void play_slow_line(std::uint64_t seed) {
    SeededRandom random(seed);
    CallFixtureOptions options = small_packets();
    options.seed = seed;
    options.tick_ms = random.percent(50) ? 33 : 100;
    options.server.packet_bytes_max = random.percent(50) ? 256u : 600u;
    options.client.packet_bytes_max = options.server.packet_bytes_max;
    options.server.bytes_per_second_max = 1'800;
    options.link.loss = 0.1 * static_cast<double>(random.below(3));
    options.link.latency_ms = static_cast<std::uint32_t>(random.below(80));
    options.is_validating = false;
    CallFixture net(options);
    net.join();
    const auto pick = [&random](std::uint32_t min, std::uint32_t max) {
        return static_cast<std::uint32_t>(random.between(min, max));
    };
    const std::uint32_t page_bytes = pick(100, 1'000);
    const std::uint32_t cargo_bytes = pick(20, 6'000);
    const std::uint32_t ticks_of_page = pick(1, 100);
    const std::uint32_t ticks_of_call = pick(1, 200);
    std::vector<ObjectHandle> turrets;
    for (std::uint32_t i = pick(1, 12); i > 0; --i) {
        turrets.push_back(net.add());
    }
    std::uint32_t number = 0;
    for (std::int64_t ms = 0; ms < 40'000; ms += options.tick_ms) {
        net.tick([&] {
            for (const ObjectHandle turret : turrets) {
                ++net.turret(turret).power;
                if (random.below(ticks_of_page) == 0) {
                    net.turret(turret).pages[random.below(4)].assign(
                        random.below(page_bytes), static_cast<char>('a' + random.below(26)));
                }
                if (random.below(ticks_of_call) == 0) {
                    (void)net.call_with(turret, "multicast_deliver",
                                        make_cargo(++number, random.below(cargo_bytes)));
                }
            }
        });
    }
    for (std::int64_t ms = 0; ms < 120'000; ms += options.tick_ms) {
        net.tick();
    }
    // Where calls fill all the room that there is, the client is too slow for them.
    const CloseReason reason = net.client(0).driver.close_reason();
    REQUIRE((reason == CloseReason::None || reason == CloseReason::CallsStalled));
}

}  // namespace

TEST_CASE("Large calls: arrive whole, from either side, for one and for all", "[netdriver][rpc]") {
    CallFixtureOptions options;
    allow_any_rate(options);
    CallFixture net(options);
    for (int i = 0; i < 3; ++i) {
        net.join();
    }
    const ObjectHandle turret = net.add_owned(1);
    REQUIRE(net.settle());
    std::uint32_t number = 0;
    for (const std::size_t bytes : {1'200u, 1'136u, 3'000u, 30'000u, 65'000u}) {
        ++number;
        const Cargo cargo = make_cargo(number, bytes);
        CHECK(net.call_with(turret, "client_deliver", cargo) == CallResult::Sent);
        CHECK(net.call_with(turret, "multicast_deliver", cargo) == CallResult::Sent);
        CHECK(net.call_with(turret, "multicast_toss", cargo) == CallResult::Sent);
        CHECK(net.call_with_from(1, turret, "server_deliver", cargo) == CallResult::Sent);
        CHECK(net.call_with_from(1, turret, "server_toss", cargo) == CallResult::Sent);
        REQUIRE(net.settle());
    }
    net.tick(20);
    const Numbers all{1, 2, 3, 4, 5};
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(heard(net.client(i), "deliver") == (i == 1 ? all : Numbers{}));
        CHECK(heard(net.client(i), "deliver all") == all);
        CHECK(heard(net.client(i), "toss all") == all);
    }
    CHECK(heard(net.server(), "deliver") == all);
    CHECK(heard(net.server(), "toss") == all);
    CHECK(net.server().driver.connection_count() == 3);
}

TEST_CASE("Large calls: beyond a limit they are refused, and run nowhere", "[netdriver][rpc]") {
    CallFixtureOptions options;
    allow_any_rate(options);
    std::size_t bytes_max = 0;
    SECTION("of a call") {
        bytes_max = options.server.call_bytes_max = options.client.client_call_bytes_max = 20'000;
        options.server.client_call_bytes_max = options.client.call_bytes_max = 20'000;
    }
    SECTION("of the bytes that may wait") {
        options.server.bunch_bytes_max = options.client.bunch_bytes_max = 2'000;
        bytes_max = options.server.reliable_waiting_bytes_max =
            options.client.reliable_waiting_bytes_max = 10'000;
        options.server.client_waiting_bytes_max = options.client.client_waiting_bytes_max = 10'000;
    }
    SECTION("of the parts that may wait") {
        options.server.reliable_waiting_max = options.client.reliable_waiting_max = 5;
        options.server.client_waiting_max = options.client.client_waiting_max = 5;
        bytes_max = 5 * (options.server.packet_bytes_max - 64);
    }
    CallFixture net(options);
    const ObjectHandle turret = net.join_with_turret();
    // One byte of the function, one of the set, four of the number, one of the count of boxes, one
    // or two of the handles of those and two of the length of each.
    Cargo cargo = make_cargo(0xFFFF'FFFF, bytes_max - 100);
    const auto pad = [&](std::size_t bytes) { cargo.text.assign(bytes, 'x'); };
    std::size_t fitting = 0;
    for (std::size_t padding = 1; padding < 200; ++padding) {
        pad(padding);
        const CallResult there = net.call_with_from(0, turret, "server_toss", cargo);
        if (there == CallResult::TooLarge) {
            break;
        }
        fitting = padding;
        net.tick(12);
    }
    CHECK(fitting > 0);
    CHECK(fitting < 100);
    pad(fitting);
    CHECK(net.call_with(turret, "multicast_deliver", cargo) == CallResult::Sent);
    REQUIRE(net.settle());
    pad(fitting + 1);
    CHECK(net.call_with(turret, "multicast_deliver", cargo) == CallResult::TooLarge);
    CHECK(net.call_with(turret, "multicast_toss", cargo) == CallResult::TooLarge);
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "deliver all") == Numbers{0xFFFF'FFFF});
    CHECK(heard(net.server(), "deliver all") == Numbers{0xFFFF'FFFF});
    CHECK(heard(net.server(), "toss").size() == fitting);
    CHECK(net.server().driver.connection_count() == 1);
}

TEST_CASE("Large calls: one for all that the last of them has no room for goes to nobody",
          "[netdriver][rpc][limits]") {
    CallFixtureOptions options;
    options.server.reliable_waiting_max = options.client.reliable_waiting_max = 40;  // parts
    CallFixture net(options);
    for (int i = 0; i < 3; ++i) {
        net.join();
    }
    const ObjectHandle turret = net.add_owned(2);
    REQUIRE(net.settle());
    CHECK(net.call(turret, "multicast_boom", {1, {}, ""}) == CallResult::Sent);
    CHECK(net.call_with(turret, "client_deliver", make_cargo(2, 30'000)) == CallResult::Sent);
    CHECK(net.call_with(turret, "multicast_deliver", make_cargo(3, 20'000)) == CallResult::Full);
    CHECK(net.call(turret, "multicast_boom", {4, {}, ""}) == CallResult::Sent);
    REQUIRE(net.settle());
    CHECK(net.call_with(turret, "multicast_deliver", make_cargo(5, 20'000)) == CallResult::Sent);
    REQUIRE(net.settle());
    for (std::size_t i = 0; i < 3; ++i) {
        INFO("client " << i);
        CHECK(heard(net.client(i), "boom") == Numbers{1, 4});
        CHECK(heard(net.client(i), "deliver all") == Numbers{5});
        CHECK(heard(net.client(i), "deliver") == (i == 2 ? Numbers{2} : Numbers{}));
    }
    CHECK(heard(net.server(), "deliver all") == Numbers{5});
    CHECK(net.server().driver.stats().calls_dropped == 0);
}

TEST_CASE("Large calls: keep their place among the calls of their object, whatever part is lost",
          "[netdriver][rpc]") {
    for (std::uint16_t lost = 0; lost < 8; ++lost) {
        INFO("part " << lost << " is lost");
        CallFixture net(small_packets());
        const ObjectHandle turret = net.join_with_turret();
        bool is_lost = false;
        const auto lose_one = [&](Bytes& datagram) {
            for (const std::uint16_t sequence : parts_in(datagram)) {
                if (sequence == lost + 2 && !is_lost) {
                    is_lost = true;
                    return false;
                }
            }
            return true;
        };
        const bool is_clients = lost % 2 == 1;
        (is_clients ? net.client(0) : net.server()).transport.set_script(lose_one);
        const Cargo cargo = make_cargo(2, 1'300);  // 7 parts
        if (is_clients) {
            (void)net.call_from(0, turret, "server_fire", {1, {}, ""});
            (void)net.call_with_from(0, turret, "server_deliver", cargo);
            (void)net.call_from(0, turret, "server_fire", {3, {}, ""});
        } else {
            (void)net.call(turret, "client_tell", {1, {}, ""});
            (void)net.call_with(turret, "client_deliver", cargo);
            (void)net.call(turret, "client_tell", {3, {}, ""});
        }
        REQUIRE(net.settle());
        net.tick(20);
        CHECK(is_lost == (lost < 7));
        const CallWorld& world = is_clients ? net.server().world : net.client(0).world;
        REQUIRE(world.heard.size() == 3);
        for (std::uint32_t i = 0; i < 3; ++i) {
            CHECK(world.heard[i].number == i + 1);
        }
        CHECK(world.heard[1].function == "deliver");
        const NetStats& stats = (is_clients ? net.client(0).driver : net.server().driver).stats();
        CHECK(stats.call_parts_sent == 7 + (lost < 7 ? 1 : 0));
        CHECK(stats.call_parts_resent == (lost < 7 ? 1 : 0));
    }
}

TEST_CASE("Large calls: never come before what they name, nor before the state that they mean",
          "[netdriver][rpc]") {
    for (const std::size_t bytes : {300u, 1'000u, 1'130u, 1'140u, 1'150u, 5'000u}) {
        INFO(bytes << " bytes");
        CallFixtureOptions options = small_packets();
        options.link.loss = 0.3;
        options.link.latency_ms = 30;
        CallFixture net(options);
        const ObjectHandle turret = net.join_with_turret();
        for (std::uint32_t i = 1; i <= 20; ++i) {
            const ObjectHandle other = net.add();
            net.turret(turret).power = i;
            net.turret(other).power = 100 + i;
            Cargo cargo = make_cargo(i, bytes);
            cargo.target = other;
            CHECK(net.call_with(turret, "client_deliver", cargo) == CallResult::Sent);
            net.tick(10);
        }
        REQUIRE(net.settle());
        const std::vector<HeardCall>& heard = net.client(0).world.heard;
        REQUIRE(heard.size() == 20);
        for (std::uint32_t i = 0; i < 20; ++i) {
            CHECK(heard[i].function == "deliver");
            CHECK(heard[i].number == i + 1);
            CHECK(heard[i].power >= i + 1);
            CHECK(heard[i].target_power == 101 + i);
        }
    }
}

TEST_CASE("Large calls: parts for an object that is on its way out take no room of other calls",
          "[netdriver][rpc][limits]") {
    enum class Way { Removed, Hidden, Dormant };
    for (std::size_t i = 0; i < 12; ++i) {
        const Way way = std::array{Way::Removed, Way::Hidden, Way::Dormant}[i % 3];
        const int ticks = 1 + static_cast<int>(i / 3);
        INFO("removed, hidden, dormant: " << static_cast<int>(way) << ", after ticks: " << ticks);
        CallFixtureOptions options = small_packets();
        for (NetConfig* config : {&options.server, &options.client}) {
            config->bunch_bytes_max = 2'000;
            config->reliable_waiting_bytes_max = config->client_waiting_bytes_max = 2'000;
        }
        CallFixture net(options);
        const ObjectHandle leaving = net.join_with_turret();
        const ObjectHandle other = net.add_owned(0);
        REQUIRE(net.settle());
        NetDriver& driver = net.server().driver;
        // The client does not learn of the close, and loses the first part of each call.
        net.server().transport.set_script([](Bytes& datagram) {
            const auto packet = parse_packet(datagram);
            return !packet ||
                   std::none_of(packet->bunches.begin(), packet->bunches.end(),
                                [](const Bunch& bunch) { return bunch.header.is_close; });
        });
        int lost = 0;
        net.client(0).transport.set_script([&](Bytes& datagram) {
            const std::vector<std::uint16_t> parts = parts_in(datagram);
            const bool is_first = std::find(parts.begin(), parts.end(), 2) != parts.end();
            return !(is_first && lost++ < 1);
        });
        const auto deliver = [&](ObjectHandle object, std::uint32_t number) {
            CHECK(net.call_from(0, object, "server_fire", {number, {}, ""}) == CallResult::Sent);
            CHECK(net.call_with_from(0, object, "server_deliver", make_cargo(number, 1'700)) ==
                  CallResult::Sent);
        };
        deliver(leaving, 1);
        net.tick(ticks);
        if (way == Way::Removed) {
            net.remove(leaving);
        } else if (way == Way::Hidden) {
            CHECK(net.call(leaving, "client_tell", {9, {}, std::string(300, 'x')}) ==
                  CallResult::Sent);
            driver.interest().set_relevant_for(CallFixture::client_peer(0), net.id_of(leaving),
                                               false);
        } else {
            driver.set_dormancy(net.id_of(leaving), NetDormancy::DormantAll);
        }
        net.tick(30);
        CHECK(lost == 2);  // and came once more
        lost = 0;
        deliver(other, 2);
        net.tick(30);
        CHECK(lost == 2);
        CHECK(driver.connection_count() == 1);
        const Numbers delivered = heard(net.server(), "deliver");
        REQUIRE_FALSE(delivered.empty());
        CHECK(delivered.back() == 2);
        net.server().transport.set_script(nullptr);
        REQUIRE(net.settle());
        // Each call ran, or counts as dropped.
        CHECK(net.server().world.heard.size() + driver.stats().calls_dropped == 4);
    }
}

TEST_CASE("Large calls: the last part goes with the state, the others ahead of it",
          "[netdriver][rpc]") {
    CallFixture net(small_packets());
    const ObjectHandle turret = net.join_with_turret();
    std::vector<bool> has_blocks;
    net.server().transport.set_script([&](Bytes& datagram) {
        if (!parts_in(datagram).empty()) {
            has_blocks.push_back(!parse_packet(datagram)->blocks.empty());
        }
        return true;
    });
    net.turret(turret).power = 7;
    (void)net.call_with(turret, "client_deliver", make_cargo(1, 500));
    REQUIRE(net.settle());
    CHECK(has_blocks == std::vector<bool>{false, false, true});
    CHECK(net.client(0).world.heard.at(0).power == 7);
}

// A client waits for the rest of a call no longer than waiting_timeout_ms, 30 s by default.
TEST_CASE("Large calls: no part goes before its state could, and a client behind a slow line stays",
          "[netdriver][rpc]") {
    CallFixtureOptions options = small_packets();
    options.server.bytes_per_second_max = 1'800;
    CallFixture net(options);
    net.join();
    std::vector<ObjectHandle> turrets = add_many(20, [&] { return net.add(); });
    REQUIRE(net.settle());
    for (const ObjectHandle turret : turrets) {
        for (std::string& page : net.turret(turret).pages) {
            page.assign(1'000, 'p');
        }
    }
    REQUIRE(net.call_with(turrets.back(), "multicast_deliver", make_cargo(1, 700)) ==
            CallResult::Sent);
    for (int i = 0; i < 4'000 && !net.server().driver.is_settled(); ++i) {
        net.tick();
    }
    CHECK(net.server().driver.is_settled());
    CHECK(net.client(0).driver.state() == ConnectionState::Joined);
    CHECK(heard(net.client(0), "deliver all") == Numbers{1});
}

TEST_CASE("Large calls: packets with parts are written as they are pinned",
          "[netdriver][rpc][packet]") {
    CallFixture net(small_packets());
    const ObjectHandle turret = net.join_with_turret();
    std::vector<Bytes> sent;
    const auto record = [&](Bytes& datagram) {
        if (!parts_in(datagram).empty()) {
            sent.push_back(datagram);
        }
        return true;
    };
    net.server().transport.set_script(record);
    net.client(0).transport.set_script(record);
    net.turret(turret).power = 5;
    (void)net.call(turret, "client_tell", {1, {}, std::string(300, 'x')});
    Order aim{2, net.find_on(0, turret), std::string(200, 'y')};
    (void)net.call_from(0, turret, "server_aim", aim);
    REQUIRE(net.settle());
    REQUIRE(sent.size() == 4);
    check_golden("packet_large_call_first_part", sent[0]);
    check_golden("packet_large_call_last_part", sent[1]);
    check_golden("packet_large_unreliable_call_first_part", sent[2]);
    check_golden("packet_large_unreliable_call_last_part", sent[3]);
    CHECK(net.client(0).world.heard == std::vector<HeardCall>{{"tell", 1, 5, {}, 0}});
    CHECK(net.server().world.heard == std::vector<HeardCall>{{"aim", 2, 5, turret, 5}});
}

TEST_CASE("Large calls: of an unreliable function they are sent again, and not queued",
          "[netdriver][rpc]") {
    CallFixtureOptions options = small_packets();
    options.link.loss = 0.3;
    options.link.latency_ms = 20;
    CallFixture net(options);
    const ObjectHandle turret = net.join_with_turret();
    for (std::uint32_t i = 1; i <= 5; ++i) {
        CHECK(net.call_with(turret, "multicast_toss", make_cargo(i, 5'000)) == CallResult::Sent);
        CHECK(net.call_with_from(0, turret, "server_toss", make_cargo(i, 5'000)) ==
              CallResult::Sent);
    }
    REQUIRE(net.settle());
    net.tick(100);
    CHECK(heard(net.client(0), "toss all") == Numbers{1, 2, 3, 4, 5});
    CHECK(heard(net.server(), "toss") == Numbers{1, 2, 3, 4, 5});
}

TEST_CASE("Large calls: each part of a client's counts as a call", "[netdriver][rpc]") {
    CallFixtureOptions options;
    options.server.calls_per_second_max = 1;
    options.server.calls_burst_max = 10;
    options.server.client_waiting_max = 4;
    CallFixture net(options);
    const ObjectHandle turret = net.join_with_turret();
    const Cargo cargo = make_cargo(1, 4'000);  // 4 parts
    for (int i = 0; i < 3; ++i) {
        CHECK(net.call_with_from(0, turret, "server_toss", cargo) == CallResult::Sent);
    }
    net.tick(10);
    CHECK(heard(net.server(), "toss") == Numbers{1, 1});
    CHECK(net.server().driver.stats().calls_over_rate == 1);
    CHECK(net.server().driver.connection_count() == 1);
    // 14 parts of reliable calls, with those that may have been under way: three calls of 4 parts.
    for (int i = 0; i < 4; ++i) {
        CHECK(net.call_with_from(0, turret, "server_deliver", cargo) == CallResult::Sent);
        net.tick(5);
    }
    CHECK(heard(net.server(), "deliver") == Numbers{1, 1, 1});
    CHECK(net.client(0).driver.close_reason() == CloseReason::TooManyCalls);
}

TEST_CASE("Large calls: one of more parts than may come at once takes all that may",
          "[netdriver][rpc]") {
    CallFixtureOptions options;
    options.server.calls_per_second_max = 1'000;
    options.server.calls_burst_max = 10;
    CallFixture net(options);
    const ObjectHandle turret = net.join_with_turret();
    for (std::uint32_t i = 1; i < 4; ++i) {
        CHECK(net.call_with_from(0, turret, "server_deliver", make_cargo(i, 30'000)) ==
              CallResult::Sent);
        net.tick(10);
    }
    CHECK(heard(net.server(), "deliver") == Numbers{1, 2, 3});
}

TEST_CASE("Large calls: a server's run before their object goes, a client's go with it",
          "[netdriver][rpc]") {
    CallFixtureOptions options = small_packets();
    options.link.latency_ms = 30;
    options.link.loss = 0.1;
    CallFixture net(options);
    net.join_settled();
    std::uint64_t made = 0;
    for (std::uint32_t i = 1; i <= 40; ++i) {
        const ObjectHandle turret = net.add_owned(0);
        for (int wait = 0; wait < 50 && net.find_on(0, turret).is_null(); ++wait) {
            net.tick();
        }
        made += net.call_with(turret, "client_deliver", make_cargo(i, 20'000)) == CallResult::Sent
                    ? 1u
                    : 0u;
        (void)net.call_with_from(0, turret, "server_deliver", make_cargo(i, 20'000));
        net.tick(static_cast<int>(i % 10));
        net.remove(turret);
    }
    REQUIRE(net.settle());
    CHECK(net.server().driver.connection_count() == 1);
    CHECK(heard(net.client(0), "deliver").size() == made);
    CHECK(heard(net.server(), "deliver").size() < made);
    CHECK(net.client(0).driver.stats().calls_dropped > 0);
    CHECK(heard(net.client(0), "broken").empty());
    CHECK(heard(net.server(), "broken").empty());
    // The slot that they all had is as good as new.
    const ObjectHandle last = net.add_owned(0);
    REQUIRE(net.settle());
    CHECK(net.call_with(last, "client_deliver", make_cargo(99, 20'000)) == CallResult::Sent);
    CHECK(net.call_with_from(0, last, "server_deliver", make_cargo(99, 20'000)) ==
          CallResult::Sent);
    REQUIRE(net.settle());
    net.tick(30);
    CHECK(heard(net.client(0), "deliver").back() == 99);
    CHECK(heard(net.server(), "deliver").back() == 99);
}

TEST_CASE("Large calls: of what was begun nothing is kept when the connection ends",
          "[netdriver][rpc]") {
    CallFixtureOptions options = small_packets();
    options.link.latency_ms = 30;
    CallFixture net(options);
    const std::size_t without_connection = net.server().driver.memory_report().connection_bytes;
    const ObjectHandle turret = net.join_with_turret();
    (void)net.call_with(turret, "client_deliver", make_cargo(1, 60'000));
    (void)net.call_with_from(0, turret, "server_deliver", make_cargo(1, 60'000));
    net.tick(4);
    CHECK(net.server().driver.memory_report().connection_bytes > without_connection + 20'000);
    net.client(0).driver.disconnect({});
    net.tick(300);
    CHECK(net.server().driver.connection_count() == 0);
    CHECK(net.server().driver.memory_report().connection_bytes < without_connection + 2'000);
    CHECK(net.server().world.heard.empty());
    CHECK(net.client(0).world.heard.empty());
}

TEST_CASE("Large calls: sharing changes no byte, and parameters are encoded once",
          "[netdriver][rpc]") {
    const auto record = [](bool is_sharing) {
        CallFixtureOptions options = small_packets();
        options.is_sharing = is_sharing;
        options.link.loss = 0.1;
        options.link.latency_ms = 30;
        CallFixture net(options);
        net.server().transport.is_recording = true;
        for (int i = 0; i < 4; ++i) {
            net.join();
        }
        const ObjectHandle turret = net.add_owned(1);
        REQUIRE(net.settle());
        for (std::uint32_t i = 1; i < 10; ++i) {
            const ReplicationCounters before = net.server().driver.stats().replication;
            Cargo cargo = make_cargo(i, 1'000 * i);
            cargo.target = turret;
            CHECK(net.call_with(turret, "multicast_deliver", cargo) == CallResult::Sent);
            const ReplicationCounters after = net.server().driver.stats().replication;
            CHECK(after.payloads_built - before.payloads_built == (is_sharing ? 1 : 0));
            CHECK(after.payloads_reused - before.payloads_reused == (is_sharing ? 3 : 0));
            net.turret(turret).power = i;
            net.tick(3);
        }
        CHECK(net.settle());
        CHECK(heard(net.client(3), "deliver all").size() == 9);
        return net.server().transport.sent;
    };
    CHECK(record(true) == record(false));
}

TEST_CASE("Remote functions: what waits behind one that is lost again and again is bounded",
          "[netdriver][rpc]") {
    CallFixtureOptions options;
    allow_any_rate(options);
    options.link.latency_ms = 20;
    for (NetConfig* config : {&options.server, &options.client}) {
        config->bunch_bytes_max = 1'200;
        config->reliable_waiting_bytes_max = config->client_waiting_bytes_max = 20'000;
        config->reliable_waiting_max = config->client_waiting_max = 40;
    }
    CallFixture net(options);
    const ObjectHandle turret = net.join_with_turret();
    int lost_count = 0;
    const auto lose_first = [&](Bytes& datagram) {
        const auto packet = parse_packet(datagram);
        bool has_first = false;
        for (const Bunch& bunch : packet ? packet->bunches : std::vector<Bunch>()) {
            has_first = has_first || (bunch.header.is_call && bunch.header.sequence == 1);
        }
        lost_count += has_first ? 1 : 0;
        return !has_first || lost_count > 20;
    };
    const bool is_clients = GENERATE(false, true);
    CAPTURE(is_clients);
    (is_clients ? net.client(0) : net.server()).transport.set_script(lose_first);
    const auto call = [&](std::uint32_t number) {
        if (is_clients) {
            return number % 7 == 0
                       ? net.call_with_from(0, turret, "server_deliver", make_cargo(number, 2'500))
                       : net.call_from(0, turret, "server_fire", {number, {}, ""});
        }
        return number % 7 == 0 ? net.call_with(turret, "client_deliver", make_cargo(number, 2'500))
                               : net.call(turret, "client_tell", {number, {}, ""});
    };
    std::uint32_t number = 0;
    while (number < 400) {
        while (number < 400 && call(number + 1) == CallResult::Sent) {
            ++number;
            if (number == 1) {
                net.tick();  // alone in its packet
            }
        }
        net.tick();
        REQUIRE(net.server().driver.connection_count() == 1);
        REQUIRE(net.client(0).driver.state() == ConnectionState::Joined);
    }
    REQUIRE(net.settle());
    net.tick(20);
    CHECK(lost_count > 20);
    const CallWorld& world = is_clients ? net.server().world : net.client(0).world;
    REQUIRE(world.heard.size() == 400);
    for (std::uint32_t i = 0; i < 400; ++i) {
        CHECK(world.heard[i].number == i + 1);
    }
}

// Both pay out of one share of the cap.
TEST_CASE("Large calls: while more are made than a cap carries, large values arrive in time",
          "[netdriver][rpc]") {
    CallFixtureOptions options = small_packets();
    options.tick_ms = 100;
    options.server.bytes_per_second_max = 1'800;
    CallFixture net(options);
    net.join();
    const ObjectHandle caller = net.add();
    const ObjectHandle book = net.add();
    REQUIRE(net.settle());
    for (std::uint32_t i = 0; i < 60; ++i) {
        REQUIRE(net.call_with(caller, "multicast_deliver", make_cargo(i + 1, 5'000)) ==
                CallResult::Sent);
    }
    net.tick(20);
    // docs/limits.md: a quarter of what flows is for values and parts of calls, half of it each.
    const double flows = 1'800.0 * 29 / 32 / 10;
    const double packet = 256 + 60;
    const double arrives = 1 + 12 * packet / flows + 2;
    const double bound = 8 * (1'000 * 1.1 + 200 + 20 + 3 * packet) / flows + 2 + 3 * arrives;
    for (int i = 0; i < 3; ++i) {
        const std::string page(1'000, static_cast<char>('a' + i));
        net.turret(book).pages[0] = page;
        int ticks = 0;
        while (net.turret_on(0, book).pages[0] != page) {
            net.tick();
            ++ticks;
            REQUIRE(ticks < bound);
        }
        REQUIRE(heard(net.client(0), "deliver all").size() < 60);
    }
}

TEST_CASE("Large calls: of many one ends before the next begins", "[netdriver][rpc]") {
    CallFixtureOptions options = small_packets();
    options.tick_ms = 100;
    options.server.bytes_per_second_max = 1'800;
    CallFixture net(options);
    net.join();
    std::vector<ObjectHandle> callers = add_many(8, [&] { return net.add(); });
    REQUIRE(net.settle());
    // The later objects begin, and then those before them call as well.
    for (int i = 7; i >= 0; --i) {
        REQUIRE(net.call_with(callers[static_cast<std::size_t>(i)], "multicast_deliver",
                              make_cargo(static_cast<std::uint32_t>(8 - i), 5'000)) ==
                CallResult::Sent);
        net.tick(7);
    }
    std::set<std::uint32_t> begun;
    std::size_t most_begun = 0;
    net.server().transport.set_script([&](const Bytes& datagram) {
        const auto packet = parse_packet(datagram);
        for (const Bunch& bunch : packet ? packet->bunches : std::vector<Bunch>()) {
            if (bunch.header.is_call && bunch.header.is_partial) {
                begun.insert(bunch.header.channel.value);
            }
            if (bunch.header.is_call && bunch.header.is_partial_final) {
                begun.erase(bunch.header.channel.value);
            }
        }
        most_begun = std::max(most_begun, begun.size());
        return true;
    });
    REQUIRE(net.settle(4'000));
    CHECK(heard(net.client(0), "deliver all").size() == 8);
    CHECK(most_begun <= 2);
}

// What began, and of which nothing more comes for NetConfig::waiting_timeout_ms, is given up.
TEST_CASE("Large calls: no honest client is given up, whatever a slow line is to carry",
          "[netdriver][rpc][random]") {
    for (const std::uint64_t seed : seed_range(run_seed() % 1'000'000 + 1, 40)) {
        INFO("REPLAYOUT_SEED=" << seed);
        play_slow_line(seed);
    }
}

// While a large value was under way, older calls waited that need it. When it arrives they fill the
// line for longer than NetConfig::waiting_timeout_ms, and the last part of another object's call is
// still to go.
TEST_CASE(
    "Large calls: no honest client is given up where one has begun and many older ones become due",
    "[netdriver][rpc]") {
    play_slow_line(83);
}

TEST_CASE("Large calls: beside a flood of large values they come through, and small ones too",
          "[netdriver][rpc]") {
    CallFixtureOptions options = small_packets();
    options.link.latency_ms = 50;
    options.is_validating = false;
    CallFixture net(options);
    const ObjectHandle turret = net.join_with_turret();
    const ObjectHandle other = net.add_owned(0);
    std::vector<ObjectHandle> books = add_many(40, [&] { return net.add(); });
    REQUIRE(net.settle());
    for (std::uint32_t i = 0; i < 300; ++i) {
        for (const ObjectHandle book : books) {
            for (std::string& page : net.turret(book).pages) {
                page.assign(1'000, static_cast<char>('a' + i % 26));
            }
        }
        if (i % 50 == 0) {
            CHECK(net.call_with(turret, "client_deliver", make_cargo(i, 20'000)) ==
                  CallResult::Sent);
        }
        (void)net.call(other, "client_tell", {i, {}, ""});
        net.tick();
    }
    CHECK(heard(net.client(0), "deliver").size() >= 4);
    CHECK(heard(net.client(0), "tell").size() >= 200);
    REQUIRE(net.settle(20'000));
}

}  // namespace replayout::test
