// SPDX-License-Identifier: MIT
//
// An object that was large once gives its memory back when it is small again.
// Private, and not to be seen through any public header.
#include "../../replayout/src/bits/spare_room.h"

#include <replayout/changelist_state.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"
#include "support/types/test_layout.h"
#include "support/types/test_package_map.h"

namespace replayout::test::spare_room_test {
namespace {

struct Entry {
    std::uint32_t id = 0;
    std::string text;
};

/// Every kind of value whose size is the game's choice.
struct Ledger {
    std::uint32_t page = 0;
    std::string title;
    std::vector<std::uint32_t> numbers;
    std::vector<Entry> lines;
    std::vector<Entry> free_entries;
    std::vector<Entry> ordered_entries;
};

[[nodiscard]] Result<const Type*> build_ledger(TypeRegistry& registry) {
    REQUIRE(struct_builder<Entry>(registry, "Entry")
                .property<&Entry::id>()
                .property<&Entry::text>()
                .build());
    return class_builder<Ledger>(registry, "Ledger")
        .property<&Ledger::page>()
        .property<&Ledger::title>()
        .property<&Ledger::numbers>()
        .property<&Ledger::lines>()
        .property<&Ledger::free_entries>()
        .keyed_by<&Entry::id>(ArrayOrder::Free)
        .property<&Ledger::ordered_entries>()
        .keyed_by<&Entry::id>(ArrayOrder::Kept)
        .build();
}

[[nodiscard]] Ledger ledger_of(std::uint32_t page, std::uint32_t size) {
    Ledger ledger;
    ledger.page = page;
    ledger.title = std::string(size, static_cast<char>('a' + page % 26));
    ledger.numbers.assign(size, page);
    for (std::uint32_t i = 0; i < std::min(size, 1'000u); ++i) {
        const Entry entry{i, std::string(size / 100, static_cast<char>('a' + page % 26))};
        ledger.lines.push_back(entry);
        ledger.free_entries.push_back(entry);
        ledger.ordered_entries.push_back(entry);
    }
    return ledger;
}

}  // namespace

TEST_CASE("ChangelistState: an object that was large once gives its memory back when it is small",
          "[replayout][changelist_state]") {
    RepLayoutOptions options;
    options.limits = {4'096, 4'096};
    const TestLayout layout(build_ledger, options);
    CountingResource resource;
    ServerPackageMap package_map;
    ReplicationCounters counters;
    ChangelistState state(*layout, &resource);
    std::uint32_t page = 0;
    const auto update_to = [&](std::uint32_t size) {
        const Ledger ledger = ledger_of(++page, size);
        REQUIRE(state.update(&ledger, package_map, counters));
    };
    for (std::uint32_t size = 1; size < 8; ++size) {
        update_to(size);
    }
    const std::int64_t small = resource.bytes_in_use();
    update_to(4'000);
    update_to(4'000);
    REQUIRE(resource.bytes_in_use() > small + 200'000);
    // Values before the present one, of which there are two, are kept as well.
    for (std::uint32_t size = 1; size < 8; ++size) {
        update_to(size);
    }
    // A kilobyte may stay of each of four texts and arrays and of both their previous values, and
    // of five rows of each of two keyed arrays, of which 256 deletions of 16 bytes stay too:
    // 30,000.
    CHECK(resource.bytes_in_use() < small + 24'000);
    // What a value takes that stays about as large is not given back and taken again.
    const auto go_up_and_down = [&] {
        for (int round = 0; round < 20; ++round) {
            update_to(3);
            update_to(7);
        }
    };
    go_up_and_down();
    const std::uint64_t taken = resource.allocation_count();
    go_up_and_down();
    CHECK(resource.allocation_count() == taken);
}

TEST_CASE("Spare room: more than a kilobyte, of which less than a quarter is used",
          "[replayout][spare_room]") {
    CHECK_FALSE(has_spare_room(0, 1'024));
    CHECK(has_spare_room(0, 1'025));
    CHECK_FALSE(has_spare_room(1'000, 4'000));
    CHECK(has_spare_room(999, 4'000));
}

TEST_CASE("Spare room: what is assigned or cleared keeps its memory, or gives it back",
          "[replayout][spare_room]") {
    CountingResource resource;
    PmrString text(&resource);
    assign_text(text, std::string(4'000, 'a'));
    assign_text(text, std::string(1'500, 'b'));
    CHECK(text.capacity() >= 4'000);
    assign_text(text, "short");
    CHECK(text == "short");
    CHECK(resource.bytes_in_use() == 0);

    Vector<std::uint64_t> values((Allocator<std::uint64_t>(&resource)));
    values.assign(1'000, 7);
    clear_for(values, 400);
    CHECK(values.empty());
    CHECK(values.capacity() == 1'000);
    clear_for(values, 200);
    CHECK(resource.bytes_in_use() == 0);
}

}  // namespace replayout::test::spare_room_test
