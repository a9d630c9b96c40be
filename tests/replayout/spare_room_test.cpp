// SPDX-License-Identifier: MIT
//
// An object that was large once takes the memory of what it is.
#include <replayout/changelist_state.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/counting_resource.h"
#include "support/test_layout.h"
#include "support/test_package_map.h"

namespace replayout::test {
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

TEST_CASE("ChangelistState: an object that was large once takes the memory of what it is",
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
    // Less than a kilobyte of each of those may stay, and 256 deletions of each of two arrays.
    CHECK(resource.bytes_in_use() < small + 24'000);
    // What a value takes that stays about as large is not given back and taken again.
    const std::uint64_t taken = resource.allocation_count();
    for (int round = 0; round < 20; ++round) {
        update_to(3);
        update_to(7);
    }
    CHECK(resource.allocation_count() == taken);
}

}  // namespace replayout::test
