// SPDX-License-Identifier: MIT
#include <replayout/changelist_history.h>

#include <initializer_list>
#include <map>
#include <random>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"

namespace replayout {
namespace {

constexpr std::uint32_t handle_count = 70;

ChangeMask make_mask(std::initializer_list<std::uint32_t> handles) {
    ChangeMask mask;
    mask.reset(handle_count);
    for (const std::uint32_t handle : handles) {
        mask.set(handle - 1);
    }
    return mask;
}

std::vector<std::uint32_t> collect(const ChangelistHistory& history, Version sent_version,
                                   VersionInterval lost = {}) {
    ChangeMask mask = make_mask({});
    history.collect(sent_version, lost, mask);
    std::vector<std::uint32_t> handles;
    for (std::uint32_t bit = mask.next(0); bit < mask.bit_count(); bit = mask.next(bit + 1)) {
        handles.push_back(bit + 1);
    }
    return handles;
}

using Handles = std::vector<std::uint32_t>;

TEST_CASE("ChangelistHistory: is empty at first", "[replayout][changelist_history]") {
    const ChangelistHistory history(handle_count, std::pmr::get_default_resource());
    CHECK(history.count() == 0);
    CHECK(collect(history, 0).empty());
    CHECK(collect(history, 0, {0, 5}).empty());
}

TEST_CASE("ChangelistHistory: tells whether anything changed last in a version",
          "[replayout][changelist_history]") {
    for (const std::uint32_t handles : {20u, 40u}) {
        INFO(handles << " handles");
        ChangelistHistory history(handles, std::pmr::get_default_resource());
        constexpr std::uint64_t all = ~std::uint64_t{0};
        const std::uint64_t last = std::uint64_t{1} << (handles - 1);
        history.add(1, 1);
        history.add(3, 2 | last);
        history.add(4, 2);
        history.add(5, last);
        history.add(7, 4);
        // The first entry may stand for any version up to its own.
        CHECK(history.is_any_last_changed_at(1, all));
        CHECK_FALSE(history.is_any_last_changed_at(3, all));
        CHECK(history.is_any_last_changed_at(4, all));
        CHECK(history.is_any_last_changed_at(5, all));
        CHECK_FALSE(history.is_any_last_changed_at(6, all));
        CHECK(history.is_any_last_changed_at(7, all));
        // A part of a value may have changed in either version.
        CHECK(history.is_any_last_changed_at(3, all ^ 2));
        CHECK_FALSE(history.is_any_last_changed_at(3, 2 | last));
        history.add(8, 2);
        CHECK_FALSE(history.is_any_last_changed_at(4, all));
        for (Version version = 9; version < 200; ++version) {
            history.add(version, 8);
        }
        CHECK_FALSE(history.is_any_last_changed_at(198, all));
        CHECK_FALSE(history.is_any_last_changed_at(192, all));
        // Older than the last eight versions, and long folded into the first entry.
        CHECK(history.is_any_last_changed_at(191, all));
        CHECK(history.is_any_last_changed_at(5, all));
    }
}

TEST_CASE("ChangelistHistory: answers what changed after a version",
          "[replayout][changelist_history]") {
    ChangelistHistory history(handle_count, std::pmr::get_default_resource());
    history.add(3, make_mask({1, 65}));
    history.add(4, make_mask({2}));
    history.add(9, make_mask({1, 70}));
    CHECK(history.count() == 3);
    CHECK(history.version_at(1) == 4);
    CHECK(history.test(0, RepHandle{65}));
    CHECK_FALSE(history.test(1, RepHandle{65}));

    CHECK(collect(history, 0) == Handles{1, 2, 65, 70});
    CHECK(collect(history, 3) == Handles{1, 2, 70});
    CHECK(collect(history, 4) == Handles{1, 70});
    CHECK(collect(history, 8) == Handles{1, 70});
    CHECK(collect(history, 9).empty());
}

TEST_CASE("ChangelistHistory: adds what lies in the lost interval",
          "[replayout][changelist_history]") {
    ChangelistHistory history(handle_count, std::pmr::get_default_resource());
    for (Version version = 1; version <= 6; ++version) {
        history.add(version, make_mask({version}));
    }
    CHECK(collect(history, 6, {2, 4}) == Handles{3, 4});
    CHECK(collect(history, 5, {2, 3}) == Handles{3, 6});
    CHECK(collect(history, 6, {0, 6}) == Handles{1, 2, 3, 4, 5, 6});
}

TEST_CASE("ChangelistHistory: a loss visits only entries newer than the lost ones, and one more",
          "[replayout][changelist_history]") {
    ChangelistHistory history(handle_count, std::pmr::get_default_resource());
    for (Version version = 1; version <= 64; ++version) {
        history.add(version, make_mask({version}));
    }
    const auto visited = [&](Version sent_version, VersionInterval lost) {
        ChangeMask mask = make_mask({});
        return history.collect(sent_version, lost, mask);
    };
    CHECK(visited(64, {}) == 1);
    CHECK(visited(63, {}) == 2);
    CHECK(visited(64, {63, 64}) == 2);
    CHECK(visited(64, {61, 62}) == 4);
    CHECK(visited(62, {61, 62}) == 4);
    CHECK(visited(64, {0, 64}) == 64);
}

TEST_CASE("ChangelistHistory: keeps what it adds to", "[replayout][changelist_history]") {
    ChangelistHistory history(handle_count, std::pmr::get_default_resource());
    history.add(1, make_mask({5}));
    ChangeMask mask = make_mask({9});
    history.collect(0, {}, mask);
    CHECK(mask == make_mask({5, 9}));
}

TEST_CASE("ChangelistHistory: holds 64 entries, and the 65th folds the oldest into the next",
          "[replayout][changelist_history]") {
    ChangelistHistory history(handle_count, std::pmr::get_default_resource());
    for (Version version = 1; version <= ChangelistHistory::count_max; ++version) {
        history.add(version, make_mask({version}));
    }
    CHECK(history.count() == 64);
    CHECK(history.version_at(0) == 1);

    history.add(65, make_mask({65}));
    CHECK(history.count() == 64);
    CHECK(history.version_at(0) == 2);
    CHECK(history.test(0, RepHandle{1}));
    CHECK(history.test(0, RepHandle{2}));
    CHECK_FALSE(history.test(0, RepHandle{3}));
    CHECK(history.version_at(63) == 65);
    CHECK(history.test(63, RepHandle{65}));
}

TEST_CASE("ChangelistHistory: a receiver that lags behind the oldest entry loses no change",
          "[replayout][changelist_history]") {
    ChangelistHistory history(handle_count, std::pmr::get_default_resource());
    for (Version version = 1; version <= 200; ++version) {
        history.add(version, make_mask({1 + version % handle_count}));
    }
    CHECK(history.count() == 64);
    CHECK(collect(history, 0).size() == handle_count);
    CHECK(collect(history, 150).size() == 50);
    // Inside what was folded: versions are told apart no more, so all of them count.
    CHECK(collect(history, 120).size() == handle_count);
    CHECK(collect(history, 200, {10, 11}).size() == handle_count);
    CHECK(collect(history, 200, {140, 145}).size() == 5);
}

TEST_CASE("ChangelistHistory: of few handles a word says what a set does",
          "[replayout][changelist_history]") {
    std::mt19937_64 random(run_seed());
    for (const std::uint32_t few : {1u, 20u, 32u, 33u, 64u}) {
        ChangelistHistory by_word(few, std::pmr::get_default_resource());
        ChangelistHistory by_set(few, std::pmr::get_default_resource());
        for (Version version = 1; version <= 150; ++version) {
            const std::uint64_t word = (random() & random()) >> (64 - few);
            ChangeMask set;
            set.reset(few);
            set.set_bits(0, word);
            by_word.add(version, word);
            by_set.add(version, set);
            REQUIRE(by_word.newest() == word);
            REQUIRE(by_set.newest() == word);
            const auto sent = static_cast<Version>(random() % (version + 1));
            ChangeMask since_word;
            ChangeMask since_set;
            since_word.reset(few);
            since_set.reset(few);
            by_word.collect(sent, {}, since_word);
            by_set.collect(sent, {}, since_set);
            REQUIRE(since_word == since_set);
        }
    }
}

TEST_CASE("ChangelistHistory: no change is ever missed, and none is made up",
          "[replayout][changelist_history]") {
    std::mt19937_64 random(run_seed());
    for (int round = 0; round < 40; ++round) {
        ChangelistHistory history(handle_count, std::pmr::get_default_resource());
        std::map<Version, std::uint32_t> changes;
        Version version = 0;
        for (std::uint64_t count = random() % 150; count > 0; --count) {
            version += static_cast<Version>(1 + random() % 3);
            changes[version] = static_cast<std::uint32_t>(1 + random() % handle_count);
            history.add(version, make_mask({changes[version]}));
        }
        const auto sent = static_cast<Version>(random() % (version + 1));
        VersionInterval lost;
        if (random() % 2 == 0) {
            lost.after = static_cast<Version>(random() % (sent + 1));
            lost.through = lost.after + static_cast<Version>(random() % (sent - lost.after + 1));
        }
        const Handles found = collect(history, sent, lost);
        const auto contains = [&found](std::uint32_t handle) {
            return std::find(found.begin(), found.end(), handle) != found.end();
        };
        Handles ever;
        for (const auto& [changed, handle] : changes) {
            ever.push_back(handle);
            if (changed > sent || lost.contains(changed)) {
                REQUIRE(contains(handle));
            }
        }
        for (const std::uint32_t handle : found) {
            REQUIRE(std::find(ever.begin(), ever.end(), handle) != ever.end());
        }
    }
}

}  // namespace
}  // namespace replayout
