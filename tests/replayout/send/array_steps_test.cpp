// SPDX-License-Identifier: MIT
//
// What keyed arrays may cost a receiver (SendContext::array_steps_left), around the limit.
#include <replayout/object_replicator.h>
#include <replayout/type_counters.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"

namespace replayout::test {
namespace {

struct Ship {
    std::uint16_t id = 0;
    std::int32_t crew = 0;

    friend bool operator==(const Ship&, const Ship&) = default;
};

/// Two ordered keyed arrays; to rearrange one takes a few bits, and costs much.
struct Harbour {
    std::vector<Ship> east;
    std::vector<Ship> west;

    void swap_first() {
        std::swap(east[0], east[1]);
        std::swap(west[0], west[1]);
    }
};

[[nodiscard]] Result<const Type*> build_harbour(TypeRegistry& registry) {
    REQUIRE(struct_builder<Ship>(registry, "Ship")
                .property<&Ship::id>()
                .property<&Ship::crew>()
                .build());
    return class_builder<Harbour>(registry, "Harbour")
        .property<&Harbour::east>()
        .keyed_by<&Ship::id>(ArrayOrder::Kept)
        .property<&Harbour::west>()
        .keyed_by<&Ship::id>(ArrayOrder::Kept)
        .build();
}

/// A harbour that a receiver has, but for two ships that changed places in either array.
struct Rearranged {
    Rearranged() {
        for (std::uint16_t i = 0; i < 500; ++i) {
            harbour.east.push_back({i, 1});
            harbour.west.push_back({i, 2});
        }
        sender.update(&harbour);
        harbour.swap_first();
        sender.update(&harbour);
        position.held_version = 1;
    }

    struct Sent {
        SendResult result = SendResult::Nothing;
        RepRange range;
        std::size_t array_steps = 0;
        Bytes bytes;
    };

    [[nodiscard]] Sent block(std::size_t array_steps_left) {
        (void)sender.collect(position);
        Bytes memory(1'200);
        BitWriter writer(memory);
        SendContext context = sender.context();
        context.array_steps_left = array_steps_left;
        const SentBlock sent =
            send_properties(sender.state, position, sender.scratch.owed, writer, context);
        return {sent.result, {}, sent.array_steps, to_bytes(writer.bytes())};
    }
    /// The next part.
    [[nodiscard]] Sent part(RepCursor& cursor, std::size_t array_steps_left) {
        (void)sender.collect(position);
        Bytes memory(1'200);
        BitWriter writer(memory);
        SendContext context = sender.context();
        context.array_steps_left = array_steps_left;
        RepRange range;
        const SentBlock sent =
            send_part(sender.state, position, sender.scratch.owed, cursor, range, writer, context);
        return {sent.result, range, sent.array_steps, to_bytes(writer.bytes())};
    }

    TestLayout layout{build_harbour};
    BlockSender sender{*layout};
    Harbour harbour;
    OwedVersions position = since(1);
};

}  // namespace

TEST_CASE("Array steps: a block that costs just what is left fits, and one step more does not",
          "[replayout][array_steps]") {
    Rearranged world;
    const auto free = world.block(DecodeBudget::array_steps_default);
    REQUIRE(free.result == SendResult::Whole);
    REQUIRE(free.array_steps > 1'000);
    const std::uint64_t sent_before = world.sender.counters.properties_sent;
    TypeCounters counters(*world.layout, std::pmr::get_default_resource());
    world.sender.type_counters = &counters;
    const auto too_dear = world.block(free.array_steps - 1);
    CHECK(too_dear.result == SendResult::DoesNotFit);
    CHECK(too_dear.bytes.empty());
    CHECK(world.sender.counters.properties_sent == sent_before);
    CHECK(counters.of(RepHandle{1}).values_sent == 0);
    for (const std::size_t left : {free.array_steps, free.array_steps + 1}) {
        const auto sent = world.block(left);
        CHECK(sent.result == SendResult::Whole);
        CHECK(sent.bytes == free.bytes);
        CHECK(sent.array_steps == free.array_steps);
    }
    CHECK(counters.of(RepHandle{1}).values_sent == 2);
    CHECK(world.sender.counters.properties_sent == 3 * sent_before);
}

TEST_CASE("Array steps: a part ends before the array that costs more than is left",
          "[replayout][array_steps]") {
    Rearranged world;
    RepCursor begin;
    const std::size_t both = world.part(begin, DecodeBudget::array_steps_default).array_steps;
    for (const std::size_t left : {both, both + 1}) {
        RepCursor cursor;
        CHECK(world.part(cursor, left).result == SendResult::Whole);
    }
    RepCursor cursor;
    const auto first = world.part(cursor, both - 1);
    CHECK(first.result == SendResult::Part);
    CHECK(first.range.handle_end == 2);
    CHECK(first.array_steps < both);
    const auto second = world.part(cursor, both - 1);
    CHECK(second.result == SendResult::Whole);
    CHECK(first.array_steps + second.array_steps == both);
}

TEST_CASE("Array steps: what alone costs more than is left goes alone, in a part",
          "[replayout][array_steps]") {
    Rearranged world;
    for (const std::size_t left : {0u, 1u}) {
        RepCursor cursor;
        const auto first = world.part(cursor, left);
        CHECK(first.result == SendResult::Part);
        CHECK(first.range.handle_end == 2);
        CHECK(first.array_steps > left);
        CHECK(world.part(cursor, left).result == SendResult::Whole);
    }
}

TEST_CASE("Array steps: the bound of a block is what its receiver spends, or more",
          "[replayout][array_steps]") {
    Rearranged world;
    BlockReceiver receiver(*world.layout);
    Harbour remote = world.harbour;
    remote.swap_first();
    const auto sent = world.block(DecodeBudget::array_steps_default);
    REQUIRE(receiver.receive(&remote, sent.bytes));
    CHECK(receiver.array_steps_spent > 0);
    CHECK(receiver.array_steps_spent <= sent.array_steps);
    CHECK(remote.east == world.harbour.east);
    CHECK(remote.west == world.harbour.west);
}

TEST_CASE("ObjectReplicator: a block that is kept costs what it cost, and waits where that is more",
          "[replayout][array_steps]") {
    const TestLayout layout(build_harbour);
    BlockSender sender(*layout);
    Harbour harbour;
    harbour.east = {{1, 1}, {2, 1}};
    sender.update(&harbour);
    MemoryResource* resource = std::pmr::get_default_resource();
    ObjectReplicator first(sender.state, resource);
    const auto send = [&](ObjectReplicator& replicator, std::size_t left, Bytes& bytes) {
        Bytes memory(1'200);
        BitWriter writer(memory);
        SendContext context = sender.context();
        context.array_steps_left = left;
        const SentBlock block =
            replicator.replicate_properties(writer, 1, context, PacketRoom::Rest);
        bytes = to_bytes(writer.bytes());
        return block;
    };
    Bytes built;
    const SentBlock block = send(first, DecodeBudget::array_steps_default, built);
    REQUIRE(block == SendResult::Whole);
    REQUIRE(sender.counters.payloads_built == 1);
    const std::size_t cost = block.array_steps;
    REQUIRE(cost > 1);
    for (const std::size_t left : {cost, cost + 1}) {
        ObjectReplicator second(sender.state, resource);
        Bytes copied;
        CHECK(send(second, cost - 1, copied) == SendResult::DoesNotFit);
        CHECK(copied.empty());
        const std::uint64_t reused = sender.counters.payloads_reused;
        const SentBlock copy = send(second, left, copied);
        CHECK(copy == SendResult::Whole);
        CHECK(sender.counters.payloads_reused == reused + 1);
        CHECK(copy.array_steps == cost);
        CHECK(copied == built);
    }
    // Nothing more is owed, so nothing is to be taken from what the packet has left.
    const SentBlock nothing = send(first, cost, built);
    CHECK(nothing == SendResult::Nothing);
    CHECK(nothing.array_steps == 0);
}

}  // namespace replayout::test
