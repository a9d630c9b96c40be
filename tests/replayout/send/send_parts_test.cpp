// SPDX-License-Identifier: MIT
//
// An object that is larger than a packet: where it is cut, and that every part stands for itself.
#include <replayout/send_properties.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/value_difference.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/guard_types.h"
#include "support/types/test_layout.h"
#include "support/types/test_types.h"

namespace replayout {
namespace {

Ledger make_large_ledger() {
    Ledger ledger;
    ledger.bytes.resize(300);
    for (std::size_t index = 0; index < ledger.bytes.size(); ++index) {
        ledger.bytes[index] = static_cast<std::uint8_t>(index);
    }
    for (std::size_t index = 0; index < 40; ++index) {
        ledger.lines.push_back("line number " + std::to_string(index * index));
    }
    ledger.wounds.resize(25);
    for (std::size_t index = 0; index < ledger.wounds.size(); ++index) {
        ledger.wounds[index].damage = static_cast<std::uint16_t>(index);
    }
    ledger.cubes = {{{1, 2}, {3}}, {}, {{4, 5, 6}}};
    ledger.pouches.resize(6);
    for (Pouch& pouch : ledger.pouches) {
        pouch.label = "pouch";
        pouch.rounds = {1, 2, 3};
        pouch.routes = {{1}, {2, 3}};
    }
    ledger.page = 99;
    return ledger;
}

/// What is left when parts arrive, in the order given by `order`.
template <typename T>
std::string receive_all(const TestLayout& layout, const T& server,
                        const std::vector<SentPart>& parts, bool is_reversed) {
    T client;
    BlockReceiver receiver(*layout);
    receiver.package_map.bind(NetGUID{1}, ObjectHandle{5});
    std::vector<SentPart> ordered = parts;
    if (is_reversed) {
        std::reverse(ordered.begin(), ordered.end());
    }
    for (const SentPart& part : ordered) {
        REQUIRE(receiver.receive(&client, part.bytes));
        REQUIRE(receiver.bits_left == 0);
    }
    return find_difference(layout->type(), &server, &client);
}

TEST_CASE("send_part: parts fit, stand for themselves and make the object, at every capacity",
          "[replayout][send_parts]") {
    const TestLayout layout(build_ledger);
    const Ledger ledger = make_large_ledger();
    BlockSender on(*layout);
    BlockSender off(*layout);
    off.is_sharing = false;
    on.update(&ledger);
    off.update(&ledger);
    const std::size_t whole = on.block(since(0)).size();
    for (std::size_t capacity = 16; capacity < whole + 20; capacity += 1 + capacity / 16) {
        CAPTURE(capacity);
        const std::vector<SentPart> parts = on.parts(since(0), capacity);
        const std::vector<SentPart> unshared = off.parts(since(0), capacity);
        REQUIRE(parts.size() == unshared.size());
        for (std::size_t index = 0; index < parts.size(); ++index) {
            REQUIRE(parts[index].result == unshared[index].result);
            REQUIRE(parts[index].range == unshared[index].range);
            REQUIRE(parts[index].bytes == unshared[index].bytes);
            REQUIRE((parts[index].result == SendResult::ValueTooLarge ||
                     parts[index].bytes.size() <= capacity));
        }
        REQUIRE((capacity < whole || parts.size() == 1));
        REQUIRE(receive_all(layout, ledger, parts, false).empty());
        REQUIRE(receive_all(layout, ledger, parts, true).empty());
    }
}

TEST_CASE("send_part: one that holds everything is the block itself", "[replayout][send_parts]") {
    const TestLayout layout(build_ledger);
    const Ledger ledger = make_large_ledger();
    BlockSender sender(*layout);
    sender.update(&ledger);
    const Bytes block = sender.block(since(0));
    const std::vector<SentPart> parts = sender.parts(since(0), block.size());
    REQUIRE(parts.size() == 1);
    CHECK(parts[0].result == SendResult::Whole);
    CHECK(parts[0].bytes == block);
    CHECK(parts[0].range.handle_end == RepRange::no_handle_end);
    CHECK(sender.parts(since(0), block.size() - 1).size() == 2);
}

TEST_CASE("send_part: an object is cut between handles, and ranges follow one another",
          "[replayout][send_parts]") {
    const TestLayout layout(build_depot);
    Depot depot;
    for (Wound& place : depot.places) {
        place = {{1, 2, 3}, ObjectHandle{5}, 1, true, Stance::Lying};
    }
    BlockSender sender(*layout);
    sender.update(&depot);
    const std::vector<SentPart> parts = sender.parts(since(0), 100);
    REQUIRE(parts.size() > 4);
    std::uint64_t next = 1;
    for (const SentPart& part : parts) {
        CHECK(part.range.handle_begin == next);
        CHECK(part.range.element_begin == 0);
        CHECK(part.range.element_end == RepRange::no_element_end);
        CHECK((part.result == SendResult::Whole) == (&part == &parts.back()));
        next = part.range.handle_end;
    }
    CHECK(next == RepRange::no_handle_end);
    CHECK(receive_all(layout, depot, parts, true).empty());
}

TEST_CASE("send_part: a long array is cut between elements, and spans follow one another",
          "[replayout][send_parts]") {
    const TestLayout layout(build_ledger);
    Ledger ledger;
    ledger.lines.assign(100, "fourteen bytes");
    ledger.page = 1;
    BlockSender sender(*layout);
    sender.update(&ledger);
    const std::vector<SentPart> parts = sender.parts(since(0), 200);
    REQUIRE(parts.size() > 6);
    std::uint64_t next = 0;
    for (std::size_t index = 0; index + 1 < parts.size(); ++index) {
        CHECK(parts[index].result == SendResult::Part);
        CHECK(parts[index].range.handle_begin == lines_handle);
        CHECK(parts[index].range.handle_end == lines_handle + 1);
        CHECK(parts[index].range.element_begin == next);
        next = parts[index].range.element_end;
    }
    CHECK(next == RepRange::no_element_end);
    CHECK(parts.back().range.handle_begin == page_handle);
    CHECK(parts.back().result == SendResult::Whole);
    CHECK(receive_all(layout, ledger, parts, true).empty());
}

TEST_CASE("send_part: an array that ends the object ends it with its last span",
          "[replayout][send_parts]") {
    const TestLayout layout(build_ledger);
    Ledger ledger;
    ledger.lines.assign(30, "fourteen bytes");
    BlockSender sender(*layout);
    sender.update(&ledger);
    const std::vector<SentPart> parts = sender.parts(since(0), 200);
    REQUIRE(parts.size() > 1);
    CHECK(parts.back().result == SendResult::Whole);
    CHECK(parts.back().range.handle_begin == lines_handle);
}

TEST_CASE("send_part: of a part that was lost exactly that part is owed",
          "[replayout][send_parts]") {
    const TestLayout layout(build_ledger);
    const Ledger ledger = make_large_ledger();
    BlockSender sender(*layout);
    sender.update(&ledger);
    const std::vector<SentPart> parts = sender.parts(since(0), 150);
    for (std::size_t lost = 0; lost < parts.size(); ++lost) {
        CAPTURE(lost);
        Ledger client;
        BlockReceiver receiver(*layout);
        for (std::size_t index = 0; index < parts.size(); ++index) {
            if (index != lost) {
                REQUIRE(receiver.receive(&client, parts[index].bytes));
            }
        }
        OwedVersions position = since(1, 0, 1);
        position.lost_range = parts[lost].range;
        const Bytes again = sender.block(position);
        CHECK(again.size() <= parts[lost].bytes.size() + 2);
        REQUIRE(receiver.receive(&client, again));
        REQUIRE(find_difference(layout->type(), &ledger, &client).empty());
    }
}

TEST_CASE("send_part: a value larger than a packet is named and stepped over",
          "[replayout][send_parts]") {
    const TestLayout layout(build_depot);
    Depot depot;
    depot.places[0].damage = 5;
    depot.labels[1] = std::string(500, 'x');
    depot.labels[2] = "small";
    BlockSender sender(*layout);
    sender.update(&depot);
    constexpr std::uint32_t label = 30 * 5 + 2;
    const std::vector<SentPart> parts = sender.parts(since(0), 100);
    REQUIRE(parts.size() == 3);
    CHECK(parts[0].result == SendResult::Part);
    CHECK(parts[1].result == SendResult::ValueTooLarge);
    CHECK(parts[1].range == RepRange::of(RepHandle{label}));
    CHECK(parts[2].result == SendResult::Whole);
    CHECK(parts[2].range.handle_begin == label + 1);
    CHECK(receive_all(layout, depot, parts, false).empty());
}

TEST_CASE("send_part: a value that is too large and the only one writes nothing",
          "[replayout][send_parts]") {
    const TestLayout layout(build_depot);
    Depot depot;
    depot.labels[3] = std::string(500, 'x');
    BlockSender sender(*layout);
    sender.update(&depot);
    (void)sender.collect(since(0));
    Bytes memory(100);
    BitWriter writer(memory);
    RepCursor cursor;
    RepRange range;
    SendContext context = sender.context();
    CHECK(send_part(sender.state, since(0), sender.scratch.owed, cursor, range, writer, context) ==
          SendResult::ValueTooLarge);
    CHECK(writer.bit_count() == 0);
    CHECK_FALSE(writer.overflowed());
    CHECK(range.handle_begin == 154);
    CHECK(cursor.handle == RepHandle{155});
    const std::size_t bits = measure_property(sender.state, since(0), RepHandle{154}, context);
    CHECK(bits == 16 + 500 * 8);
}

TEST_CASE("send_part: an element larger than a packet makes its array too large",
          "[replayout][send_parts]") {
    const TestLayout layout(build_ledger);
    Ledger ledger;
    ledger.lines = {"a", "b", std::string(400, 'x'), "c"};
    ledger.page = 4;
    BlockSender sender(*layout);
    sender.update(&ledger);
    const std::vector<SentPart> parts = sender.parts(since(0), 100);
    const auto too_large = std::find_if(parts.begin(), parts.end(), [](const SentPart& part) {
        return part.result == SendResult::ValueTooLarge;
    });
    REQUIRE(too_large != parts.end());
    CHECK(too_large->range == RepRange::of(RepHandle{lines_handle}));
    CHECK(parts.back().result == SendResult::Whole);
    CHECK(receive_all(layout, ledger, parts, false).empty());
}

TEST_CASE("send_part: values that were measured are encoded once, shared or not at all",
          "[replayout][send_parts]") {
    const TestLayout layout(build_depot);
    Depot depot;
    for (Wound& place : depot.places) {
        place.damage = 3;
    }
    BlockSender sender(*layout);
    sender.update(&depot);
    (void)sender.parts(since(0), 20);
    const std::uint64_t first = sender.counters.values_encoded;
    const std::vector<SentPart> again = sender.parts(since(0), 20);
    CHECK(again.size() > 2);
    CHECK(sender.counters.values_encoded == first);
    CHECK(sender.counters.properties_sent == 60);
}

TEST_CASE("send_properties: a value that fails takes no room, shared or not",
          "[replayout][send_parts]") {
    const TestLayout layout(test::build_guard);
    test::Guard guard;
    guard.name = "name";
    guard.seals.resize(30);
    guard.seals[20].is_broken = true;
    guard.last = {5, true};
    BlockSender on(*layout);
    BlockSender off(*layout);
    off.is_sharing = false;
    on.update(&guard);
    off.update(&guard);
    std::size_t whole_count = 0;
    for (std::size_t capacity = 1; capacity < 60; ++capacity) {
        CAPTURE(capacity);
        SendResult results[2];
        Bytes bytes[2];
        for (BlockSender* sender : {&on, &off}) {
            const std::size_t side = sender == &on ? 0 : 1;
            (void)sender->collect(since(0));
            Bytes memory(capacity);
            BitWriter writer(memory);
            SendContext context = sender->context();
            results[side] =
                send_properties(sender->state, since(0), sender->scratch.owed, writer, context)
                    .result;
            bytes[side] = to_bytes(writer.bytes());
        }
        REQUIRE(results[0] == results[1]);
        REQUIRE(bytes[0] == bytes[1]);
        whole_count += results[0] == SendResult::Whole ? 1 : 0;
    }
    // The array alone would take more than that.
    CHECK(whole_count > 40);
}

}  // namespace
}  // namespace replayout
