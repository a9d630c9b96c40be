// SPDX-License-Identifier: MIT
#include <replayout/lost_parts.h>

#include <memory_resource>
#include <vector>

#include "support/checks/catch.h"

namespace replayout {
namespace {

constexpr RepRange places(std::uint32_t handle, std::uint64_t begin, std::uint64_t end) {
    return {handle, handle + 1, begin, end};
}

struct LostPair {
    SendingRepState pair;
    LostParts parts{std::pmr::get_default_resource()};

    explicit LostPair(Version sent) { pair.skip(sent); }
    void lose(VersionInterval versions, const RepRange& range, bool keeps_versions_apart = false) {
        parts.add(pair, versions, range, keeps_versions_apart);
        pair.return_unsent({versions, {}});
    }
    [[nodiscard]] OwedVersions position() const {
        OwedVersions position(pair);
        parts.describe(position);
        return position;
    }
};

}  // namespace

TEST_CASE("LostParts: of each place what was lost there", "[replayout][lost_parts]") {
    LostPair line(9);
    line.lose({0, 7}, places(2, 40, 80));
    line.lose({7, 8}, places(2, 0, 40));
    const OwedVersions position = line.position();
    CHECK(position.at(RepHandle{2}, 39).lost == VersionInterval{7, 8});
    CHECK(position.at(RepHandle{2}, 40).lost == VersionInterval{0, 7});
    CHECK(position.at(RepHandle{2}, 80).lost.is_empty());
    CHECK(position.at(RepHandle{2}).lost == VersionInterval{0, 8});
    CHECK(position.at(RepHandle{3}).lost.is_empty());
}

TEST_CASE("LostParts: what is whole needs no list", "[replayout][lost_parts]") {
    LostPair line(9);
    line.lose({2, 3}, RepRange());
    CHECK(line.position().lost_range.is_whole());
    CHECK(line.position().lost_parts.empty());
    line.lose({5, 6}, RepRange::of(RepHandle{4}));
    CHECK(line.position().at(RepHandle{1}).lost == VersionInterval{2, 3});
    CHECK(line.position().at(RepHandle{4}).lost == VersionInterval{2, 6});
}

TEST_CASE("LostParts: what was lost of the whole is its hull, or kept apart where that is asked",
          "[replayout][lost_parts]") {
    for (const bool keeps_apart : {false, true}) {
        LostPair line(99);
        line.lose({2, 3}, RepRange(), keeps_apart);
        line.lose({3, 4}, RepRange(), keeps_apart);
        line.lose({50, 51}, RepRange(), keeps_apart);
        const OwedVersions position = line.position();
        CHECK(position.lost == VersionInterval{2, 51});
        CHECK(position.lost_parts.size() == (keeps_apart ? 2u : 0u));
        for (const OwedAt& owed : {position.at(RepHandle{1}), position.at(RepHandle{2}, 7)}) {
            CHECK(owed.owes(3));
            CHECK(owed.owes(4));
            CHECK(owed.owes(51));
            CHECK(owed.owes(30) == !keeps_apart);
            CHECK(owed.owes(100));
        }
        Vector<LostPart> carried;
        collect_carried(position, 100, RepRange(), carried, keeps_apart);
        const std::vector<LostPart> expected = keeps_apart
                                                   ? std::vector<LostPart>{{{99, 100}, RepRange()},
                                                                           {{2, 4}, RepRange()},
                                                                           {{50, 51}, RepRange()}}
                                                   : std::vector<LostPart>{{{2, 100}, RepRange()}};
        CHECK(std::vector<LostPart>(carried.begin(), carried.end()) == expected);
    }
}

TEST_CASE("LostParts: a loss that goes on where one ended is one with it",
          "[replayout][lost_parts]") {
    LostPair line(9);
    line.lose({0, 7}, places(2, 40, 80));
    line.lose({0, 7}, places(2, 80, 90));
    CHECK(line.position().lost_parts.empty());
    CHECK(line.position().lost_range == places(2, 40, 90));
}

TEST_CASE("LostParts: too many become fewer, and contain what was lost",
          "[replayout][lost_parts]") {
    LostPair line(9);
    for (std::uint64_t i = 0; i < 2 * LostParts::count_max; ++i) {
        line.lose({0, 7}, places(2, 10 * i, 10 * i + 5));
    }
    CHECK(line.position().lost_parts.size() == LostParts::count_max);
    for (std::uint64_t i = 0; i < 2 * LostParts::count_max; ++i) {
        CHECK(line.position().at(RepHandle{2}, 10 * i + 4).lost == VersionInterval{0, 7});
    }
    CHECK(line.position().at(RepHandle{2}, 6).lost.is_empty());
}

TEST_CASE("LostParts: nothing is left of it when everything was sent again",
          "[replayout][lost_parts]") {
    LostPair line(9);
    line.lose({0, 7}, places(2, 40, 80));
    line.lose({0, 7}, places(4, 0, 10));
    line.pair.skip(10);
    CHECK(line.position().at(RepHandle{2}, 50).lost.is_empty());
    line.lose({8, 9}, places(4, 0, 10));
    CHECK(line.position().at(RepHandle{2}, 50).lost.is_empty());
    CHECK(line.position().lost_range == places(4, 0, 10));
}

TEST_CASE("LostParts: a block carries what is new in its range, and what was lost there",
          "[replayout][lost_parts]") {
    LostPair line(9);
    line.lose({0, 7}, places(2, 40, 80));
    line.lose({7, 8}, places(2, 100, 140));
    Vector<LostPart> carried;
    collect_carried(line.position(), 10, places(2, 60, 110), carried);
    const std::vector<LostPart> expected = {
        {{9, 10}, places(2, 60, 110)}, {{0, 7}, places(2, 60, 80)}, {{7, 8}, places(2, 100, 110)}};
    CHECK(std::vector<LostPart>(carried.begin(), carried.end()) == expected);
}

}  // namespace replayout
