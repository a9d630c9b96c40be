// SPDX-License-Identifier: MIT
#include <replayout/reflection/dynamic_type_builder.h>
#include <replayout/send_properties.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/value_difference.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"
#include "support/types/test_types.h"

namespace replayout {
namespace {

Soldier make_soldier() {
    Soldier soldier;
    soldier.serial = -5;
    soldier.owner = ObjectHandle{11};
    soldier.health = 80;
    soldier.position = {1.0f, 2.0f, 3.0f};
    soldier.title = "sergeant";
    soldier.wounds.resize(3);
    soldier.wounds[1].source = ObjectHandle{12};
    soldier.words = {"one", "", "three"};
    soldier.pouches.resize(2);
    soldier.pouches[0].rounds = {1, 2, 3};
    soldier.pouches[1].routes = {{1}, {}, {2, 3}};
    soldier.aim = {-100, 300};
    soldier.secret.word = "sesame";
    return soldier;
}

TEST_CASE("send_properties: a block is the set of handles, then their values in ascending order",
          "[replayout][send_properties]") {
    struct Small {
        std::uint8_t first = 0;
        std::uint16_t second = 0;
        bool third = false;
    };
    const TestLayout layout([](TypeRegistry& registry) {
        return class_builder<Small>(registry, "Small")
            .property<&Small::first>("first")
            .property<&Small::second>("second")
            .property<&Small::third>("third")
            .build();
    });
    BlockSender sender(*layout);
    Small small;
    small.first = 0xff;
    small.third = true;
    sender.update(&small);
    // Dense 0, then 1 0 1; 0xff; true; zeros up to the byte's end.
    CHECK(to_hex(sender.block(since(0))) == "fa 1f");
    small.second = 0x8001;
    sender.update(&small);
    CHECK(to_hex(sender.block(since(1))) == "14 00 08");
}

TEST_CASE("send_properties: a block fits exactly or leaves the writer where it stood",
          "[replayout][send_properties]") {
    const TestLayout layout(build_soldier);
    const Soldier soldier = make_soldier();
    for (const bool is_sharing : {true, false}) {
        BlockSender sender(*layout);
        sender.is_sharing = is_sharing;
        sender.update(&soldier);
        const Bytes block = sender.block(since(0));
        for (std::size_t capacity = 0; capacity <= block.size() + 2; ++capacity) {
            Bytes memory(capacity + 2);
            BitWriter writer(memory);
            writer.write_bits(0xabcd, 16);
            SendContext context = sender.context();
            const SentBlock sent =
                send_properties(sender.state, since(0), sender.scratch.owed, writer, context);
            REQUIRE(sent == (capacity < block.size() ? SendResult::DoesNotFit : SendResult::Whole));
            REQUIRE_FALSE(writer.overflowed());
            REQUIRE(writer.bit_count() == (capacity < block.size() ? 16 : 16 + block.size() * 8));
            REQUIRE(memory[0] == std::byte{0xcd});
            REQUIRE(memory[1] == std::byte{0xab});
        }
    }
}

TEST_CASE("send_properties: bytes are the same with and without sharing, for every position",
          "[replayout][send_properties]") {
    const TestLayout layout(build_soldier);
    BlockSender on(*layout);
    BlockSender off(*layout);
    off.is_sharing = false;
    Soldier soldier = make_soldier();
    const auto update = [&] {
        REQUIRE(on.update(&soldier));
        REQUIRE(off.update(&soldier));
    };
    update();  // 1
    soldier.wounds[2].damage = 7;
    soldier.secret.level = 1;
    update();  // 2
    soldier.words.pop_back();
    soldier.health = 3;
    update();  // 3
    soldier.pouches[1].routes[2].push_back(9);
    update();  // 4
    soldier.words.emplace_back("four");
    update();  // 5
    for (Version sent = 0; sent <= 5; ++sent) {
        CHECK(on.block(since(sent)) == off.block(since(sent)));
        for (Version after = 0; after < sent; ++after) {
            for (Version through = after + 1; through <= sent; ++through) {
                const OwedVersions position = since(sent, after, through);
                REQUIRE(on.block(position) == off.block(position));
                REQUIRE(on.block(position) == off.block(position));  // now from the pieces
            }
        }
    }
    CHECK(on.counters.values_reused > 0);
    CHECK(off.counters.pieces_built == 0);
}

/// Properties of all plain widths in turn; every ninth is a bool, which no row goes through.
template <std::uint32_t count>
Result<const Type*> build_run(TypeRegistry& registry) {
    constexpr std::array<PropertyKind, 9> kinds{
        PropertyKind::Int32,  PropertyKind::UInt8,  PropertyKind::UInt16,
        PropertyKind::Double, PropertyKind::Float,  PropertyKind::Vector,
        PropertyKind::UInt8,  PropertyKind::UInt64, PropertyKind::Bool};
    DynamicTypeBuilder builder(registry, TypeKind::Class, "Row", count * 16, 8);
    for (std::uint32_t i = 0; i < count; ++i) {
        builder.property("p" + std::to_string(i), kinds[i % kinds.size()], i * 16);
    }
    return builder.build();
}

/// What one sender wrote behind `bit_offset` bits, if it fits into `capacity` bytes.
struct WrittenRow {
    SendResult result = SendResult::Nothing;
    std::size_t bit_count = 0;
    Bytes bytes;

    friend bool operator==(const WrittenRow&, const WrittenRow&) = default;
};

WrittenRow write_row(BlockSender& sender, const ChangeMask& handles, std::uint32_t bit_offset,
                     std::size_t capacity) {
    Bytes memory(capacity);
    BitWriter writer(memory);
    writer.write_bits(0x2a, bit_offset);
    SendContext context = sender.context();
    WrittenRow written;
    written.result = send_properties(sender.state, since(0), handles, writer, context).result;
    written.bit_count = writer.bit_count();
    writer.finish_byte();  // what is above is unspecified
    written.bytes = to_bytes(writer.bytes());
    return written;
}

TEST_CASE("send_properties: a run of plain values alone is written as one that is counted by type",
          "[replayout][send_properties]") {
    // Counting looks at every value, so it takes the way of all other blocks.
    constexpr std::array<Result<const Type*> (*)(TypeRegistry&), 9> builders{
        build_run<1>,  build_run<2>,  build_run<7>,  build_run<14>, build_run<31>,
        build_run<32>, build_run<63>, build_run<64>, build_run<65>};
    constexpr std::array<std::uint64_t, 130> zeros{};
    RepLayoutOptions options;
    options.archetype = zeros.data();
    for (const auto builder : builders) {
        const TestLayout layout(builder, options);
        const std::uint32_t count = layout->handle_count();
        INFO("handles " << count);
        std::vector<std::uint64_t> object(std::size_t{count} * 2);
        for (std::size_t i = 0; i < object.size(); ++i) {
            object[i] = 0x0101'0101'0101'0101u * (i % 250 + 1);
            if (i % 18 == 16) {
                object[i] = 1;  // a bool
            }
        }
        for (const bool is_sharing : {true, false}) {
            BlockSender alone(*layout);
            BlockSender counted(*layout);
            TypeCounters type_counters(*layout, std::pmr::get_default_resource());
            counted.type_counters = &type_counters;
            alone.is_sharing = counted.is_sharing = is_sharing;
            REQUIRE(alone.update(object.data()));
            REQUIRE(counted.update(object.data()));
            for (std::uint32_t first = 0; first < count; ++first) {
                for (std::uint32_t length = 1; length <= count - first; ++length) {
                    ChangeMask handles;
                    handles.reset(count);
                    handles.set_range(first, length);
                    const std::uint32_t bit_offset = (first + length) % 8;
                    const WrittenRow whole = write_row(counted, handles, bit_offset, 1'000);
                    const bool is_same =
                        write_row(alone, handles, bit_offset, 1'000) == whole &&
                        write_row(alone, handles, bit_offset, whole.bytes.size()) ==
                            write_row(counted, handles, bit_offset, whole.bytes.size()) &&
                        write_row(alone, handles, bit_offset, whole.bytes.size() - 1) ==
                            write_row(counted, handles, bit_offset, whole.bytes.size() - 1);
                    INFO("handles " << first + 1 << " to " << first + length);
                    REQUIRE(whole.result == SendResult::Whole);
                    REQUIRE(is_same);
                }
            }
            CHECK(alone.counters.values_encoded == counted.counters.values_encoded);
            CHECK(alone.counters.pieces_built == counted.counters.pieces_built);
            CHECK(alone.counters.values_reused == counted.counters.values_reused);
            CHECK(alone.counters.properties_sent == counted.counters.properties_sent);
        }
    }
}

namespace {

/// The block of what changed last.
Bytes newest_block(BlockSender& sender) {
    return sender.block(since(sender.state.version() - 1));
}

/// The same by way of PlainBlock, where the values are one run.
Bytes newest_plain_block(BlockSender& sender) {
    const PlainBlock block(sender.state.layout(), sender.state.newest());
    CHECK(block.is_of(sender.state.layout(), sender.state.newest()));
    if (block.value_count() == 0) {
        return newest_block(sender);
    }
    Bytes memory(block.byte_count() + PlainBlock::spare_bytes, std::byte{0xee});
    block.write(sender.state, memory.data());
    memory.resize(block.byte_count());
    sender.state.shared().use_newest_in_place(sender.state.version(), sender.state.last_changed());
    sender.counters.values_encoded += block.value_count();
    sender.counters.properties_sent += block.value_count();
    return memory;
}

}  // namespace

TEST_CASE("PlainBlock: the bits are those of send_properties, and what was used in place is known",
          "[replayout][send_properties]") {
    constexpr std::uint32_t count = 31;
    std::vector<std::uint64_t> object(std::size_t{count} * 2, 0);
    RepLayoutOptions options;
    options.archetype = object.data();
    const TestLayout layout(build_run<count>, options);
    std::mt19937_64 random(run_seed());
    for (int round = 0; round < 20; ++round) {
        std::fill(object.begin(), object.end(), 0);
        BlockSender by_row(*layout);
        BlockSender by_block(*layout);
        for (int step = 0; step < 100; ++step) {
            const std::uint64_t first = random() % count;
            const std::uint64_t last = std::min<std::uint64_t>(first + random() % 8, count - 1);
            for (std::uint64_t i = first; i <= last; ++i) {
                object[2 * i] ^= i % 9 == 8 ? 1u : 0x0101'0101'0101'0101u;
            }
            REQUIRE(by_row.update(object.data()));
            REQUIRE(by_block.update(object.data()));
            if (random() % 4 != 0) {  // else nobody is sent this version alone
                REQUIRE(newest_plain_block(by_row) == newest_block(by_block));
            }
            if (random() % 4 == 0) {
                const auto sent = static_cast<Version>(random() % by_row.state.version());
                REQUIRE(by_row.block(since(sent)) == by_block.block(since(sent)));
            }
            REQUIRE(by_row.counters.values_encoded == by_block.counters.values_encoded);
            REQUIRE(by_row.counters.pieces_built == by_block.counters.pieces_built);
            REQUIRE(by_row.counters.values_reused == by_block.counters.values_reused);
            REQUIRE(by_row.counters.properties_sent == by_block.counters.properties_sent);
        }
    }
}

TEST_CASE("PlainBlock: a set that is no run of plain values is none",
          "[replayout][send_properties]") {
    constexpr std::array<std::uint64_t, 64> zeros{};
    RepLayoutOptions options;
    options.archetype = zeros.data();
    const TestLayout layout(build_run<31>, options);
    CHECK(PlainBlock(*layout, 0b111).value_count() == 3);
    CHECK(PlainBlock(*layout, 0b101).value_count() == 0);
    CHECK(PlainBlock(*layout, 0b11 << 7).value_count() == 0);  // the second is a bool
    CHECK_FALSE(PlainBlock(*layout, 0b111).is_of(*layout, 0b110));
    CHECK_FALSE(PlainBlock().is_of(*layout, 0b111));
}

TEST_CASE("send_properties: an unchanged object costs no serializer call",
          "[replayout][send_properties]") {
    const TestLayout layout(build_soldier);
    BlockSender sender(*layout);
    const Soldier soldier = make_soldier();
    sender.update(&soldier);
    (void)sender.block(since(0));
    const std::uint64_t before = sender.counters.values_encoded;
    for (int tick = 0; tick < 10; ++tick) {
        CHECK_FALSE(sender.update(&soldier));
        CHECK(sender.block(since(1)).empty());
    }
    CHECK(sender.counters.values_encoded == before);
    CHECK(sender.counters.objects_compared == 11);
    CHECK(sender.counters.objects_changed == 1);
}

TEST_CASE("send_properties: each value is encoded once, however many receivers are owed it",
          "[replayout][send_properties]") {
    const TestLayout layout(build_ledger);
    BlockSender sender(*layout);
    Ledger ledger;
    ledger.bytes = {1, 2, 3};
    ledger.lines = {"a"};
    ledger.page = 2;
    sender.update(&ledger);
    for (int receiver = 0; receiver < 64; ++receiver) {
        (void)sender.block(since(0));
    }
    CHECK(sender.counters.values_encoded == 3);
    CHECK(sender.counters.pieces_built == 2);  // `page` is plain: its shadow is copied
    CHECK(sender.counters.values_reused == 3 * 63);
    CHECK(sender.counters.properties_sent == 3 * 64);
    CHECK(sender.counters.values_unshared == 0);
}

TEST_CASE("send_properties: a value is encoded again only after it changed",
          "[replayout][send_properties]") {
    const TestLayout layout(build_ledger);
    BlockSender sender(*layout);
    Ledger ledger;
    ledger.page = 1;
    ledger.lines = {"a"};
    sender.update(&ledger);
    (void)sender.block(since(0));
    ledger.lines = {"b"};
    sender.update(&ledger);
    CHECK(sender.counters.values_encoded == 2);
    (void)sender.block(since(1));
    CHECK(sender.counters.values_encoded == 3);
    (void)sender.block(since(0));  // the page from its piece; the lines are another question
    CHECK(sender.counters.values_encoded == 4);
    (void)sender.block(since(0));
    CHECK(sender.counters.values_encoded == 4);
}

TEST_CASE("send_properties: of an array only the elements that are owed are written",
          "[replayout][send_properties]") {
    const TestLayout layout(build_ledger);
    BlockSender sender(*layout);
    Ledger ledger;
    ledger.lines.assign(50, "a line of some length");
    sender.update(&ledger);  // 1
    ledger.lines[7] = "seven";
    sender.update(&ledger);  // 2
    ledger.lines[30] = "thirty";
    sender.update(&ledger);  // 3
    const std::size_t whole = sender.block(since(0)).size();
    CHECK(whole > 50 * 20);
    CHECK(sender.block(since(1)).size() < 25);

    // Version 2 was lost: line 7 goes out again, and line 30 does not.
    Ledger client = ledger;
    client.lines[7] = "stale";
    client.lines[30] = "not to be touched";
    BlockReceiver receiver(*layout);
    REQUIRE(receiver.receive(&client, sender.block(since(3, 1, 2))));
    CHECK(client.lines[7] == "seven");
    CHECK(client.lines[30] == "not to be touched");
}

TEST_CASE("send_properties: of a lost span of elements only that span is written again",
          "[replayout][send_properties]") {
    const TestLayout layout(build_ledger);
    BlockSender sender(*layout);
    Ledger ledger;
    ledger.lines.assign(10, "first");
    sender.update(&ledger);  // 1
    OwedVersions position = since(1, 0, 1);
    position.lost_range = {2, 3, 4, 6};
    Ledger client;
    client.lines.assign(10, "held");
    BlockReceiver receiver(*layout);
    REQUIRE(receiver.receive(&client, sender.block(position)));
    for (std::size_t index = 0; index < 10; ++index) {
        CHECK(client.lines[index] == (index == 4 || index == 5 ? "first" : "held"));
    }
}

TEST_CASE("send_properties: a nested array sends what is owed of it, and its element nothing else",
          "[replayout][send_properties]") {
    const TestLayout layout(build_ledger);
    BlockSender sender(*layout);
    Ledger ledger;
    ledger.cubes = {{{1, 2, 3}, {4}}, {{5}}};
    sender.update(&ledger);  // 1
    ledger.cubes[0][0][1] = 20;
    sender.update(&ledger);  // 2
    Ledger client;
    client.cubes = {{{100, 100, 100}, {100}}, {{100}}};
    BlockReceiver receiver(*layout);
    REQUIRE(receiver.receive(&client, sender.block(since(1))));
    CHECK(client.cubes == decltype(client.cubes){{{100, 20, 100}, {100}}, {{100}}});
}

TEST_CASE("measure_property: tells the length that a value takes, with and without sharing",
          "[replayout][send_properties]") {
    const TestLayout layout(build_soldier);
    const Soldier soldier = make_soldier();
    for (const bool is_sharing : {true, false}) {
        BlockSender sender(*layout);
        sender.is_sharing = is_sharing;
        sender.update(&soldier);
        const ChangeMask owed = sender.collect(since(0));
        SendContext context = sender.context();
        std::size_t sum_bits = change_mask_bits(owed, EmptySet::Impossible);
        for (const std::uint32_t handle : handles_of(owed)) {
            sum_bits += measure_property(sender.state, since(0), RepHandle{handle}, context);
        }
        CHECK((sum_bits + 7) / 8 == sender.block(since(0)).size());
        const std::uint64_t calls = sender.counters.values_encoded;
        std::size_t again_bits = change_mask_bits(owed, EmptySet::Impossible);
        for (const std::uint32_t handle : handles_of(owed)) {
            again_bits += measure_property(sender.state, since(0), RepHandle{handle}, context);
        }
        CHECK(again_bits == sum_bits);
        // What is plain has a known length, and what has a piece need not be encoded to be
        // measured; the secret has none.
        const std::vector<std::uint32_t> handles = handles_of(owed);
        const auto plain_count = std::count_if(handles.begin(), handles.end(), [&](auto handle) {
            return is_plain(layout->cmd(layout->cmd_of(layout->root(), RepHandle{handle})).type);
        });
        const auto others = static_cast<std::uint64_t>(owed.count() - plain_count);
        CHECK(sender.counters.values_encoded - calls == (is_sharing ? 1 : others));
    }
}

}  // namespace
}  // namespace replayout
