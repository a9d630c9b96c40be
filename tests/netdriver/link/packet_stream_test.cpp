// SPDX-License-Identifier: MIT
#include "packet_stream.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/checks/catch.h"
#include "support/networks/tape_transport.h"

namespace replayout::test {
namespace {

/// A connection of 32,000 bytes a second: a bucket of 3,000, of which 725 in 100 ms are a share's.
class Line {
  public:
    Line()
        : packets({.peer = {1},
                   .session = 1,
                   .packet_bytes_max = 1'200,
                   .reliable_window = {4'096, 1'024 * 1024},
                   .bytes_per_second_max = 32'000,
                   .has_congestion_control = false},
                  transport_, stats_, std::pmr::new_delete_resource()) {}

    void queue_value(std::uint32_t index, std::size_t bytes) {
        queue(index, false, bytes, BunchTag::Kind::Value);
    }
    void queue_open(std::uint32_t index) { queue(index, true, 200, BunchTag::Kind::Open); }
    /// A call with a packet of its own.
    void send_call() {
        CallPart call;
        call.header.channel = ChannelIndex{1};
        call.header.is_call = true;
        call.header.is_unreliable = true;
        call.payload = std::span(bytes_).first(1'000);
        call.header.payload_bytes = 1'000;
        call.is_last = true;
        packets.begin_packet(PacketUse::Messages);
        REQUIRE(packets.write_call(call));
        packets.flush_full();
    }
    void begin_flush(std::int64_t time_ms) {
        packets.begin_flush(NetTime::from_milliseconds(time_ms));
        packets.bandwidth().set_wanted(BudgetShare::State, true);
        packets.bandwidth().set_wanted(BudgetShare::Joins, false);
        packets.bandwidth().set_wanted(BudgetShare::Messages, true);
        packets.bandwidth().set_wanted(BudgetShare::Values, false);  // but for bunches
    }

    /// As ReplicationSender does, for objects without blocks. False: one found no room.
    [[nodiscard]] bool write_opens() {
        packets.bandwidth().refresh_wanted();
        for (const bool is_last : {false, true}) {
            while (const std::optional<ObjectIndex> index = packets.write_lost_open()) {
                packets.opens().followed(*index);
            }
            if (!is_last && packets.has_lost_opens()) {
                packets.bandwidth().set_none_wanted();
            }
        }
        return !packets.has_lost_opens();
    }

  private:
    void queue(std::uint32_t index, bool is_open, std::size_t bytes, BunchTag::Kind kind) {
        BunchHeader header;
        header.channel = ChannelIndex{index + 1};
        header.is_open = is_open;
        (void)packets.reliable().queue(header, is_open ? std::uint16_t{1} : std::uint16_t{2},
                                       std::span(bytes_).first(bytes),
                                       {kind, ObjectIndex{index}, 0});
    }

    std::array<std::byte, 10'000> bytes_{};
    TapeTransport transport_{1'400};
    NetStats stats_;

  public:
    PacketStream packets;
};

}  // namespace

TEST_CASE("PacketStream: objects leave a value its share in a flush in which calls go first, too") {
    for (const bool are_calls_first : {false, true}) {
        Line line;
        // Values had their turn, and calls found no room then.
        line.queue_value(101, 10);
        line.begin_flush(900);
        CHECK(line.packets.write_first_bunches(false));
        if (are_calls_first) {
            line.packets.turns().calls_found_no_room();
        }
        line.packets.flush_full();
        line.queue_value(0, 10'000);
        for (std::uint32_t index = 1; index <= 100; ++index) {
            line.queue_open(index);
        }
        line.begin_flush(1'000);
        line.send_call();
        CHECK_FALSE(line.write_opens());
        CHECK_FALSE(line.packets.write_first_bunches(false));
        if (are_calls_first) {
            line.packets.turns().calls_found_no_room();
        }
        line.packets.flush_full();
        REQUIRE_FALSE(line.packets.can_write(PacketUse::Values));
        line.begin_flush(1'100);
        const std::uint64_t before = line.packets.open_packet_number();
        CHECK_FALSE(line.write_opens());
        CHECK_FALSE(line.packets.write_first_bunches(false));
        line.packets.flush_full();
        // Two packets of opens, and the value's.
        CHECK(line.packets.open_packet_number() == before + (are_calls_first ? 2 : 3));
        CHECK(line.packets.can_write(PacketUse::Values) == are_calls_first);
    }
}

TEST_CASE("PacketStream: values and calls take turns, and a turn without room is none") {
    Line line;
    line.begin_flush(1'000);
    CHECK(line.packets.write_first_bunches(false));
    line.packets.turns().calls_found_no_room();
    line.begin_flush(1'100);
    SECTION("no value was there in the turn of values, so calls have it") {
        line.queue_value(0, 10);
        CHECK(line.packets.write_first_bunches(false));
        CHECK_FALSE(line.packets.turns().is_values_turn());
        line.packets.turns().calls_found_no_room();
        line.begin_flush(1'200);
        CHECK(line.packets.write_first_bunches(false));
        CHECK_FALSE(line.packets.turns().is_values_turn());  // no call went
        line.send_call();
        line.packets.turns().calls_found_no_room();
        line.begin_flush(1'300);
        CHECK(line.packets.write_first_bunches(false));
        CHECK(line.packets.reliable().waiting_count(PacketUse::Values) == 0);
    }
    SECTION("all calls found room, so values go first") {
        CHECK(line.packets.write_first_bunches(false));
        line.queue_value(0, 10);
        line.begin_flush(1'200);
        CHECK(line.packets.write_first_bunches(true));
        CHECK(line.packets.reliable().waiting_count(PacketUse::Values) == 0);
        line.packets.turns().calls_found_no_room();
        line.begin_flush(1'300);
        CHECK(line.packets.write_first_bunches(true));
        CHECK_FALSE(line.packets.turns().is_values_turn());
    }
    SECTION("one waits of which no part is here, so they keep their turn") {
        CHECK(line.packets.write_first_bunches(false));
        line.send_call();
        line.packets.turns().calls_found_no_room();
        for (std::int64_t time_ms = 1'200; time_ms < 1'300; time_ms += 20) {
            line.begin_flush(time_ms);
            CHECK(line.packets.write_first_bunches(true));
            CHECK(line.packets.turns().is_values_turn());
            line.packets.turns().calls_found_no_room();
        }
    }
}

}  // namespace replayout::test
