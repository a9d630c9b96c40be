// SPDX-License-Identifier: MIT
//
// Each limit of NetConfig that bounds what a peer may send, just within it, at it, and just beyond.
// The peer is made by hand: ours keeps to the limits.
#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_config.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/hostile/forged_pawn.h"
#include "support/hostile/forged_peer.h"
#include "support/worlds/net_fixture.h"

namespace replayout::test {
namespace {

constexpr std::uint32_t archive_handles = 11;
constexpr std::uint32_t first_page_handle = 1;
constexpr std::uint32_t cells_handle = 9;

/// Whether the client is still there.
void check_outcome_and_world(ForgedServer& server, bool is_within, CloseReason reason) {
    CHECK(server.is_joined() == is_within);
    CHECK(server.driver().close_reason() == (is_within ? CloseReason::None : reason));
    CHECK(server.driver().stats().closed[static_cast<std::size_t>(reason)] ==
          (is_within ? 0u : 1u));
    if (!is_within) {
        CHECK(server.world().object_count() == 0);
    }
}

/// An array of a pawn with that many elements, none of which is mentioned.
[[nodiscard]] Bytes resize_array_block(std::uint32_t handle_count, std::uint32_t handle,
                                       std::uint32_t elements, std::uint32_t element_handles) {
    return make_block(handle_count, {handle}, [&](BitWriter& writer) {
        writer.write_packed_uint(elements);
        if (elements == 0) {
            return;
        }
        ChangeMask none(std::pmr::get_default_resource());
        none.reset(elements * element_handles);
        write_change_mask(writer, none, EmptySet::Possible);
    });
}

/// A whole array of references.
void write_references(BitWriter& writer, const std::vector<std::uint64_t>& guids) {
    const auto count = static_cast<std::uint32_t>(guids.size());
    writer.write_packed_uint(count);
    ChangeMask all(std::pmr::get_default_resource());
    all.reset(count);
    all.set_range(0, count);
    write_change_mask(writer, all, EmptySet::Possible);
    for (const std::uint64_t guid : guids) {
        writer.write_packed_uint(guid);
    }
}

/// References of the array `friends`, to the objects first, first + 1, ...
[[nodiscard]] Bytes friends_block(std::uint32_t count, std::uint64_t first) {
    std::vector<std::uint64_t> guids;
    for (std::uint32_t i = 0; i < count; ++i) {
        guids.push_back(first + i);
    }
    return make_block(pawn_handles, {friends_handle},
                      [&](BitWriter& writer) { write_references(writer, guids); });
}

[[nodiscard]] Bunch fragment(std::uint16_t sequence, bool is_first, bool is_last, Bytes payload) {
    Bunch bunch = value_bunch(1, sequence, std::move(payload));
    bunch.header.is_partial = true;
    bunch.header.is_partial_initial = is_first;
    bunch.header.is_partial_final = is_last;
    return bunch;
}

/// The block of an archive with its first page of `size` bytes, sent as a value in fragments.
void send_in_fragments(ForgedServer& server, const Bytes& block) {
    const std::size_t part = fragment_bytes(NetConfig().packet_bytes_max);
    std::uint16_t sequence = 2;
    for (std::size_t offset = 0; offset < block.size(); offset += part) {
        const std::size_t end = std::min(offset + part, block.size());
        Bytes payload(block.begin() + static_cast<std::ptrdiff_t>(offset),
                      block.begin() + static_cast<std::ptrdiff_t>(end));
        server.deliver_packet(
            {fragment(sequence++, offset == 0, end == block.size(), std::move(payload))});
    }
}

[[nodiscard]] Bytes page_block_of_size(std::size_t block_bytes) {
    for (std::size_t text_bytes = block_bytes - 6; text_bytes < block_bytes; ++text_bytes) {
        const Bytes block =
            make_block(archive_handles, {first_page_handle}, [&](BitWriter& writer) {
                writer.write_packed_uint(text_bytes);
                writer.write_bytes(Bytes(text_bytes, std::byte{'x'}));
            });
        if (block.size() == block_bytes) {
            return block;
        }
    }
    FAIL("no text makes a block of " << block_bytes << " bytes");
    return {};
}

}  // namespace

TEST_CASE("NetConfig: channels_max bounds the channels of a client", "[netdriver][limits]") {
    NetConfig config;
    config.channels_max = 10;
    for (const std::uint32_t channel : {9u, 10u, 11u, 0xFFFF'FFFFu}) {
        INFO("channel " << channel);
        ForgedServer by_bunch(config);
        by_bunch.welcome();
        by_bunch.deliver_packet({open_bunch(channel, NetGUID{1}, TestSchema::pawn_number)});
        check_outcome_and_world(by_bunch, channel <= 10, CloseReason::TooManyChannels);

        ForgedServer by_block(config);
        by_block.welcome();
        by_block.deliver_packet({}, block_with_length_of(channel, Bytes(3)));
        check_outcome_and_world(by_block, channel <= 10, CloseReason::MalformedBlock);
    }
}

TEST_CASE("NetConfig: a server with as many objects as a client has channels is served whole",
          "[netdriver][limits]") {
    for (const std::uint32_t objects : {19u, 20u, 21u}) {
        INFO("objects " << objects);
        NetFixtureOptions options;
        options.client.channels_max = 20;
        NetFixture net(options);
        for (std::uint32_t i = 0; i < objects; ++i) {
            net.add_pawn();
        }
        net.join();
        net.tick(20);
        const bool is_within = objects <= 20;
        CHECK((net.client_driver(0).state() == ConnectionState::Joined) == is_within);
        CHECK(net.client_driver(0).close_reason() ==
              (is_within ? CloseReason::None : CloseReason::TooManyChannels));
        CHECK(net.client(0).world.object_count() == (is_within ? objects : 0));
    }
}

TEST_CASE("NetConfig: bunch_bytes_max bounds a message in fragments", "[netdriver][limits]") {
    NetConfig config;
    config.bunch_bytes_max = 3'000;
    for (const std::size_t bytes : {2'999u, 3'000u, 3'001u}) {
        INFO("bytes " << bytes);
        ForgedServer server(config);
        server.welcome();
        server.open(1, TestSchema::archive_number);
        send_in_fragments(server, page_block_of_size(bytes));
        check_outcome_and_world(server, bytes <= 3'000, CloseReason::ReliableOverflow);
        if (bytes <= 3'000) {
            CHECK(server.world().archive(server.object_on(1)).pages[0].size() > bytes - 10);
        }
    }
}

TEST_CASE("NetConfig: reliable_waiting_max bounds the bunches that wait, over all channels",
          "[netdriver][limits]") {
    NetConfig config;
    config.reliable_waiting_max = 12;
    for (const std::uint32_t waiting : {11u, 12u, 13u}) {
        INFO("waiting " << waiting);
        ForgedServer server(config);
        server.welcome();
        // Of each channel the open is missing.
        for (std::uint32_t i = 0; i < waiting; ++i) {
            const auto sequence = static_cast<std::uint16_t>(2 + i / 4);
            server.deliver_packet({value_bunch(1 + i % 4, sequence, Bytes(5))});
            server.deliver_packet({value_bunch(1 + i % 4, sequence, Bytes(5))});  // no further one
        }
        check_outcome_and_world(server, waiting <= 12, CloseReason::ReliableOverflow);
    }
}

TEST_CASE("NetConfig: reliable_waiting_bytes_max bounds their bytes", "[netdriver][limits]") {
    NetConfig config;
    config.bunch_bytes_max = 1'200;
    config.reliable_waiting_bytes_max = 5'000;
    for (const std::size_t last_bytes : {199u, 200u, 201u}) {
        INFO("last " << last_bytes);
        ForgedServer server(config);
        server.welcome();
        for (std::uint16_t i = 0; i < 6; ++i) {
            server.deliver_packet({value_bunch(1, static_cast<std::uint16_t>(2 + i), Bytes(800))});
        }
        server.deliver_packet({value_bunch(2, 2, Bytes(last_bytes))});
        check_outcome_and_world(server, last_bytes <= 200, CloseReason::ReliableOverflow);
    }
}

TEST_CASE("NetConfig: what waited no longer counts", "[netdriver][limits]") {
    NetConfig config;
    config.reliable_waiting_max = 2;
    config.reliable_waiting_bytes_max = config.bunch_bytes_max;
    ForgedServer server(config);
    server.welcome();
    for (std::uint32_t channel = 1; channel <= 50; ++channel) {
        const Bytes block = make_block(pawn_handles, {name_handle}, [](BitWriter& writer) {
            writer.write_packed_uint(3);
            writer.write_bytes(make_bytes('A', 'n', 'n'));
        });
        server.deliver_packet({value_bunch(channel, 3, block)});
        server.deliver_packet({value_bunch(channel, 2, block)});
        server.deliver_packet({open_bunch(channel, NetGUID{channel}, TestSchema::pawn_number)});
        REQUIRE(server.is_joined());
        REQUIRE(server.world().pawn(server.object_on(channel)).name == "Ann");
        // And what waits behind a close goes with the channel's life.
        server.deliver_packet({value_bunch(channel, 5, block)});
        server.deliver_packet({close_bunch(channel, 4)});
        REQUIRE(server.is_joined());
    }
    CHECK(server.world().object_count() == 0);
}

TEST_CASE("NetConfig: a sequence far beyond the one that is missing is refused",
          "[netdriver][limits]") {
    for (const std::uint32_t ahead : {4'095u, 4'096u, 4'097u, 30'000u, 65'534u}) {
        INFO("ahead " << ahead);
        ForgedServer server;
        server.welcome();
        server.deliver_packet({value_bunch(1, static_cast<std::uint16_t>(1 + ahead), Bytes(1))});
        check_outcome_and_world(server, ahead <= 4'096, CloseReason::ReliableOverflow);
    }
}

TEST_CASE("NetConfig: datagrams_per_dispatch_max bounds what one dispatch reads",
          "[netdriver][limits]") {
    for (const std::uint32_t sent : {31u, 32u, 33u, 100u}) {
        INFO("sent " << sent);
        NetConfig config;
        config.datagrams_per_dispatch_max = 32;
        ForgedServer server(config);
        server.welcome();
        const std::uint64_t before =
            server.driver().stats().packets_received + server.driver().stats().packets_dropped;
        for (std::uint32_t i = 0; i < sent; ++i) {
            // Empty ones and nonsense count too.
            server.send(i % 3 == 0 ? server.forge().make({}) : Bytes(i % 3 == 1 ? 0 : 40));
        }
        server.tick();
        const NetStats& stats = server.driver().stats();
        CHECK(stats.packets_received + stats.packets_dropped - before == std::min(sent, 32u));
        server.tick();
        server.tick();
        server.tick();
        CHECK(stats.packets_received + stats.packets_dropped - before == sent);
    }
}

TEST_CASE("NetConfig: references_per_object_max bounds the references of an object",
          "[netdriver][limits]") {
    NetConfig config;
    config.references_per_object_max = 16;
    for (const std::uint32_t references : {15u, 16u, 17u}) {
        INFO("references " << references);
        ForgedServer server(config);
        server.welcome_with_pawn();
        server.deliver_packet({}, block_of(1, friends_block(references, 1'000)));
        check_outcome_and_world(server, references <= 16, CloseReason::TooManyReferences);
    }
}

TEST_CASE("NetConfig: references of all properties count together, those that went do not",
          "[netdriver][limits]") {
    NetConfig config;
    config.references_per_object_max = 4;
    ForgedServer server(config);
    server.welcome_with_pawn();
    const Bytes target = make_block(pawn_handles, {target_handle},
                                    [](BitWriter& writer) { writer.write_packed_uint(99); });
    server.deliver_packet({}, block_of(1, target));
    for (std::uint64_t round = 0; round < 20; ++round) {
        server.deliver_packet({}, block_of(1, friends_block(3, 100 * round + 1)));
        server.deliver_packet({}, block_of(1, friends_block(1, 100 * round + 50)));
        REQUIRE(server.is_joined());
    }
    server.deliver_packet({}, block_of(1, friends_block(4, 1)));
    check_outcome_and_world(server, false, CloseReason::TooManyReferences);
}

TEST_CASE("NetConfig: a reference beyond the limit does not outlive its target",
          "[netdriver][limits]") {
    NetConfig config;
    config.references_per_object_max = 1;
    ForgedServer server(config);
    server.welcome_with_pawn();
    server.open(2, TestSchema::pawn_number);
    // When the connection ends, channels close in order: the target goes first.
    const ObjectHandle target = server.object_on(1);
    const ObjectHandle holder = server.object_on(2);
    int despawns = 0;
    server.world().on_despawn = [&](ObjectHandle handle) {
        ++despawns;
        if (handle == target) {
            const std::vector<ObjectHandle>& friends = server.world().pawn(holder).friends;
            CHECK(friends == std::vector<ObjectHandle>(3));
        }
    };
    server.deliver_packet(
        {}, block_of(2, make_block(pawn_handles, {friends_handle}, [](BitWriter& writer) {
                         write_references(writer, {1, 1, 1});
                     })));
    CHECK(despawns == 2);
    check_outcome_and_world(server, false, CloseReason::TooManyReferences);
}

TEST_CASE("NetConfig: decode_allocation_bytes_max bounds the memory that a packet asks for",
          "[netdriver][limits]") {
    constexpr std::uint32_t array_bytes = 1'000 * sizeof(std::uint32_t);
    for (const std::uint32_t budget : {array_bytes - 1, array_bytes, array_bytes + 1}) {
        INFO("budget " << budget);
        NetConfig config;
        config.decode_allocation_bytes_max = budget;
        ForgedServer server(config);
        server.welcome();
        server.open(1, TestSchema::archive_number);
        server.deliver_packet(
            {}, block_of(1, resize_array_block(archive_handles, cells_handle, 1'000, 1)));
        check_outcome_and_world(server, budget >= array_bytes, CloseReason::MalformedBlock);
        if (budget >= array_bytes) {
            CHECK(server.world().archive(server.object_on(1)).cells.size() == 1'000);
        }
    }
}

TEST_CASE("NetConfig: the memory of a packet is one sum over all its blocks",
          "[netdriver][limits]") {
    constexpr std::uint32_t array_bytes = 100 * sizeof(std::uint32_t);
    NetConfig config;
    config.decode_allocation_bytes_max = 5 * array_bytes;
    for (const std::uint32_t objects : {4u, 5u, 6u}) {
        INFO("objects " << objects);
        ForgedServer server(config);
        server.welcome();
        Bytes blocks;
        for (std::uint32_t channel = 1; channel <= objects; ++channel) {
            server.open(channel, TestSchema::archive_number);
            const Bytes block =
                block_of(channel, resize_array_block(archive_handles, cells_handle, 100, 1));
            blocks.insert(blocks.end(), block.begin(), block.end());
        }
        server.deliver_packet({}, blocks);
        check_outcome_and_world(server, objects <= 5, CloseReason::MalformedBlock);
    }
}

TEST_CASE("NetConfig: messages that waited for one packet share its budget",
          "[netdriver][limits]") {
    // Each block of a few bytes asks for 16 KB; what all may ask for goes with their bytes.
    constexpr std::uint32_t array_count = 4'096;
    NetConfig config;
    config.decode_allocation_bytes_max = 10 * array_count * sizeof(std::uint32_t);
    for (const std::uint16_t messages : {std::uint16_t{18}, std::uint16_t{200}}) {
        INFO("messages " << messages);
        ForgedServer server(config);
        server.welcome();
        server.open(1, TestSchema::archive_number);
        for (std::uint16_t i = 1; i < messages; ++i) {
            // Larger and empty in turn, so that each of the larger ones grows it anew.
            const std::uint32_t elements = i % 2 == 0 ? array_count : 0;
            server.deliver_packet(
                {value_bunch(1, static_cast<std::uint16_t>(2 + i),
                             resize_array_block(archive_handles, cells_handle, elements, 1))});
        }
        REQUIRE(server.is_joined());
        server.deliver_packet(
            {value_bunch(1, 2, resize_array_block(archive_handles, cells_handle, array_count, 1))});
        check_outcome_and_world(server, messages == 18, CloseReason::MalformedBlock);
    }
}

TEST_CASE("NetConfig: who listens must not have arrays that no client may take",
          "[netdriver][limits]") {
    LoopbackNetwork network({}, std::pmr::get_default_resource());
    TestWorld world(1);
    NetDriverSettings settings;
    settings.may_leave_out_texts = true;
    settings.config.decode_allocation_bytes_max = 4'096 * sizeof(std::uint32_t);
    NetDriver driver(settings, network.endpoint(PeerId{1}), world);
    TestSchema::get().add_to(driver);
    const Status status = driver.listen();
    REQUIRE_FALSE(status);
    CHECK(status.error().code == ErrorCode::LimitExceeded);
    CHECK(status.error().message.find("array \"chapters\" may have 4096 elements") !=
          std::string::npos);
}

TEST_CASE("NetConfig: what arrives for an object that the world refused takes no memory",
          "[netdriver][limits]") {
    NetConfig config;
    config.decode_allocation_bytes_max = 1'024;
    ForgedServer server(config);
    server.world().refused_layout = &TestSchema::get().archive();
    server.welcome();
    server.deliver_packet({open_bunch(1, NetGUID{1}, TestSchema::archive_number)});
    for (int i = 0; i < 50; ++i) {
        server.deliver_packet(
            {}, block_of(1, resize_array_block(archive_handles, cells_handle, 1'000, 1)));
    }
    CHECK(server.is_joined());
}

TEST_CASE("NetConfig: a block with a length may ask for as much as one without",
          "[netdriver][limits]") {
    constexpr std::uint32_t array_bytes = 1'000 * sizeof(std::uint32_t);
    NetConfig config;
    config.decode_allocation_bytes_max = array_bytes;
    const Bytes block = resize_array_block(archive_handles, cells_handle, 1'000, 1);
    ForgedServer by_block(config);
    by_block.welcome();
    by_block.open(1, TestSchema::archive_number);
    by_block.deliver_packet({}, block_with_length_of(1, block));
    check_outcome_and_world(by_block, true, CloseReason::MalformedBlock);

    ForgedServer by_bunch(config);
    by_bunch.welcome();
    by_bunch.open(1, TestSchema::archive_number);
    by_bunch.deliver_packet({value_bunch(1, 2, block)});
    check_outcome_and_world(by_bunch, true, CloseReason::MalformedBlock);
}

TEST_CASE("NetConfig: many objects with large arrays may change in one packet",
          "[netdriver][limits]") {
    // Each element of each array is there already: a change of one of them takes no memory.
    NetFixture net;
    std::vector<ObjectHandle> pawns;
    for (int i = 0; i < 80; ++i) {
        pawns.push_back(net.add_pawn());
        net.pawn(pawns.back()).hits.resize(2'048);
    }
    net.join_settled();
    for (std::uint8_t change = 1; change < 5; ++change) {
        for (const ObjectHandle pawn : pawns) {
            net.pawn(pawn).hits[change].bone = change;
        }
        net.tick(4);
    }
    CHECK(net.client_driver(0).close_reason() == CloseReason::None);
    REQUIRE(net.settle());
    CHECK(net.client_text(0) == net.server_text());
}

TEST_CASE("NetConfig: connections_max bounds the clients of a server", "[netdriver][limits]") {
    NetConfig config;
    config.connections_max = 3;
    ForgedClient client(config);
    for (std::uint64_t peer = 1; peer <= 5; ++peer) {
        client.send_as(PeerId{100 + peer}, client.hello_packet(static_cast<std::uint16_t>(peer)));
        client.tick();
        CHECK(client.driver().connection_count() == std::min<std::uint64_t>(peer, 3));
        CHECK(client.closed_count(CloseReason::ServerFull) == (peer > 3 ? peer - 3 : 0));
    }
}

TEST_CASE("NetConfig: limits of a layout hold for what a server sends", "[netdriver][limits]") {
    const RepLimits limits;
    for (const std::uint32_t excess : {0u, 1u}) {
        const std::uint32_t name_bytes = limits.string_bytes_max + excess;
        ForgedServer text;
        text.welcome_with_pawn();
        text.deliver_packet(
            {value_bunch(1, 2, make_block(pawn_handles, {name_handle}, [&](BitWriter& writer) {
                             writer.write_packed_uint(name_bytes);
                             writer.write_bytes(Bytes(name_bytes, std::byte{'x'}));
                         }))});
        check_outcome_and_world(text, excess == 0, CloseReason::MalformedBlock);

        ForgedServer array;
        array.welcome_with_pawn();
        array.deliver_packet({},
                             block_of(1, resize_array_block(pawn_handles, hits_handle,
                                                            limits.array_count_max + excess, 3)));
        check_outcome_and_world(array, excess == 0, CloseReason::MalformedBlock);
    }
}

TEST_CASE("NetConfig: silence is given up after timeout_ms, not before", "[netdriver][limits]") {
    NetConfig config;
    config.timeout_ms = 5'000;
    ForgedServer server(config);
    server.welcome();
    server.tick(4'999);
    CHECK(server.is_joined());
    server.tick(1);
    check_outcome_and_world(server, false, CloseReason::Timeout);
}

TEST_CASE("NetConfig: a side that has nothing to say speaks after keep_alive_ms",
          "[netdriver][limits]") {
    NetConfig config;
    config.keep_alive_ms = 700;
    ForgedServer server(config);
    server.welcome();
    server.deliver(server.forge().make({}));  // heard, and not answered
    (void)server.take_sent();
    server.tick(700);
    CHECK(server.take_sent().size() == 1);
    for (int i = 0; i < 5; ++i) {
        server.tick(699);
        CHECK(server.take_sent().empty());
        server.tick(1);
        CHECK(server.take_sent().size() == 1);
    }
}

TEST_CASE("NetConfig: an answer is asked for after probe_ms, and less often while none comes",
          "[netdriver][limits]") {
    NetConfig config;
    config.probe_ms = 100;
    config.probe_max_ms = 350;
    config.keep_alive_ms = 700;
    ForgedClient client(config);
    client.join(7);  // and acknowledges nothing
    client.tick(1);  // the welcome, and that the initial batch is empty
    (void)client.take_sent();
    const auto check_next_after = [&](std::int64_t milliseconds) {
        INFO("after " << milliseconds << " ms");
        client.tick(milliseconds - 1);
        CHECK(client.take_sent().empty());
        client.tick(1);
        CHECK(client.take_sent().size() == 1);
    };
    for (const std::int64_t wait_ms : {100, 200, 350, 350, 350}) {
        check_next_after(wait_ms);
    }
    client.deliver(client.forge().make({}));
    check_next_after(99);  // 100 ms after the last
    // What is sent goes at once, and asks for an answer; it is no reason to ask sooner.
    (void)client.driver().add_object(TestSchema::get().pawn(),
                                     client.world().add(TestSchema::get().pawn()));
    client.tick(10);
    CHECK(client.take_sent().size() == 1);
    check_next_after(200);
}

TEST_CASE("NetConfig: a goodbye is repeated for linger_ms", "[netdriver][limits]") {
    NetConfig config;
    config.linger_ms = 500;
    ForgedServer server(config);
    server.welcome();
    server.driver().disconnect(ForgedPeer::server_peer);
    server.tick(499);
    CHECK(server.driver().state() == ConnectionState::Closing);
    server.tick(1);
    CHECK(server.driver().state() == ConnectionState::Closed);
}

}  // namespace replayout::test
