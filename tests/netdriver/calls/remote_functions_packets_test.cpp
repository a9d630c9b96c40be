// SPDX-License-Identifier: MIT
//
// What remote calls cost, and how they stand in packets.
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"
#include "support/checks/golden.h"
#include "support/hostile/packet_forge.h"
#include "support/worlds/call_game.h"

namespace replayout::test {
namespace {

[[nodiscard]] std::size_t call_count(const Packet& packet) {
    std::size_t count = 0;
    for (const Bunch& bunch : packet.bunches) {
        count += bunch.header.is_call ? 1 : 0;
    }
    return count;
}

}  // namespace

TEST_CASE("Remote functions: parameters of a multicast are encoded once", "[netdriver][rpc]") {
    for (const bool is_sharing : {true, false}) {
        CallFixtureOptions options;
        options.is_sharing = is_sharing;
        CallFixture net(options);
        for (int i = 0; i < 16; ++i) {
            net.join();
        }
        const ObjectHandle turret = net.add();
        REQUIRE(net.settle());
        const ReplicationCounters before = net.server().driver.stats().replication;
        (void)net.call(turret, "multicast_boom", {1, turret, "text"});
        const ReplicationCounters after = net.server().driver.stats().replication;
        CHECK(after.payloads_built - before.payloads_built == (is_sharing ? 1 : 0));
        CHECK(after.payloads_reused - before.payloads_reused == (is_sharing ? 15 : 0));
        REQUIRE(net.settle());
    }
}

TEST_CASE("Remote functions: sharing and validation change no byte", "[netdriver][rpc]") {
    const auto record = [](bool is_sharing, bool is_validating) {
        CallFixtureOptions options;
        options.is_sharing = is_sharing;
        options.is_validating = is_validating;
        options.link.loss = 0.1;
        options.link.latency_ms = 30;
        CallFixture net(options);
        net.server().transport.is_recording = true;
        for (int i = 0; i < 3; ++i) {
            net.join();
        }
        const ObjectHandle turret = net.add_owned(1);
        const ObjectHandle other = net.add();
        for (std::uint32_t step = 1; step < 60; ++step) {
            net.turret(turret).power = step;
            net.turret(turret).label = "step " + std::to_string(step / 3);
            net.turret(other).power = step / 2;
            (void)net.call(turret, "multicast_boom", {step, other, std::to_string(step)});
            (void)net.call(turret, "multicast_flash", {step, {}, ""});
            (void)net.call(turret, "client_hint", {step, turret, ""});
            net.tick();
        }
        net.network().heal();
        CHECK(net.settle());
        CHECK(heard(net.client(0), "boom").back() == 59);
        return net.server().transport.sent;
    };
    const std::vector<Datagram> first = record(true, true);
    CHECK(first == record(false, true));
    CHECK(first == record(true, false));
}

TEST_CASE("Remote functions: calls of a warm server and client allocate nothing",
          "[netdriver][rpc]") {
    CallFixtureOptions options;
    options.is_validating = false;
    for (NetConfig* config : {&options.server, &options.client}) {
        config->calls_per_second_max = 1'000'000;
        config->calls_burst_max = 1'000'000;
        config->function_calls_per_second_max = 1'000'000;
        config->function_calls_burst_max = 1'000'000;
    }
    CallFixture net(options);
    net.join();
    const ObjectHandle turret = net.add_owned(0);
    net.server().world.is_listening = false;
    net.client(0).world.is_listening = false;
    REQUIRE(net.settle());
    const auto play = [&](std::uint32_t ticks) {
        for (std::uint32_t i = 0; i < ticks; ++i) {
            ++net.turret(turret).power;
            (void)net.call(turret, "client_tell", {i, turret, "short"});
            (void)net.call(turret, "multicast_flash", {i, turret, ""});
            (void)net.call_from(0, turret, "server_fire", {i, {}, "short"});
            (void)net.call_from(0, turret, "server_aim", {i, {}, ""});
            net.tick();
        }
    };
    play(100);
    const std::size_t server_before = net.server().memory.allocation_count();
    const std::size_t client_before = net.client(0).memory.allocation_count();
    play(200);
    CHECK(net.server().memory.allocation_count() == server_before);
    CHECK(net.client(0).memory.allocation_count() == client_before);
    net.tick(3);
    CHECK(net.server().driver.stats().calls_run == 600);
    CHECK(net.client(0).driver.stats().calls_run == 600);
}

TEST_CASE("Remote functions: a call in each packet, and one packet for many", "[netdriver][rpc]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    std::vector<std::size_t> counts;
    net.server().transport.set_script([&](Bytes& datagram) {
        const auto packet = parse_packet(datagram);
        if (packet && call_count(*packet) > 0) {
            counts.push_back(call_count(*packet));
            CHECK(!packet->blocks.empty());
        }
        return true;
    });
    net.turret(turret).power = 1;
    for (std::uint32_t i = 0; i < 300; ++i) {
        (void)net.call(turret, "client_tell", {i, {}, ""});
    }
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "tell").size() == 300);
    // Each packet has the state: none of them can tell that those before it arrive.
    CHECK(counts.size() == 3);
}

TEST_CASE("Remote functions: a value that goes with a call counts once, though its packet was full",
          "[netdriver][rpc]") {
    CallFixtureOptions options;
    options.is_counting_types = true;
    CallFixture net(options);
    net.join_settled();
    std::vector<ObjectHandle> turrets;
    for (int i = 0; i < 200; ++i) {
        turrets.push_back(net.add());
    }
    REQUIRE(net.settle());
    const NetStats before = net.server().driver.stats();
    for (const ObjectHandle turret : turrets) {
        net.turret(turret).power = 9;
        REQUIRE(net.call(turret, "multicast_boom", {1, {}, ""}) == CallResult::Sent);
    }
    REQUIRE(net.settle());
    const NetStats& after = net.server().driver.stats();
    CHECK(after.packets_sent - before.packets_sent >= 4);
    // The parameter of each call counts, too.
    CHECK(after.replication.properties_sent - before.replication.properties_sent == 400);
    CHECK(net.find_type_difference() == "");
}

TEST_CASE("Remote functions: packets with calls are written as they are pinned",
          "[netdriver][rpc][packet]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    std::vector<Bytes> sent;
    const auto record = [&](Bytes& datagram) {
        const auto packet = parse_packet(datagram);
        if (packet && call_count(*packet) > 0) {
            sent.push_back(datagram);
        }
        return true;
    };
    net.server().transport.set_script(record);
    net.client(0).transport.set_script(record);
    net.turret(turret).power = 5;
    (void)net.call(turret, "multicast_flash", {3, {}, ""});
    (void)net.call(turret, "client_tell", {1, turret, "go"});
    (void)net.call(turret, "client_hint", {0, {}, ""});
    (void)net.call_from(0, turret, "server_fire", {7, {}, ""});
    (void)net.client(0).driver.call_function(net.find_on(0, turret), "server_reset");
    (void)net.call_from(0, turret, "server_aim", {8, net.find_on(0, turret), ""});
    REQUIRE(net.settle());
    REQUIRE(sent.size() == 2);
    check_golden("packet_calls_of_server", sent[0]);
    check_golden("packet_calls_of_client", sent[1]);
    const std::vector<HeardCall> told{
        {"tell", 1, 5, net.find_on(0, turret), 5}, {"hint", 0, 5, {}, 0}, {"flash", 3, 5, {}, 0}};
    CHECK(net.client(0).world.heard == told);
    const std::vector<HeardCall> asked{{"flash", 3, 5, {}, 0},
                                       {"fire", 7, 5, {}, 0},
                                       {"reset", 0, 5, {}, 0},
                                       {"aim", 8, 5, turret, 5}};
    CHECK(net.server().world.heard == asked);
}

}  // namespace replayout::test
