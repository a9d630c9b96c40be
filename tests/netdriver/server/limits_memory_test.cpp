// SPDX-License-Identifier: MIT
//
// What a client can make a server keep, with the limits as they are by default: 1 MiB at most,
// whatever it does, and nothing once it has left.
#include <replayout/netdriver/memory_report.h>
#include <replayout/netdriver/net_config.h>

#include <cstdint>
#include <vector>

#include "support/checks/catch.h"
#include "support/hostile/forged_caller.h"

namespace replayout::test {
namespace {

constexpr std::int64_t connection_bytes_max = 1'024 * 1'024;

/// A client that was there once, has left, and comes back to go to each limit, and beyond none.
class GreedyClient {
  public:
    GreedyClient() {
        caller.add_turrets(config.called_channels_max - 1);
        leave();
        kept_before = kept_bytes();
        all_before = caller.memory.bytes_in_use();
        caller.forge = PacketForge(10);
        caller.deliver({control_bunch(1, ForgedCaller::hello())});
        caller.add_turrets(0);
    }

    void leave() {
        caller.deliver({control_bunch(2, goodbye_bytes(1))});
        caller.tick();
        (void)caller.take_sent();
        REQUIRE(caller.driver.connection_count() == 0);
    }

    /// Calls that wait on as many objects as may have any.
    void let_calls_wait() {
        for (; next_channel <= config.client_waiting_max; ++next_channel) {
            caller.deliver({call_bunch(next_channel, 2, Bytes(1))});
        }
    }
    /// The largest calls, but for their ends, up to what may wait in bytes.
    void begin_large_calls() {
        std::size_t bytes = config.client_waiting_max;
        const auto has_room = [&] {
            return bytes + call_part_bytes <= config.client_waiting_bytes_max;
        };
        for (; has_room(); ++next_channel) {
            std::size_t of_call = 0;
            for (std::uint16_t part = 1;
                 has_room() && of_call + call_part_bytes <= config.client_call_bytes_max; ++part) {
                caller.deliver({part_bunch(next_channel, part, part == 1, false)});
                of_call += call_part_bytes;
                bytes += call_part_bytes;
            }
        }
    }
    /// On all other objects a call that is taken.
    void call_on_all_others() {
        for (; next_channel <= config.called_channels_max; ++next_channel) {
            caller.tick(20);  // 50 a second are within the rates
            caller.deliver({call_bunch(next_channel, 1, order_bytes(fire_index, 1))});
        }
    }
    /// The server makes calls, as many as it may, and none is ever acknowledged.
    void acknowledge_no_calls() {
        const Order order{1, {}, ""};
        while (caller.driver.call_function(caller.id, "client_tell", &order) == CallResult::Sent) {
        }
        caller.deliver({});
    }

    /// What goes with a connection, as the driver tells it.
    [[nodiscard]] std::size_t kept_bytes() const {
        const MemoryReport report = caller.driver.memory_report();
        return report.connection_bytes + report.pair_bytes + report.in_flight_bytes;
    }
    [[nodiscard]] std::int64_t most_bytes() {
        return caller.memory.bytes_in_use_max() - all_before;
    }

    NetConfig config;
    ForgedCaller caller{config, false};  // no copies of what it holds
    std::uint32_t next_channel = 1;
    std::size_t kept_before = 0;
    std::int64_t all_before = 0;
};

}  // namespace

TEST_CASE("Memory of a client: at each limit at once it is less than 1 MiB, and gone when it left",
          "[netdriver][limits][memory]") {
    GreedyClient greedy;
    greedy.let_calls_wait();
    greedy.begin_large_calls();
    greedy.call_on_all_others();
    greedy.acknowledge_no_calls();
    const MemoryReport report = greedy.caller.driver.memory_report();
    CAPTURE(greedy.most_bytes(), report.connection_bytes, report.in_flight_bytes,
            report.pair_bytes);
    REQUIRE(greedy.caller.is_joined());
    CHECK(greedy.most_bytes() < connection_bytes_max);
    CHECK(greedy.kept_bytes() - greedy.kept_before > 500'000);
    SECTION("of each kind one more is refused: a call that waits") {
        greedy.caller.deliver({call_bunch(1, 3, {})});
        CHECK(greedy.caller.closed_count(CloseReason::ReliableOverflow) == 1);
    }
    SECTION("another part") {
        greedy.caller.deliver({part_bunch(1'024, 2, true, false)});
        CHECK(greedy.caller.closed_count(CloseReason::ReliableOverflow) == 1);
    }
    SECTION("another object") {
        const NetObjectId id =
            greedy.caller.driver.add_object(turret_layout(), greedy.caller.world.add());
        for (int i = 0; i < 500 && greedy.caller.is_joined(); ++i) {
            greedy.caller.tick();
            greedy.caller.acknowledge();
            greedy.caller.deliver({});
        }
        REQUIRE(greedy.caller.is_joined());
        greedy.caller.deliver({call_bunch(id.index + 1, 1, order_bytes(fire_index, 1))});
        CHECK(greedy.caller.closed_count(CloseReason::TooManyChannels) == 1);
    }
    SECTION("it leaves") {
        greedy.leave();
        CHECK(greedy.kept_bytes() == greedy.kept_before);
    }
    SECTION("it falls silent") {
        greedy.caller.tick(20'000);
        greedy.caller.tick(5'000);
        CHECK(greedy.caller.closed_count(CloseReason::Timeout) == 1);
        CHECK(greedy.kept_bytes() == greedy.kept_before);
    }
}

TEST_CASE("Memory of a client: all that waited may run at once, within 1 MiB",
          "[netdriver][limits][memory]") {
    GreedyClient greedy;
    const std::size_t bytes =
        greedy.config.client_waiting_bytes_max / greedy.config.client_waiting_max;
    for (std::uint32_t i = 0; i < greedy.config.client_waiting_max; ++i) {
        greedy.caller.deliver(
            {call_bunch(1, static_cast<std::uint16_t>(2 + i), Bytes(bytes, std::byte{0xFF}))});
    }
    REQUIRE(greedy.caller.is_joined());
    greedy.caller.deliver({call_bunch(1, 1, order_bytes(fire_index, 1))});
    CHECK(greedy.caller.closed_count(CloseReason::UnknownFunction) +
              greedy.caller.closed_count(CloseReason::MalformedBunch) ==
          1);
    CAPTURE(greedy.most_bytes());
    CHECK(greedy.most_bytes() < connection_bytes_max);
}

TEST_CASE("Memory of a client: who is no client yet takes none", "[netdriver][limits][memory]") {
    ForgedCaller caller;
    const std::int64_t before = caller.memory.bytes_in_use();
    const std::uint64_t allocations = caller.memory.allocation_count();
    for (std::uint64_t peer = 100; peer < 1'100; ++peer) {
        PacketForge forge(static_cast<std::uint16_t>(peer));
        caller.send_as(PeerId{peer}, forge.make({control_bunch(1, Bytes(40))}));
        caller.send_as(PeerId{peer}, forge.make({call_bunch(1, 1, order_bytes(fire_index, 1))}));
        caller.send_as(PeerId{peer}, Bytes(1'200));
    }
    caller.tick();
    CHECK(caller.memory.bytes_in_use() == before);
    CHECK(caller.memory.allocation_count() == allocations);
    CHECK(caller.driver.stats().packets_dropped == 3'000);
}

}  // namespace replayout::test
