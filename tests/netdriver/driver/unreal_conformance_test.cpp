// SPDX-License-Identifier: MIT
//
// The points of docs/unreal.md, "Conformance", that need connections. The others stand in the test
// of the same name of the layouts.
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/hostile/packet_forge.h"
#include "support/worlds/call_game.h"
#include "support/worlds/net_fixture.h"

namespace replayout::test {
namespace {

/// What every client shows, after the network has healed.
void check_all_equal(NetFixture& net, std::size_t client_count) {
    net.network().heal();
    REQUIRE(net.settle());
    for (std::size_t client = 0; client < client_count; ++client) {
        CHECK(net.client_text(client) == net.server_text());
    }
}

/// Every datagram of the server, in order.
std::vector<Datagram> record_session(bool is_sharing) {
    NetFixtureOptions options;
    options.sharing = sharing_level(is_sharing);
    options.link.loss = 0.1;
    options.link.latency_ms = 30;
    NetFixture net(options);
    net.server().transport.is_recording = true;
    const ObjectHandle pawn = net.add_pawn();
    const ObjectHandle archive = net.add_archive();
    for (int i = 0; i < 4; ++i) {
        net.join();
    }
    for (std::int32_t step = 0; step < 60; ++step) {
        net.pawn(pawn).health = step;
        net.pawn(pawn).name = "step " + std::to_string(step / 3);
        net.pawn(pawn).hits.resize(static_cast<std::size_t>(step % 5));
        net.pawn(pawn).friends.assign(static_cast<std::size_t>(step % 4), archive);
        net.archive(archive).cells.assign(static_cast<std::size_t>(step) * 20, 7);
        net.tick();
    }
    net.network().heal();
    CHECK(net.settle());
    return net.server().transport.sent;
}

}  // namespace

// 1. Sharing never changes a byte, and so no packet.
TEST_CASE("Unreal conformance 1: with sharing on or off a server sends the same packets",
          "[netdriver][unreal]") {
    CHECK(record_session(true) == record_session(false));
}

// 4. A client that joins after a thousand changes is sent the present, by no special path.
TEST_CASE("Unreal conformance 4: a client that joins after 1,000 changes is shown the present",
          "[netdriver][unreal]") {
    NetFixture net;
    const ObjectHandle pawn = net.add_pawn();
    net.pawn(pawn).name = "first";
    for (std::int32_t change = 0; change < 1'000; ++change) {
        net.pawn(pawn).health = change;
        net.tick();
    }
    net.join();
    check_all_equal(net, 1);
    CHECK(net.pawn_on(0, pawn).health == 999);
}

// 4. Properties that arrive before the open are dropped though their packet is acknowledged; they
//    are owed again once the open is through.
TEST_CASE("Unreal conformance 4: an open that is lost while later packets arrive loses nothing",
          "[netdriver][unreal]") {
    NetFixtureOptions options;
    options.link.latency_ms = 70;
    NetFixture net(options);
    net.join_settled();
    bool has_lost = false;
    net.server().transport.set_script([&](Bytes& datagram) {
        const auto packet = parse_packet(datagram);
        const bool is_open = !has_lost && packet && packet->has_open();
        has_lost = has_lost || is_open;
        return !is_open;
    });
    const ObjectHandle pawn = net.add_pawn();
    net.pawn(pawn).name = "set once";
    for (std::int32_t step = 1; step <= 15; ++step) {
        net.pawn(pawn).health = step;
        net.tick();
    }
    CHECK(has_lost);
    check_all_equal(net, 1);
    CHECK(net.client_driver(0).stats().blocks_skipped > 0);
    CHECK(net.pawn_on(0, pawn).name == "set once");
}

// 4. No list of what is in flight runs full.
TEST_CASE("Unreal conformance 4: more than 64 losses in a row lose nothing",
          "[netdriver][unreal]") {
    NetFixture net;
    net.join();
    const ObjectHandle pawn = net.add_pawn();
    REQUIRE(net.settle());
    std::uint32_t sent_count = 0;
    net.server().transport.set_script([&](Bytes&) { return ++sent_count > 100; });
    for (std::int32_t step = 1; step <= 140; ++step) {
        net.pawn(pawn).health = step;
        if (step < 100) {  // what nothing that is sent later brings along
            net.pawn(pawn).name = "step " + std::to_string(step / 7);
            net.pawn(pawn).hits.resize(static_cast<std::size_t>(step % 5));
        }
        net.tick();
    }
    REQUIRE(sent_count > 100);
    check_all_equal(net, 1);
    CHECK(net.pawn_on(0, pawn).name == "step 14");
}

// 5. Whatever is lost, repeated or overtaken, all clients end equal. With conditions:
//    net_driver_conditions_test.cpp, "owners, roles and switches at random".
TEST_CASE("Unreal conformance 5: after loss, repeats and overtaking every client ends equal",
          "[netdriver][unreal]") {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        NetFixtureOptions options;
        options.seed = run_seed() + seed;
        options.link.loss = 0.25;
        options.link.burst_packets = 3;
        options.link.duplicate = 0.1;
        options.link.reorder = 0.2;
        options.link.latency_ms = 40;
        options.link.jitter_ms = 20;
        NetFixture net(options);
        SeededRandom random(options.seed);
        std::vector<ObjectHandle> pawns;
        for (int i = 0; i < 3; ++i) {
            net.join();
        }
        for (std::int32_t step = 0; step < 150; ++step) {
            if (random.below(10) == 0) {
                pawns.push_back(net.add_pawn());
            }
            if (!pawns.empty()) {
                Pawn& pawn =
                    net.pawn(pawns[random.below(static_cast<std::uint32_t>(pawns.size()))]);
                pawn.health = step;
                pawn.hits.resize(random.below(6));
                pawn.target = pawns[random.below(static_cast<std::uint32_t>(pawns.size()))];
            }
            if (pawns.size() > 4 && random.below(12) == 0) {
                net.remove(pawns.front());
                pawns.erase(pawns.begin());
            }
            net.tick();
        }
        check_all_equal(net, 3);
    }
}

// 6. A target that is destroyed leaves null, and its id named; one that is made again is another
//    object with another id.
TEST_CASE("Unreal conformance 6: a reference follows its target through destruction",
          "[netdriver][unreal]") {
    NetFixture net;
    const ObjectHandle hunter = net.add_pawn();
    ObjectHandle prey = net.add_pawn();
    net.pawn(hunter).target = prey;
    net.join_settled();
    CHECK(net.pawn_on(0, hunter).target == net.find_on(0, prey));
    net.remove(prey);
    REQUIRE(net.settle());
    CHECK(net.pawn_on(0, hunter).target.is_null());
    prey = net.add_pawn();
    net.pawn(hunter).target = prey;
    REQUIRE(net.settle());
    CHECK(net.pawn_on(0, hunter).target == net.find_on(0, prey));
    const std::vector<std::string> expected = {"target null -> set", "target set -> null",
                                               "target null -> set"};
    CHECK(net.pawn_on(0, hunter).heard == expected);
}

// 9. Unreliable multicasts are queued for the next update of their object: their repeats are
// limited (two, as documented), the block goes first, and calls that are not queued stand before
// those that are.
TEST_CASE("Unreal conformance 9: queued multicasts are capped, and stand behind block and calls",
          "[netdriver][unreal]") {
    CallFixture net;
    net.join();
    const ObjectHandle turret = net.add_owned(0);
    REQUIRE(net.settle());
    net.turret(turret).power = 5;
    CHECK(net.call(turret, "multicast_flash", {1, {}, ""}) == CallResult::Queued);
    CHECK(net.call(turret, "multicast_flash", {2, {}, ""}) == CallResult::Queued);
    CHECK(net.call(turret, "multicast_flash", {3, {}, ""}) == CallResult::Full);
    CHECK(net.call(turret, "multicast_shake", {4, {}, ""}) == CallResult::Queued);
    CHECK(net.call(turret, "client_hint", {5, {}, ""}) == CallResult::Sent);
    CHECK(net.call(turret, "multicast_flash", {6, {}, ""}, CallSendPolicy::ForceSend) ==
          CallResult::Sent);
    CHECK(net.call(turret, "client_hint", {7, {}, ""}, CallSendPolicy::ForceQueue) ==
          CallResult::Queued);
    std::size_t packets_with_calls = 0;
    net.server().transport.set_script([&](Bytes& datagram) {
        const auto packet = parse_packet(datagram);
        if (packet && !packet->bunches.empty() && packet->bunches[0].header.is_call) {
            ++packets_with_calls;
            CHECK(packet->bunches.size() == 6);
            CHECK(!packet->blocks.empty());
        }
        return true;
    });
    REQUIRE(net.settle());
    CHECK(packets_with_calls == 1);
    const std::vector<HeardCall> expected{{"hint", 5, 5, {}, 0},  {"flash", 6, 5, {}, 0},
                                          {"flash", 1, 5, {}, 0}, {"flash", 2, 5, {}, 0},
                                          {"shake", 4, 5, {}, 0}, {"hint", 7, 5, {}, 0}};
    CHECK(net.client(0).world.heard == expected);
    CHECK(net.server().driver.stats().calls_dropped == 0);  // who called was told

    // The next update has room again; and what stops to replicate first takes its queue along.
    CHECK(net.call(turret, "multicast_flash", {8, {}, ""}) == CallResult::Queued);
    net.remove(turret);
    REQUIRE(net.settle());
    CHECK(net.client(0).world.heard == expected);
    CHECK(net.server().driver.stats().calls_dropped == 1);
}

}  // namespace replayout::test
