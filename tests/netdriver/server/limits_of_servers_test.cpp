// SPDX-License-Identifier: MIT
//
// What a client takes of its server, over all objects and in time: each limit just within it, at
// it, and just beyond (docs/limits.md). The limits of one object, message or packet are those of
// net_driver_limits_test.cpp.
#include <replayout/netdriver/net_config.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/seeded_random.h"
#include "support/hostile/forged_pawn.h"
#include "support/hostile/forged_peer.h"

namespace replayout::test {
namespace {

/// Whether the client is still there.
void check_outcome(ForgedServer& server, bool is_within, CloseReason reason) {
    CHECK(server.is_joined() == is_within);
    CHECK(server.driver().close_reason() == (is_within ? CloseReason::None : reason));
    CHECK(server.driver().stats().closed[static_cast<std::size_t>(reason)] ==
          (is_within ? 0u : 1u));
}

/// References of the array `friends` of a pawn to objects that are not there.
[[nodiscard]] Bytes friends_block(std::uint32_t count) {
    return make_block(pawn_handles, {friends_handle}, [&](BitWriter& writer) {
        writer.write_packed_uint(count);
        if (count == 0) {
            return;
        }
        ChangeMask all(std::pmr::get_default_resource());
        all.reset(count);
        all.set_range(0, count);
        write_change_mask(writer, all, EmptySet::Possible);
        for (std::uint64_t i = 0; i < count; ++i) {
            writer.write_packed_uint(1'000 + i);
        }
    });
}

/// The array `hits` of a pawn has `count` elements, whose values are not in the block.
[[nodiscard]] Bytes hits_block(std::uint32_t count) {
    return make_block(pawn_handles, {hits_handle}, [&](BitWriter& writer) {
        writer.write_packed_uint(count);
        if (count > 0) {
            ChangeMask none(std::pmr::get_default_resource());
            none.reset(count * 3);
            write_change_mask(writer, none, EmptySet::Possible);
        }
    });
}

[[nodiscard]] Bytes name_block(std::size_t bytes) {
    return pawn_block({name_handle},
                      [&](BitWriter& writer) { write_text(writer, std::string(bytes, 'x')); });
}

/// Time passes in which the server is heard.
void wait(ForgedServer& server, int milliseconds) {
    for (; milliseconds > 0; milliseconds -= 100) {
        server.send(server.forge().make({}));
        server.tick(100);
    }
}

}  // namespace

TEST_CASE("Limits of servers: references_max bounds the references of all objects together",
          "[netdriver][limits]") {
    NetConfig config;
    config.references_max = 20;
    for (const std::uint32_t last : {4u, 5u, 6u}) {
        INFO("last " << last);
        ForgedServer server(config);
        server.welcome();
        for (const std::uint32_t channel : {1u, 2u, 3u}) {
            server.open(channel, TestSchema::pawn_number);
        }
        server.deliver_packet({}, block_of(1, friends_block(10)));
        server.deliver_packet({}, block_of(2, friends_block(5)));
        REQUIRE(server.is_joined());
        server.deliver_packet({}, block_of(3, friends_block(last)));
        check_outcome(server, last <= 5, CloseReason::TooManyReferences);
    }
}

TEST_CASE("Limits of servers: references that went no longer count, by block, close or sleep",
          "[netdriver][limits]") {
    NetConfig config;
    config.references_max = 10;
    ForgedServer server(config);
    server.welcome_with_pawn();
    for (std::uint16_t round = 0; round < 20; ++round) {
        server.deliver_packet({}, block_of(1, friends_block(10)));
        server.deliver_packet({}, block_of(1, friends_block(0)));
        server.open(2, TestSchema::pawn_number);
        server.deliver_packet({}, block_of(2, friends_block(10)));
        REQUIRE(server.is_joined());
        server.deliver_packet({close_bunch(2, 2)});
    }
    CHECK(server.is_joined());
    // One that sleeps still has its own.
    server.deliver_packet({}, block_of(1, friends_block(10)));
    server.deliver_packet({close_bunch(1, 2, ChannelCloseReason::Dormancy)});
    server.open(2, TestSchema::pawn_number);
    server.deliver_packet({}, block_of(2, friends_block(1)));
    check_outcome(server, false, CloseReason::TooManyReferences);
}

TEST_CASE(
    "Limits of servers: dynamic_bytes_max bounds the arrays and texts of all objects together",
    "[netdriver][limits]") {
    NetConfig config;
    config.dynamic_bytes_max = 3 * 2'048 * sizeof(Hit);
    for (const std::uint32_t last : {2'047u, 2'048u}) {
        for (const std::size_t text : {std::size_t{0}, sizeof(Hit), sizeof(Hit) + 1}) {
            INFO("last " << last << ", text " << text);
            ForgedServer server(config);
            server.welcome();
            for (const std::uint32_t channel : {1u, 2u, 3u, 4u}) {
                server.open(channel, TestSchema::pawn_number);
            }
            server.deliver_packet({}, block_of(1, hits_block(2'048)));
            server.deliver_packet({}, block_of(2, hits_block(2'048)));
            server.deliver_packet({}, block_of(3, hits_block(last)));
            REQUIRE(server.is_joined());
            server.deliver_packet({}, block_of(4, name_block(text)));
            const std::size_t room = (2'048 - last) * sizeof(Hit);
            check_outcome(server, text <= room, CloseReason::TooMuchMemory);
        }
    }
}

TEST_CASE("Limits of servers: arrays grown by 9 bytes a channel stay within dynamic_bytes_max",
          "[netdriver][hostile][limits]") {
    NetConfig config;
    config.dynamic_bytes_max = 4 * 1'024 * 1'024;
    ForgedServer server(config);
    server.welcome();
    for (std::uint32_t channel = 1; server.is_joined() && channel < 1'000; ++channel) {
        server.open(channel, TestSchema::pawn_number);
        server.deliver_packet({}, block_of(channel, hits_block(2'048)));
        REQUIRE(server.world().value_bytes() <= config.dynamic_bytes_max);
    }
    check_outcome(server, false, CloseReason::TooMuchMemory);
}

TEST_CASE("Limits of servers: memory that went counts no longer, by block or by close",
          "[netdriver][limits]") {
    NetConfig config;
    config.dynamic_bytes_max = 3 * 2'048 * sizeof(Hit);
    ForgedServer server(config);
    server.welcome_with_pawn();
    SeededRandom random(9);
    for (std::uint32_t round = 0; round < 200; ++round) {
        INFO("round " << round);
        // What is written again and again counts at most twice.
        server.deliver_packet({}, block_of(1, hits_block(random.between(0, 2'048))));
        server.deliver_packet({}, block_of(1, name_block(random.between(0, 1'000))));
        server.open(2, TestSchema::pawn_number);
        server.deliver_packet({}, block_of(2, hits_block(1'000)));
        REQUIRE(server.is_joined());
        server.deliver_packet({close_bunch(2, 2)});
    }
    // One that sleeps still has its own.
    server.deliver_packet({}, block_of(1, hits_block(2'048)));
    server.deliver_packet({close_bunch(1, 2, ChannelCloseReason::Dormancy)});
    server.open(2, TestSchema::pawn_number);
    server.open(3, TestSchema::pawn_number);
    server.deliver_packet({}, block_of(2, hits_block(2'048)));
    server.deliver_packet({}, block_of(3, hits_block(2'048)));
    check_outcome(server, false, CloseReason::TooMuchMemory);
}

TEST_CASE("Limits of servers: datagrams_per_connection_max bounds what one dispatch takes",
          "[netdriver][limits]") {
    NetConfig config;
    config.datagrams_per_connection_max = 32;
    for (const std::uint32_t sent : {31u, 32u, 33u}) {
        INFO("sent " << sent);
        ForgedServer server(config);
        server.welcome();
        const std::uint64_t before = server.driver().stats().packets_received;
        for (std::uint32_t i = 0; i < sent; ++i) {
            server.send(server.forge().make({}));
        }
        server.tick();
        CHECK(server.driver().stats().packets_received - before == std::min(sent, 32u));
        CHECK(server.driver().stats().packets_over_rate == (sent > 32 ? 1 : 0));
        CHECK(server.is_joined());
    }
}

TEST_CASE("Limits of servers: join_timeout_ms bounds how long a client waits for its welcome",
          "[netdriver][limits]") {
    NetConfig config;
    config.join_timeout_ms = 5'000;
    for (const int milliseconds : {4'900, 5'000}) {
        INFO("milliseconds " << milliseconds);
        ForgedServer server(config);
        // It is heard, and says nothing. The first millisecond passed with the hello.
        wait(server, milliseconds - 100);
        server.send(server.forge().make({}));
        server.tick(99);
        const bool is_within = milliseconds < 5'000;
        CHECK(server.driver().state() ==
              (is_within ? ConnectionState::Connecting : ConnectionState::Closed));
        CHECK(server.driver().close_reason() ==
              (is_within ? CloseReason::None : CloseReason::Timeout));
    }
    ForgedServer joined(config);
    joined.welcome();
    wait(joined, 10'000);
    CHECK(joined.is_joined());
}

TEST_CASE(
    "Limits of servers: waiting_timeout_ms bounds how long anything waits for what is missing",
    "[netdriver][limits]") {
    NetConfig config;
    config.waiting_timeout_ms = 5'000;
    const Bytes block =
        pawn_block({health_handle}, [](BitWriter& writer) { writer.write_bits(1, 32); });
    const struct {
        const char* name;
        Bunch bunch;
    } cases[] = {
        {"a value before the open", value_bunch(1, 2, block)},
        {"a message on the control channel", control_bunch(5, welcome_bytes())},
        {"a call",
         [] {
             Bunch call = value_bunch(2, 2, Bytes(3));
             call.header.is_call = true;
             return call;
         }()},
    };
    for (const auto& test : cases) {
        INFO(test.name);
        ForgedServer server(config);
        server.welcome();
        server.open(2, TestSchema::pawn_number);
        server.deliver_packet({test.bunch});
        wait(server, 4'900);
        CHECK(server.is_joined());
        wait(server, 100 + 1'000);  // it looks once a second
        check_outcome(server, false, CloseReason::ReliableOverflow);
    }
    ForgedServer server(config);
    server.welcome();
    server.deliver_packet({cases[0].bunch});
    wait(server, 4'900);
    server.open(1, TestSchema::pawn_number);
    wait(server, 10'000);
    check_outcome(server, true, CloseReason::ReliableOverflow);
}

TEST_CASE("Limits of servers: the room of messages that never ended goes with what they were of",
          "[netdriver][limits]") {
    constexpr std::size_t part_bytes = 1'200 - 64;
    constexpr std::uint16_t part_count = 50;
    constexpr std::uint32_t channels = 40;
    const auto part = [](std::uint32_t channel, std::uint16_t place, std::size_t bytes) {
        Bunch bunch = value_bunch(channel, static_cast<std::uint16_t>(2 + place), Bytes(bytes));
        bunch.header.is_partial = true;
        bunch.header.is_partial_initial = place == 0;
        return bunch;
    };
    const bool is_closed = GENERATE(true, false);
    CAPTURE(is_closed);
    ForgedServer server;
    server.welcome();
    const std::int64_t before = server.memory().bytes_in_use();
    for (std::uint32_t channel = 1; channel <= channels; ++channel) {
        server.open(channel, TestSchema::pawn_number);
        for (std::uint16_t i = 0; i < part_count; ++i) {
            server.deliver_packet({part(channel, i, part_bytes)});
        }
        // By a close, or by a part without its bytes, of a value that was taken back.
        server.deliver_packet(
            {is_closed ? close_bunch(channel, part_count + 2) : part(channel, part_count, 0)});
    }
    REQUIRE(server.is_joined());
    // Not those of a single one.
    CHECK(server.memory().bytes_in_use() - before <
          static_cast<std::int64_t>(part_count * part_bytes));
}

}  // namespace replayout::test
