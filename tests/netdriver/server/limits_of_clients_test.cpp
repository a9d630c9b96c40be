// SPDX-License-Identifier: MIT
//
// What a server takes of one client, and of all together: each limit just within it, at it, and
// just beyond (docs/limits.md). The client is made by hand: ours keeps to the limits.
#include <replayout/netdriver/net_config.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/hostile/forged_caller.h"
#include "support/hostile/forged_peer.h"

namespace replayout::test {
namespace {

/// Whether the client is still there.
void check_outcome(const ForgedCaller& caller, bool is_within, CloseReason reason) {
    CHECK(caller.is_joined() == is_within);
    CHECK(caller.closed_count(reason) == (is_within ? 0 : 1));
}

[[nodiscard]] Bunch fire(std::uint32_t channel, std::uint16_t sequence) {
    return call_bunch(channel, sequence, order_bytes(fire_index, 1));
}

/// A call ahead of a missing one.
[[nodiscard]] Bunch early_fire(std::uint32_t channel, std::uint32_t place) {
    return fire(channel, static_cast<std::uint16_t>(2 + place));
}

/// One with so many bytes.
[[nodiscard]] Bunch early_call(std::uint16_t sequence, std::size_t bytes) {
    return call_bunch(1, sequence, Bytes(bytes));
}

}  // namespace

TEST_CASE("Limits of clients: client_waiting_max bounds the calls that wait, over all objects",
          "[netdriver][limits][rpc]") {
    NetConfig config;
    config.client_waiting_max = 12;
    for (const std::uint32_t waiting : {11u, 12u, 13u}) {
        INFO("waiting " << waiting);
        ForgedCaller caller(config);
        caller.add_turrets(3);
        for (std::uint32_t i = 0; i < waiting; ++i) {
            const Bunch call = early_fire(1 + i % 4, i / 4);
            caller.deliver({call});
            caller.deliver({call});  // no further one
        }
        check_outcome(caller, waiting <= 12, CloseReason::ReliableOverflow);
    }
}

TEST_CASE("Limits of clients: client_waiting_bytes_max bounds the bytes of these, and of parts",
          "[netdriver][limits][rpc]") {
    NetConfig config;
    config.client_waiting_bytes_max = 5'000;
    config.client_call_bytes_max = 5'000;
    for (const std::size_t last_bytes : {63u, 64u, 65u}) {
        INFO("last " << last_bytes);
        ForgedCaller caller(config);
        caller.add_turrets(1);
        for (std::uint16_t i = 0; i < 3; ++i) {
            caller.deliver({part_bunch(2, static_cast<std::uint16_t>(1 + i), i == 0, false)});
        }
        caller.deliver({early_call(2, call_part_bytes)});
        caller.deliver({early_call(3, 5'000 - 4 * call_part_bytes - 64)});
        REQUIRE(caller.is_joined());
        caller.deliver({early_call(4, last_bytes)});
        check_outcome(caller, last_bytes <= 64, CloseReason::ReliableOverflow);
    }
}

TEST_CASE("Limits of clients: client_call_bytes_max bounds one call", "[netdriver][limits][rpc]") {
    NetConfig config;
    config.client_call_bytes_max = 3 * call_part_bytes + 10;
    for (const std::size_t last_bytes : {9u, 10u, 11u}) {
        INFO("last " << last_bytes);
        ForgedCaller caller(config);
        for (std::uint16_t i = 1; i <= 3; ++i) {
            caller.deliver({part_bunch(1, i, i == 1, false)});
        }
        REQUIRE(caller.is_joined());
        caller.deliver({part_bunch(1, 4, false, true, last_bytes)});
        // Within the limit it is read, and is no call.
        CHECK_FALSE(caller.is_joined());
        CHECK(caller.closed_count(last_bytes <= 10 ? CloseReason::MalformedBunch
                                                   : CloseReason::ReliableOverflow) == 1);
    }
}

TEST_CASE("Limits of clients: called_channels_max bounds the objects that are called on",
          "[netdriver][limits][rpc]") {
    NetConfig config;
    config.called_channels_max = 5;
    for (const std::uint32_t called : {4u, 5u, 6u}) {
        INFO("called " << called);
        ForgedCaller caller(config);
        caller.add_turrets(6);
        for (std::uint32_t channel = 1; channel <= called; ++channel) {
            caller.deliver({fire(channel, 1)});
            caller.deliver({fire(channel, 2)});
        }
        check_outcome(caller, called <= 5, CloseReason::TooManyChannels);
    }
}

TEST_CASE(
    "Limits of clients: calls_burst_max and function_calls_burst_max bound what comes at once",
    "[netdriver][limits][rpc]") {
    NetConfig config;
    const bool is_of_function = GENERATE(true, false);
    CAPTURE(is_of_function);
    (is_of_function ? config.function_calls_burst_max : config.calls_burst_max) = 10;
    (is_of_function ? config.function_calls_per_second_max : config.calls_per_second_max) = 1;
    // Besides what may come at once it takes what may have been under way.
    config.client_waiting_max = 4;
    for (const std::uint16_t calls : {std::uint16_t{13}, std::uint16_t{14}, std::uint16_t{15}}) {
        INFO("calls " << calls);
        ForgedCaller caller(config);
        for (std::uint16_t i = 1; i <= calls; ++i) {
            caller.deliver({fire(1, i)});
        }
        check_outcome(caller, calls <= 14, CloseReason::TooManyCalls);
        CHECK(caller.world.heard.size() == std::min<std::size_t>(calls, 14));
    }
}

TEST_CASE("Limits of clients: client_strikes_per_second_max bounds the calls that are dropped",
          "[netdriver][limits][rpc]") {
    NetConfig config;
    config.client_strikes_per_second_max = 20;
    for (const std::uint32_t strikes : {19u, 20u, 21u}) {
        INFO("strikes " << strikes);
        ForgedCaller not_its_own(config);
        not_its_own.driver.clear_owner(not_its_own.id);
        std::vector<Bunch> calls;
        for (std::uint32_t i = 0; i < strikes; ++i) {
            calls.push_back(call_bunch(1, std::nullopt, order_bytes(aim_index, i)));
        }
        not_its_own.deliver(calls);
        check_outcome(not_its_own, strikes <= 20, CloseReason::TooManyCalls);
        CHECK(not_its_own.driver.stats().calls_not_owned == strikes);

        NetConfig slow = config;
        slow.function_calls_burst_max = 1;
        slow.function_calls_per_second_max = 1;
        ForgedCaller too_often(slow);
        too_often.deliver({call_bunch(1, std::nullopt, order_bytes(aim_index, 0))});
        too_often.deliver(calls);
        check_outcome(too_often, strikes <= 20, CloseReason::TooManyCalls);
        CHECK(too_often.driver.stats().calls_over_rate == strikes);
        CHECK(too_often.world.heard.size() == 1);
        // Later there is room again.
        if (too_often.is_joined()) {
            too_often.tick(1'000);
            too_often.deliver(calls);
            CHECK(too_often.is_joined());
        }
    }
}

TEST_CASE("Limits of clients: waiting_timeout_ms bounds how long a call waits or lacks a part",
          "[netdriver][limits][rpc]") {
    NetConfig config;
    config.waiting_timeout_ms = 5'000;
    const bool is_part = GENERATE(true, false);
    CAPTURE(is_part);
    const auto wait = [](ForgedCaller& caller, int milliseconds) {
        for (; milliseconds > 0; milliseconds -= 10) {  // silence has a limit of its own
            caller.send(caller.forge.make({}));
            caller.acknowledge();
            caller.tick(10);
        }
    };
    ForgedCaller caller(config);
    caller.add_turrets(1);
    caller.deliver({is_part ? part_bunch(1, 1, true, false) : early_fire(1, 0)});
    wait(caller, 4'900);
    CHECK(caller.is_joined());
    SECTION("what it waits for comes: then anew") {
        caller.deliver({is_part ? part_bunch(1, 2, false, false) : fire(1, 1)});
        caller.deliver({is_part ? part_bunch(1, 3, false, false) : early_fire(1, 2)});
        wait(caller, 4'900);
        CHECK(caller.is_joined());
    }
    SECTION("nothing comes") {
        // It looks at each client once in 64 flushes.
        wait(caller, 100 + 640);
        check_outcome(caller, false, CloseReason::ReliableOverflow);
    }
    SECTION("that others get on does not help it") {
        caller.deliver({fire(2, 1), fire(2, 2)});
        wait(caller, 100 + 640);
        check_outcome(caller, false, CloseReason::ReliableOverflow);
    }
}

TEST_CASE("Limits of clients: waiting_timeout_ms holds for a call without a byte, too",
          "[netdriver][limits][rpc]") {
    NetConfig config;
    config.waiting_timeout_ms = 1'000;
    ForgedCaller caller(config);
    caller.deliver({early_call(2, 0)});
    for (int i = 0; i < 64; ++i) {  // it looks at each client once in 64 flushes
        CHECK(caller.is_joined());
        caller.send(caller.forge.make({}));
        caller.tick(10);
    }
    for (int i = 0; i < 100; ++i) {
        caller.send(caller.forge.make({}));
        caller.tick(10);
    }
    check_outcome(caller, false, CloseReason::ReliableOverflow);
}

TEST_CASE("Limits of clients: on the control channel a client has no more than hello and goodbye",
          "[netdriver][limits]") {
    ForgedCaller parts;
    Bunch part = control_bunch(2, Bytes(call_part_bytes));
    part.header.is_partial = part.header.is_partial_initial = true;
    parts.deliver({part});
    CHECK(parts.is_joined());
    Bunch next = control_bunch(3, Bytes(1));
    next.header.is_partial = next.header.is_partial_final = true;
    parts.deliver({next});
    check_outcome(parts, false, CloseReason::ReliableOverflow);
    ForgedCaller early;
    early.deliver({control_bunch(3, goodbye_bytes(1))});
    check_outcome(early, false, CloseReason::ReliableOverflow);
}

TEST_CASE("Limits of clients: datagrams_per_connection_max bounds what one dispatch takes of each",
          "[netdriver][limits]") {
    NetConfig config;
    config.datagrams_per_connection_max = 32;
    for (const std::uint32_t sent : {31u, 32u, 33u, 100u}) {
        INFO("sent " << sent);
        ForgedClient client(config);
        client.join(7);
        client.send_as(PeerId{9}, client.hello_packet(8));
        client.tick();
        REQUIRE(client.driver().connection_count() == 2);
        PacketForge other(8);
        (void)other.make({});  // the hello
        const std::uint64_t before = client.driver().stats().packets_received;
        for (std::uint32_t i = 0; i < sent; ++i) {
            client.send(client.forge().make({}));
        }
        client.send_as(PeerId{9}, other.make({}));
        client.tick();
        const NetStats& stats = client.driver().stats();
        CHECK(stats.packets_received - before == std::min(sent, 32u) + 1);
        CHECK(stats.packets_over_rate == sent - std::min(sent, 32u));
        CHECK(stats.packets_dropped == stats.packets_over_rate);
        client.deliver(client.forge().make({}));  // the next dispatch is another
        CHECK(stats.packets_received - before == std::min(sent, 32u) + 2);
        CHECK(client.is_joined());
    }
}

namespace {

constexpr std::size_t share_bytes = 16 * 1'024;

/// Two clients of one server: each forges calls on the one object.
class TwoCallers {
  public:
    explicit TwoCallers(const NetConfig& config) : first(config) {
        first.send_as(second_peer, second_forge.make({control_bunch(1, ForgedCaller::hello())}));
        first.tick();
        REQUIRE(first.driver.connection_count() == 2);
        for (const Bytes& datagram : first.take_sent_to(second_peer)) {
            second_forge.header().ack = parse_packet(datagram)->header.sequence;
        }
        by_second({});
    }
    void by_second(const std::vector<Bunch>& bunches) {
        first.send_as(second_peer, second_forge.make(bunches));
        first.tick();
    }

    static constexpr PeerId second_peer{9};
    ForgedCaller first;
    PacketForge second_forge{8};
};

/// Calls of 500 bytes that wait, and one with the rest, that stand for so much: the 128 bytes that
/// each takes beside its own are counted.
[[nodiscard]] std::vector<Bunch> waiting_calls(std::size_t kept_bytes) {
    std::vector<Bunch> calls;
    std::uint16_t sequence = 2;
    for (; kept_bytes >= 2 * 628; kept_bytes -= 628) {
        calls.push_back(early_call(sequence++, 500));
    }
    calls.push_back(early_call(sequence, kept_bytes - 128));
    return calls;
}

}  // namespace

TEST_CASE(
    "Limits of clients: clients_waiting_bytes_max bounds what all keep, beyond a share of each",
    "[netdriver][limits][rpc]") {
    NetConfig config;
    config.clients_waiting_bytes_max = 4'000;
    for (const std::size_t more : {999u, 1'000u, 1'001u}) {
        INFO("more " << more);
        TwoCallers callers(config);
        // The first takes 3,000 of the pool; so the second has 1,000 of it, beyond its share.
        for (const Bunch& call : waiting_calls(share_bytes + 3'000)) {
            callers.first.deliver({call});
        }
        REQUIRE(callers.first.driver.connection_count() == 2);
        for (const Bunch& call : waiting_calls(share_bytes + more)) {
            callers.by_second({call});
        }
        CHECK(callers.first.driver.connection_count() == (more <= 1'000 ? 2u : 1u));
        CHECK(callers.first.closed_count(CloseReason::ReliableOverflow) ==
              (more <= 1'000 ? 0u : 1u));
        // What was taken goes back with who took it.
        CHECK(callers.first.driver.connection_state(forged_client_peer) == ConnectionState::Joined);
    }
}

TEST_CASE("Limits of clients: whoever stays within his share is never refused for what others keep",
          "[netdriver][limits][rpc]") {
    NetConfig config;
    config.clients_waiting_bytes_max = 0;
    TwoCallers callers(config);
    for (const Bunch& call : waiting_calls(share_bytes)) {
        callers.first.deliver({call});
        callers.by_second({call});
    }
    CHECK(callers.first.driver.connection_count() == 2);
    callers.by_second({call_bunch(1, 100, Bytes(1))});
    CHECK(callers.first.driver.connection_count() == 1);
    CHECK(callers.first.driver.connection_state(forged_client_peer) == ConnectionState::Joined);
}

TEST_CASE("Limits of clients: a byte beyond his share is one of those that all have together",
          "[netdriver][limits][rpc]") {
    for (const std::uint32_t together : {0u, 1u}) {
        for (const std::uint32_t more : {0u, 1u, 2u}) {
            INFO(more << " more, of " << together);
            NetConfig config;
            config.clients_waiting_bytes_max = together;
            ForgedCaller caller(config);
            for (const Bunch& call : waiting_calls(share_bytes + more)) {
                caller.deliver({call});
            }
            check_outcome(caller, more <= together, CloseReason::ReliableOverflow);
        }
    }
}

TEST_CASE("Limits of clients: what waited, and ran, no longer counts among what all keep",
          "[netdriver][limits][rpc]") {
    NetConfig config;
    config.clients_waiting_bytes_max = 4'000;
    config.calls_burst_max = config.function_calls_burst_max = 10'000;
    constexpr std::uint16_t calls_beyond_share = 140;  // some 2,500 bytes beyond, at 135 each
    ForgedCaller caller(config);
    std::uint16_t sequence = 1;
    for (int round = 0; round < 5; ++round) {
        INFO("round " << round);
        for (std::uint16_t i = 1; i < calls_beyond_share; ++i) {
            caller.deliver({fire(1, static_cast<std::uint16_t>(sequence + i))});
        }
        REQUIRE(caller.is_joined());
        caller.deliver({fire(1, sequence)});
        sequence = static_cast<std::uint16_t>(sequence + calls_beyond_share);
        CHECK(caller.world.heard.size() == static_cast<std::size_t>(sequence - 1));
    }
}

}  // namespace replayout::test
