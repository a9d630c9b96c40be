// SPDX-License-Identifier: MIT
#include "recent_objects.h"

#include <cstdint>

#include "flush_changes.h"
#include "support/checks/catch.h"

namespace replayout::test {
namespace recent_objects_test {
namespace {

/// For how many flushes an object is recent that was added before that one.
[[nodiscard]] std::uint64_t recent_flushes(std::uint64_t added_before) {
    RecentObjects recent(std::pmr::get_default_resource());
    std::uint64_t count = 0;
    for (std::uint64_t flush = 1; flush < added_before + 200; ++flush) {
        if (flush == added_before) {
            recent.add(ObjectIndex{70});
        }
        count += recent.contains(ObjectIndex{70}) ? 1u : 0u;
        recent.end_flush(flush);
    }
    CHECK_FALSE(recent.is_any());
    return count;
}

}  // namespace

TEST_CASE("RecentObjects: an object is recent for one period, and for two at most",
          "[netdriver][recent_objects]") {
    for (std::uint64_t added_before = 1; added_before <= 2 * RecentObjects::period;
         ++added_before) {
        const std::uint64_t count = recent_flushes(added_before);
        CAPTURE(added_before, count);
        CHECK(count > RecentObjects::period);
        CHECK(count <= 2 * RecentObjects::period);
    }
}

TEST_CASE("RecentObjects: another object in the slot of one that went is recent by itself",
          "[netdriver][recent_objects]") {
    RecentObjects recent(std::pmr::get_default_resource());
    recent.add(ObjectIndex{3});
    recent.end_flush(RecentObjects::period);
    CHECK(recent.contains(ObjectIndex{3}));
    CHECK(recent.word(0) == 8);
    recent.erase(ObjectIndex{3});
    CHECK_FALSE(recent.contains(ObjectIndex{3}));
    recent.add(ObjectIndex{3});
    recent.end_flush(2 * RecentObjects::period);
    CHECK(recent.contains(ObjectIndex{3}));
}

TEST_CASE("FlushChanges: an object is young while it is recent and some client lacks its open",
          "[netdriver][recent_objects]") {
    FlushChanges changes(std::pmr::get_default_resource());
    changes.objects.grow(128);
    changes.add(ObjectIndex{2});
    changes.add(ObjectIndex{70});
    changes.objects.set(ObjectIndex{5});  // not recent
    changes.finish();
    CHECK(changes.added.test(ObjectIndex{2}));
    changes.find_young([](std::size_t word) { return word == 0 ? ~std::uint64_t{0} : 0; });
    CHECK(changes.young.word(0) == 4);
    CHECK(changes.young.word(1) == 0);
    changes.clear();
    CHECK(changes.young.is_empty());
    CHECK(changes.added.is_empty());
    CHECK(changes.recent.contains(ObjectIndex{70}));
}

}  // namespace recent_objects_test
}  // namespace replayout::test
