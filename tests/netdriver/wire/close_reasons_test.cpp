// SPDX-License-Identifier: MIT
//
// Every reason why a connection can end, each from what a peer does to a server or a client of ours
// (docs/limits.md). What else leads to one of them is tested where it belongs.
#include <replayout/netdriver/close_reason.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/hostile/forged_caller.h"
#include "support/hostile/forged_pawn.h"
#include "support/hostile/forged_peer.h"

namespace replayout::test::close_reasons_test {
namespace {

using Counts = std::array<std::uint64_t, close_reason_count>;

/// What a scenario ends with: how many connections of which reason were closed.
using Scenario = Counts (*)();
using Scenarios = std::map<CloseReason, Scenario>;

[[nodiscard]] Counts counts_of(const NetDriver& driver) {
    return driver.stats().closed;
}

/// A client joins, and does that.
[[nodiscard]] Counts join_and(void (*act)(ForgedClient&)) {
    ForgedClient client;
    client.join(7);
    act(client);
    return counts_of(client.driver());
}

/// A client says hello with one byte another.
[[nodiscard]] Counts say_hello_with_another(std::size_t place) {
    ForgedClient client;
    Bytes hello = client.hello();
    hello[place] ^= std::byte{1};
    client.deliver(PacketForge(7).make({control_bunch(1, hello)}));
    return counts_of(client.driver());
}

/// An owner calls.
[[nodiscard]] Counts call(const NetConfig& config, const std::vector<Bunch>& bunches) {
    ForgedCaller caller(config);
    caller.deliver(bunches);
    return counts_of(caller.driver);
}

/// A server sends, of an object that is open.
[[nodiscard]] Counts send_to_client(const NetConfig& config, const std::vector<Bunch>& bunches,
                                    const Bytes& blocks) {
    ForgedServer server(config);
    server.welcome_with_pawn();
    server.deliver_packet(bunches, blocks);
    return counts_of(server.driver());
}

/// Of a client that says hello to a server of ours, and what it says of sessions and packets.
[[nodiscard]] Scenarios session_scenarios() {
    return {
        {CloseReason::Requested,
         [] {
             return join_and(
                 [](ForgedClient& client) { client.driver().disconnect(ForgedPeer::client_peer); });
         }},
        {CloseReason::Timeout,
         [] {
             return join_and([](ForgedClient& client) { client.tick(NetConfig().timeout_ms); });
         }},
        {CloseReason::Replaced,
         [] {
             return join_and([](ForgedClient& client) { client.deliver(client.hello_packet(8)); });
         }},
        {CloseReason::ServerFull,
         [] {
             NetConfig config;
             config.connections_max = 1;
             ForgedClient client(config);
             client.join(7);
             client.send_as(PeerId{9}, client.hello_packet(8));
             client.tick();
             return counts_of(client.driver());
         }},
        {CloseReason::WireVersion, [] { return say_hello_with_another(1 + 4); }},
        {CloseReason::LayoutMismatch, [] { return say_hello_with_another(1 + 4 + 2); }},
        {CloseReason::MalformedBunch,
         [] {
             return join_and(
                 [](ForgedClient& client) { client.deliver(client.forge().make_raw(true, {})); });
         }},
        {CloseReason::NotAllowed,
         [] {
             return join_and(
                 [](ForgedClient& client) { client.deliver(client.forge().make({}, Bytes(3))); });
         }},
        {CloseReason::InvalidAck,
         [] {
             return join_and([](ForgedClient& client) {
                 client.forge().header().ack = 500;
                 client.deliver(client.forge().make({}));
             });
         }},
    };
}

/// Of an owner that calls a server of ours, or does not take what that calls.
[[nodiscard]] Scenarios owner_scenarios() {
    return {
        {CloseReason::UnknownChannel,
         [] { return call({}, {call_bunch(2, 1, order_bytes(fire_index, 1))}); }},
        {CloseReason::ReliableOverflow, [] { return call({}, {control_bunch(3, Bytes(1))}); }},
        {CloseReason::UnknownFunction,
         [] { return call({}, {call_bunch(1, 1, call_bytes(turret_function_count))}); }},
        {CloseReason::CallRefused,
         [] {
             return call({}, {call_bunch(1, 1, order_bytes(fire_index, Turret::refused_number))});
         }},
        {CloseReason::TooManyCalls,
         [] {
             NetConfig config;
             config.calls_burst_max = 1;
             config.client_waiting_max = 1;
             return call(config, {call_bunch(1, 1, order_bytes(fire_index, 1)),
                                  call_bunch(1, 2, order_bytes(fire_index, 2)),
                                  call_bunch(1, 3, order_bytes(fire_index, 3))});
         }},
        {CloseReason::CallsStalled,
         [] {
             NetConfig config;
             config.calls_waiting_max = 1;
             config.calls_full_timeout_ms = 1'000;
             ForgedCaller caller(config);
             const Order order{1, {}, ""};
             for (int i = 0; i < 30; ++i) {
                 (void)caller.driver.call_function(caller.id, "multicast_boom", &order);
                 caller.tick(50);
             }
             return counts_of(caller.driver);
         }},
    };
}

/// Of what a server sends to a client of ours.
[[nodiscard]] Scenarios client_scenarios() {
    return {
        {CloseReason::MalformedBlock, [] { return send_to_client({}, {}, block_of(0, Bytes(3))); }},
        {CloseReason::TooManyChannels,
         [] {
             NetConfig config;
             config.channels_max = 1;
             return send_to_client(config, {open_bunch(2, NetGUID{2}, 0)}, {});
         }},
        {CloseReason::TooManyReferences,
         [] {
             NetConfig config;
             config.references_per_object_max = 0;
             const Bytes block = pawn_block(
                 {target_handle}, [](BitWriter& writer) { writer.write_packed_uint(77); });
             return send_to_client(config, {}, block_of(1, block));
         }},
        {CloseReason::TooMuchMemory,
         [] {
             NetConfig config;
             config.dynamic_bytes_max = 3;
             const Bytes block =
                 pawn_block({name_handle}, [](BitWriter& writer) { write_text(writer, "four"); });
             return send_to_client(config, {}, block_of(1, block));
         }},
        {CloseReason::TooManyLayouts,
         [] {
             NetConfig config;
             config.described_bytes_max = 1'024;
             ForgedServer server(config, LayoutPolicy::SkipUnknown);
             server.forge().header().ack = 1;
             Bytes known(1'100, std::byte{'x'});
             known[0] = std::byte{5};
             server.deliver_packet({control_bunch(1, known)});
             return counts_of(server.driver());
         }},
    };
}

[[nodiscard]] Scenarios all_scenarios() {
    Scenarios all = session_scenarios();
    all.merge(owner_scenarios());
    all.merge(client_scenarios());
    return all;
}

}  // namespace

TEST_CASE("CloseReason: a peer can bring about every one but those that are none",
          "[netdriver][close_reason]") {
    const Scenarios all = all_scenarios();
    for (std::size_t number = 0; number < close_reason_count; ++number) {
        const auto reason = static_cast<CloseReason>(number);
        INFO(to_string(reason));
        const auto scenario = all.find(reason);
        // Nothing is closed for none, and malformed packets are dropped: anybody can send them.
        const bool is_used = reason != CloseReason::None && reason != CloseReason::MalformedPacket;
        REQUIRE((scenario != all.end()) == is_used);
        if (is_used) {
            const Counts closed = scenario->second();
            for (std::size_t other = 0; other < close_reason_count; ++other) {
                CHECK(closed[other] == (other == number ? 1 : 0));
            }
        }
    }
}

}  // namespace replayout::test::close_reasons_test
