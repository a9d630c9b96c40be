// SPDX-License-Identifier: MIT
//
// Objects, their parts and calls that a server of the test's making sends in an order, or under
// names, that ours would not: what waits, what closes, and whom the client tells.
#include <replayout/netdriver/net_driver.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/hostile/forged_caller.h"
#include "support/hostile/forged_pawn.h"
#include "support/hostile/forged_peer.h"

namespace replayout::test {
namespace {

using Names = std::vector<std::string>;

[[nodiscard]] Bunch open_named_part(std::uint32_t channel, std::uint64_t outer,
                                    const std::string& name) {
    return open_bunch(channel, NetGUID{channel}, TestSchema::pawn_number,
                      open_has_outer | open_is_named, [&](BitWriter& writer) {
                          writer.write_packed_uint(outer);
                          write_text(writer, name);
                      });
}
[[nodiscard]] Bunch open_named(std::uint32_t channel, const std::string& name) {
    return open_bunch(channel, NetGUID{channel}, TestSchema::pawn_number, open_is_named,
                      [&](BitWriter& writer) { write_text(writer, name); });
}
/// An object with that name is no more, as is told to who is not shown it.
[[nodiscard]] Bunch end_of(std::uint16_t sequence, std::uint64_t guid, const std::string& name) {
    return control_bunch(sequence, written([&](BitWriter& writer) {
                             writer.write_bits(7, 8);
                             writer.write_packed_uint(guid);
                             write_text(writer, name);
                         }));
}

struct JoinedServer : ForgedServer {
    explicit JoinedServer(const NetConfig& config = {}) : ForgedServer(config) { welcome(); }

    [[nodiscard]] bool has(std::uint32_t channel) const { return !object_on(channel).is_null(); }
    [[nodiscard]] Pawn& pawn(std::uint32_t channel) { return world().pawn(object_on(channel)); }
};

}  // namespace

TEST_CASE("Received objects: parts wait for their outer, and what is said of them waits with them",
          "[netdriver][spawn]") {
    JoinedServer server;
    // 4 is a part of 3, that of 2, and that of 1, and they come inner first.
    server.deliver_packet({open_part(4, 4, 3), value_bunch(4, 2, health_block(44))});
    server.deliver_packet({open_part(3, 3, 2)});
    server.deliver_packet({open_part(2, 2, 1), value_bunch(2, 2, health_block(22))});
    server.deliver_packet({open_part(5, 5, 1)});
    CHECK(server.world().spawn_count == 0);
    // Said twice, it waits once.
    server.deliver_packet({open_part(2, 2, 1)});
    server.deliver_packet({open_part(4, 4, 3)});
    CHECK(server.world().spawn_count == 0);
    server.deliver_packet({open_bunch(1, NetGUID{1}, TestSchema::pawn_number)});
    REQUIRE(server.is_joined());
    CHECK(server.world().spawn_count == 5);
    CHECK(server.pawn(2).health == 22);
    CHECK(server.pawn(3).health == 100);
    CHECK(server.pawn(4).health == 44);
    // They go with it, all of them.
    server.deliver_packet({close_bunch(1, 2)});
    CHECK(server.world().object_count() == 0);
}

TEST_CASE("Received objects: what is said of one that was refused must be said right all the same",
          "[netdriver][hostile][spawn]") {
    struct Row {
        const char* what;
        Bytes block;
        CloseReason reason;
    };
    const std::array<Row, 3> rows{{
        {"a block", health_block(5), CloseReason::None},
        {"half a block", Bytes(1, health_block(5).front()), CloseReason::MalformedBlock},
        {"a block and more", make_bytes(0xFF, 0xFF, 0xFF), CloseReason::MalformedBlock},
    }};
    for (const Row& row : rows) {
        for (const bool has_length : {false, true}) {
            INFO(row.what << (has_length ? " with a length" : ""));
            JoinedServer server;
            server.world().refused_layout = &TestSchema::get().pawn();
            server.deliver_packet({open_bunch(1, NetGUID{1}, TestSchema::pawn_number)});
            REQUIRE(server.is_joined());
            server.deliver_packet(
                {}, has_length ? block_with_length_of(1, row.block) : block_of(1, row.block));
            CHECK(server.driver().close_reason() == row.reason);
            CHECK(server.driver().stats().blocks_skipped == 1);
            CHECK(server.world().spawn_count == 0);
        }
    }
}

TEST_CASE("Received objects: of two with one name it is the first that has it, until it goes",
          "[netdriver][hostile][spawn]") {
    for (const bool is_first_gone : {false, true}) {
        INFO("the first goes " << is_first_gone);
        JoinedServer server;
        server.deliver_packet({open_named(1, "door"), open_named(2, "door")});
        REQUIRE(server.world().object_count() == 2);
        server.deliver_packet({close_bunch(is_first_gone ? 1 : 2, 2)});
        CHECK(server.world().object_count() == 1);
        server.deliver_packet({end_of(2, 9, "door")});
        CHECK(server.is_joined());
        // Of one that is shown the world is told when that goes.
        CHECK(server.world().destroyed_names == (is_first_gone ? Names{"door"} : Names{}));
    }
}

TEST_CASE("Received objects: a part's name is in use while any part of the outer has it",
          "[netdriver][hostile][spawn]") {
    JoinedServer server;
    server.open(1, TestSchema::pawn_number);
    server.open(4, TestSchema::pawn_number);
    server.deliver_packet({open_named_part(2, 1, "lid"), open_named_part(3, 1, "lid")});
    REQUIRE(server.world().object_count() == 4);
    std::array<std::uint16_t, 5> sequences{};
    const auto tell_end = [&](std::uint32_t outer) {
        const std::size_t before = server.world().destroyed_parts.size();
        const std::uint16_t sequence = sequences[outer]++;
        server.deliver_packet({message_bunch(outer, static_cast<std::uint16_t>(2 + sequence),
                                             written([&](BitWriter& writer) {
                                                 writer.write_bits(2, 8);
                                                 write_text(writer, "lid");
                                             }))});
        REQUIRE(server.is_joined());
        return server.world().destroyed_parts.size() > before;
    };
    CHECK_FALSE(tell_end(1));
    CHECK(tell_end(4));  // which has no such part
    server.deliver_packet({close_bunch(2, 2)});
    CHECK_FALSE(tell_end(1));
    server.deliver_packet({close_bunch(3, 2)});
    CHECK(tell_end(1));
}

TEST_CASE(
    "Received objects: before a channel closes its calls run, and one that is none closes all",
    "[netdriver][hostile][rpc]") {
    for (const auto reason : {ChannelCloseReason::Destroyed, ChannelCloseReason::Dormancy}) {
        for (const bool is_call : {true, false}) {
            INFO("reason " << static_cast<int>(reason) << ", " << is_call);
            ForgedCalled called;
            called.deliver({call_bunch(1, 1, order_bytes(tell_index, 1)),
                            call_bunch(1, 2, is_call ? order_bytes(tell_index, 2) : Bytes()),
                            call_bunch(1, 3, order_bytes(tell_index, 3)),
                            close_bunch(1, 2, reason)});
            CHECK(called.is_joined() == is_call);
            CHECK(called.closed_count(CloseReason::MalformedBunch) == (is_call ? 0 : 1));
            CHECK(heard(called.world, "tell") == (is_call ? Numbers{1, 2, 3} : Numbers{1}));
        }
    }
}

TEST_CASE("Received objects: a call may end the connection, and then nothing sleeps or comes",
          "[netdriver][rpc]") {
    for (const auto reason : {ChannelCloseReason::Destroyed, ChannelCloseReason::Dormancy}) {
        INFO("reason " << static_cast<int>(reason));
        ForgedCalled called;
        called.world.on_call = [&](const char*, const Order& order) {
            if (order.number == 1) {
                called.driver.disconnect(forged_server_peer);
            }
        };
        called.deliver({call_bunch(1, 1, order_bytes(tell_index, 1)),
                        call_bunch(1, 2, order_bytes(tell_index, 2)), close_bunch(1, 2, reason),
                        open_bunch(2, NetGUID{2}, 0)});
        CHECK(called.closed_count(CloseReason::Requested) == 1);
        CHECK(heard(called.world, "tell") == Numbers{1});
        CHECK(called.world.object_count() == 0);
        CHECK(called.driver.stats().channels_dormant == 0);
        CHECK(called.driver.stats().channels_opened == 1);
        CHECK(called.driver.stats().channels_closed == 1);
    }
}

}  // namespace replayout::test
