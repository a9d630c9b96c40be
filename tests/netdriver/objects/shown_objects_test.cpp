// SPDX-License-Identifier: MIT
//
// What a client makes of the objects that a server shows to it: which open waits, what closes with
// what, and what of that the world is told.
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "support/hostile/forged_caller.h"
#include "support/hostile/forged_pawn.h"
#include "support/hostile/forged_peer.h"
#include "support/worlds/joined_client.h"
#include "support/worlds/typed_world.h"

namespace replayout::test {
namespace {

/// Time passes in which the server is heard.
void wait(ForgedServer& server, int milliseconds) {
    for (; milliseconds > 0; milliseconds -= 500) {
        server.send(server.forge().make({}));
        server.tick(500);
    }
}

/// A world of markers that writes down for what reason they went.
class ReasonWorld final : public TypedWorld<Marker> {
  public:
    void destroy_named(std::string_view) override { ++ended_elsewhere_count; }

    int ended_elsewhere_count = 0;
};

/// A client that was shown the door, object 5 on channel 1.
class DoorClient {
  public:
    DoorClient() : client_(world, layouts()) {
        client_.deliver(
            {open_bunch(1, NetGUID{5}, TestSchema::marker_number, open_is_named, write_name)});
        REQUIRE(!driver.guids().find_object(NetGUID{5}).is_null());
    }

    /// The door is destroyed, as object `guid`.
    void tell_end(std::uint64_t guid) {
        client_.deliver({control_bunch(++control_sequence_, written([&](BitWriter& writer) {
            writer.write_bits(7, 8);
            writer.write_packed_uint(guid);
            write_name(writer);
        }))});
    }
    void close(ChannelCloseReason reason) { client_.deliver({close_bunch(1, 2, reason)}); }

    ReasonWorld world;

  private:
    [[nodiscard]] static std::vector<const RepLayout*> layouts() {
        const TestSchema& schema = TestSchema::get();
        return {&schema.pawn(), &schema.archive(), &schema.marker()};
    }
    static void write_name(BitWriter& writer) { write_text(writer, "door"); }

    std::uint16_t control_sequence_ = 1;
    JoinedClient client_;

  public:
    NetDriver& driver = client_.driver;
};

}  // namespace

TEST_CASE("Shown objects: an end that was told stays told until the channel closes, and after it",
          "[netdriver][spawn]") {
    using Reasons = std::vector<ChannelCloseReason>;
    const struct {
        const char* name;
        std::vector<std::uint64_t> ends;
        bool is_end_of_it;
    } cases[] = {
        {"none", {}, false},
        {"of one that had the name before", {4}, false},
        {"its own", {5}, true},
        {"of one that had the name later", {6}, true},
        {"its own, and then once more that of one before", {5, 4}, true},
    };
    for (const auto& test : cases) {
        INFO(test.name);
        DoorClient leaving;
        DoorClient disconnecting;
        DoorClient unloading;
        for (const std::uint64_t guid : test.ends) {
            leaving.tell_end(guid);
            disconnecting.tell_end(guid);
            unloading.tell_end(guid);
        }
        leaving.close(ChannelCloseReason::Relevancy);
        CHECK(leaving.world.despawned == Reasons{test.is_end_of_it
                                                     ? ChannelCloseReason::Destroyed
                                                     : ChannelCloseReason::Relevancy});
        disconnecting.driver.disconnect(PeerId{1});
        CHECK(disconnecting.world.despawned == Reasons{test.is_end_of_it
                                                           ? ChannelCloseReason::Destroyed
                                                           : ChannelCloseReason::Disconnected});
        // What goes for good anyway goes for the reason that its close gives.
        unloading.close(ChannelCloseReason::LevelUnloaded);
        CHECK(unloading.world.despawned == Reasons{ChannelCloseReason::LevelUnloaded});
        CHECK(leaving.world.ended_elsewhere_count == 0);
    }
}

TEST_CASE("Shown objects: nothing but the first open of a channel waits for an outer",
          "[netdriver][hostile][spawn]") {
    ForgedServer server;
    server.welcome_with_pawn();
    SECTION("a value of the same bytes") {
        server.deliver_packet({value_bunch(2, 1, open_part(2, 2, 77).payload)});
    }
    SECTION("a second open") {
        Bunch second = open_part(1, 1, 77);
        second.header.sequence = 2;
        server.deliver_packet({second});
    }
    CHECK(server.driver().close_reason() == CloseReason::MalformedBunch);
    CHECK(server.world().spawn_count == 1);
}

TEST_CASE("Shown objects: a part that closes before its outer comes waits no more",
          "[netdriver][spawn]") {
    NetConfig config;
    config.waiting_timeout_ms = 2'000;
    const bool is_close_first = GENERATE(true, false);
    CAPTURE(is_close_first);
    ForgedServer server(config);
    server.welcome();
    server.deliver_packet({is_close_first ? close_bunch(2, 2) : open_part(2, 2, 1)});
    CHECK(server.driver().stats().channels_opened == 0);
    server.deliver_packet({is_close_first ? open_part(2, 2, 1) : close_bunch(2, 2)});
    CHECK(server.driver().stats().channels_opened == 1);
    CHECK(server.driver().stats().channels_closed == 1);
    CHECK(server.world().spawn_count == 0);
    // Its channel is free, and nothing waits there.
    wait(server, 6'000);
    REQUIRE(server.is_joined());
    server.open(2, TestSchema::pawn_number);
    CHECK(server.world().object_count() == 1);
}

TEST_CASE("Shown objects: a part that slept while its outer went wakes, and is not there",
          "[netdriver][spawn][dormancy]") {
    ForgedServer server;
    server.welcome_with_pawn();
    server.deliver_packet({open_part(2, 2, 1)});
    REQUIRE(server.world().object_count() == 2);
    server.deliver_packet({close_bunch(2, 2, ChannelCloseReason::Dormancy)});
    server.deliver_packet({close_bunch(1, 2)});
    REQUIRE(server.world().object_count() == 0);
    server.deliver_packet({open_part(2, 2, 1)}, block_of(2, health_block(5)));
    CHECK(server.is_joined());
    CHECK(server.driver().stats().blocks_skipped == 1);
    server.deliver_packet({close_bunch(2, 2)});
    CHECK(server.is_joined());
    CHECK(server.world().spawn_count == 2);
    server.open(2, TestSchema::pawn_number);
}

TEST_CASE("Shown objects: a part of what the world refused is not asked for, and not told of",
          "[netdriver][spawn]") {
    ForgedServer server;
    server.welcome();
    const LogSpy log;
    server.world().refused_layout = &TestSchema::get().marker();
    server.deliver_packet({open_bunch(1, NetGUID{1}, TestSchema::marker_number)});
    CHECK(LogSpy::messages().size() == 1);
    server.deliver_packet({open_part(2, 2, 1)});
    CHECK(server.is_joined());
    CHECK(server.world().spawn_count == 0);
    CHECK(LogSpy::messages().size() == 1);
}

TEST_CASE("Shown objects: a channel that sleeps opens for its own class alone",
          "[netdriver][hostile][dormancy]") {
    for (const std::uint32_t number :
         {TestSchema::archive_number, TestSchema::marker_number, TestSchema::pawn_number}) {
        INFO("layout " << number);
        ForgedServer server;
        server.welcome();
        server.open(1, TestSchema::marker_number);
        server.deliver_packet({close_bunch(1, 2, ChannelCloseReason::Dormancy)});
        server.deliver_packet({open_bunch(1, NetGUID{1}, number)});
        CHECK(server.driver().close_reason() == (number == TestSchema::marker_number
                                                     ? CloseReason::None
                                                     : CloseReason::MalformedBunch));
    }
}

TEST_CASE("Shown objects: a block of an unknown channel is passed over as far as it is there",
          "[netdriver][hostile]") {
    const struct {
        const char* name;
        std::uint64_t length;
        std::size_t bytes;
        bool is_there;
    } cases[] = {
        {"nothing", 0, 0, true},
        {"one byte of none", 1, 0, false},
        {"one byte", 1, 1, true},
        {"two bytes of one", 2, 1, false},
        {"as many as make no bits in 64", std::uint64_t{1} << 61, 0, false},
        {"the same and one", (std::uint64_t{1} << 61) + 1, 1, false},
        {"as many as there can be", ~std::uint64_t{0} >> 1, 0, false},
    };
    for (const auto& test : cases) {
        INFO(test.name);
        ForgedServer server;
        server.welcome();
        server.deliver_packet({}, written([&](BitWriter& writer) {
                                  writer.write_packed_uint(1);
                                  writer.write_packed_uint(2);
                                  writer.write_packed_uint(test.length << 1);
                                  writer.write_bytes(Bytes(test.bytes));
                              }));
        CHECK(server.driver().close_reason() ==
              (test.is_there ? CloseReason::None : CloseReason::MalformedBlock));
        CHECK(server.driver().stats().blocks_skipped == (test.is_there ? 1 : 0));
    }
}

TEST_CASE("Shown objects: of what closed it is forgotten what it named", "[netdriver][hostile]") {
    ForgedServer server;
    server.welcome();
    std::int64_t before = 0;
    for (std::uint64_t round = 0; round < 600; ++round) {
        server.open(1, TestSchema::pawn_number);
        server.deliver_packet({}, block_of(1, pawn_block({target_handle}, [&](BitWriter& writer) {
                                               writer.write_packed_uint(1'000 + round);
                                           })));
        server.deliver_packet({close_bunch(1, 2)});
        if (round == 100) {
            before = server.memory().bytes_in_use();
        }
    }
    REQUIRE(server.is_joined());
    CHECK(server.memory().bytes_in_use() - before < 4'096);
}

TEST_CASE("Shown objects: a connection that ends gives them up in the tick in which it ends",
          "[netdriver]") {
    NetConfig config;
    config.reorder_packets_max = 4;
    ForgedServer server(config);
    server.welcome_with_pawn();
    std::size_t left_behind = 99;
    server.world().on_left = [&](PeerId, CloseReason) {
        left_behind = server.world().object_count();
    };
    SECTION("by a packet") {
        server.send(server.forge().make({control_bunch(2, goodbye_bytes(1))}));
        server.driver().tick_dispatch(server.now().plus_milliseconds(1));
    }
    SECTION("by one that overtook another") {
        (void)server.forge().make({});
        server.send(server.forge().make({control_bunch(2, goodbye_bytes(1))}));
        server.driver().tick_dispatch(server.now().plus_milliseconds(1));
    }
    SECTION("by silence") {
        server.driver().tick_flush(
            server.now().plus_milliseconds(std::int64_t{config.timeout_ms} + 1));
    }
    CHECK(server.driver().state() == ConnectionState::Closed);
    CHECK(left_behind == 0);
    CHECK(server.world().object_count() == 0);
}

TEST_CASE("Shown objects: of the initial batch no more are there than it has",
          "[netdriver][initial_batch]") {
    const std::uint32_t count = GENERATE(1u, 2u, 3u);
    CAPTURE(count);
    ForgedServer server;
    server.welcome();
    server.deliver_packet({control_bunch(2, written([&](BitWriter& writer) {
                                             writer.write_bits(8, 8);
                                             writer.write_packed_uint(count);
                                         }))});
    CHECK(server.driver().initial_batch().spawned_count == 0);
    server.open(1, TestSchema::marker_number);
    server.open(2, TestSchema::marker_number);
    CHECK(server.driver().initial_batch().object_count == count);
    CHECK(server.driver().initial_batch().spawned_count == std::min(count, 2u));
}

TEST_CASE("Shown objects: a value that was taken back and lacks its end holds nothing up",
          "[netdriver][reliable]") {
    NetConfig config;
    config.waiting_timeout_ms = 2'000;
    const std::size_t full = fragment_bytes(config.packet_bytes_max);
    for (const bool is_taken_back : {true, false}) {
        INFO("taken back " << is_taken_back);
        Bunch first = value_bunch(1, 2, Bytes(is_taken_back ? 0 : full));
        first.header.is_partial = true;
        first.header.is_partial_initial = true;
        ForgedServer server(config);
        server.welcome_with_pawn();
        server.deliver_packet({first});
        wait(server, 6'000);
        // Of the other one the bytes are kept, and not for good.
        CHECK(server.is_joined() == is_taken_back);
    }
}

TEST_CASE("Hostile calls: one to a client that names no function closes",
          "[netdriver][hostile][rpc]") {
    for (const Bytes& payload : {Bytes(), Bytes(10, std::byte{0xFF})}) {
        INFO("bytes " << payload.size());
        ForgedCalled called;
        called.deliver({call_bunch(1, 1, payload)});
        CHECK(called.closed_count(CloseReason::MalformedBunch) == 1);
        CHECK(called.driver.stats().calls_unknown == 0);
    }
}

TEST_CASE("Shown objects: of what is refused it is logged what it was of",
          "[netdriver][hostile][close_log]") {
    {
        ForgedServer server;
        server.welcome_with_pawn();
        const LogSpy log(LogLevel::Warning);
        server.deliver_packet({}, block_of(1, Bytes(1)));
        REQUIRE(server.driver().close_reason() == CloseReason::MalformedBlock);
        REQUIRE(LogSpy::messages().size() == 1);
        CHECK(LogSpy::messages()[0].find("object 1 of class \"Pawn\"") != std::string::npos);
    }
    {
        ForgedServer server;
        server.welcome();
        const LogSpy log(LogLevel::Warning);
        server.deliver_packet({}, block_of(1, Bytes(1)));  // of no object
        REQUIRE(server.driver().close_reason() == CloseReason::UnknownChannel);
        REQUIRE(LogSpy::messages().size() == 1);
        CHECK(LogSpy::messages()[0].find("object") == std::string::npos);
    }
    ForgedCalled called;
    const LogSpy log(LogLevel::Warning);
    called.deliver({call_bunch(1, 1, call_bytes(tell_index))});
    REQUIRE(called.closed_count(CloseReason::MalformedBunch) == 1);
    REQUIRE(LogSpy::messages().size() == 1);
    CHECK(LogSpy::messages()[0].find("client_tell\", object 1 of class \"Turret\"") !=
          std::string::npos);
}

TEST_CASE("Hostile calls: a function that is none runs none, whatever ran before",
          "[netdriver][hostile][rpc]") {
    ForgedCalled called;
    std::uint16_t sequence = 0;
    std::uint64_t unknown = 0;
    std::size_t heard_count = 0;
    for (std::uint64_t number = 0; number < 64; ++number) {
        INFO("function " << number);
        const auto next = [&](std::uint64_t function) {
            return call_bunch(1, ++sequence, order_bytes(function, 1));
        };
        called.deliver({next(turret_function_count + number), next(tell_index),
                        next(~std::uint64_t{0} - number), next(turret_function_count + number)});
        unknown += 3;
        ++heard_count;
        CHECK(called.driver.stats().calls_unknown == unknown);
        CHECK(called.world.heard.size() == heard_count);
        REQUIRE(called.is_joined());
    }
}

TEST_CASE("Remote functions: before the welcome nothing is called, though the object is there",
          "[netdriver][rpc]") {
    CallForge called(forged_client_peer, forged_server_peer, {});
    REQUIRE(called.driver.connect(forged_server_peer, NetTime()));
    called.tick();
    const auto hello = parse_packet(called.take_sent().at(0));
    REQUIRE(hello);
    called.forge = PacketForge(hello->header.session);
    called.forge.header().ack = 1;
    constexpr std::uint64_t owned_facts = 1;
    called.deliver({open_bunch(1, NetGUID{1}, 0, owned_facts)});
    const ObjectHandle turret = called.driver.guids().find_object(NetGUID{1});
    REQUIRE(!turret.is_null());
    CHECK(called.driver.call_function(turret, "server_reset") == CallResult::NoChannel);
    called.deliver({control_bunch(1, welcome_bytes())});
    CHECK(called.driver.stats().calls_sent == 0);
    CHECK(called.driver.call_function(turret, "server_reset") == CallResult::Sent);
    called.tick();
    CHECK(called.driver.stats().calls_sent == 1);
}

}  // namespace replayout::test
