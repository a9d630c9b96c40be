// SPDX-License-Identifier: MIT
//
// What is taken of a pair, and what a part of it carries.
#include <replayout/taken_owed.h>

#include <cstdint>
#include <memory_resource>

#include "support/catch.h"

namespace replayout {
namespace {

[[nodiscard]] SendingRepState pair_that_lost() {
    SendingRepState pair;
    const SentVersions first = pair.send(3);
    (void)pair.send(7);
    pair.lose(first);
    return pair;  // sent up to 7, lost (0, 3]
}

TEST_CASE("TakenOwed: all that is owed is taken, and the pair has been sent it",
          "[replayout][taken_owed]") {
    SendingRepState pair = pair_that_lost();
    const OwedVersions position(pair);
    const TakenOwed taken = TakenOwed::take(pair, 9, position, true, false);
    CHECK(taken.versions.sent == VersionInterval{7, 9});
    CHECK(taken.versions.lost == VersionInterval{0, 3});
    CHECK(taken.position == position);
    CHECK(taken.is_initial);
    CHECK(taken.all_versions() == VersionInterval{0, 9});
    CHECK(pair.sent_version == 9);
    CHECK(pair.lost().is_empty());
}

TEST_CASE("TakenOwed: of conditions that the receiver begins to meet all is owed if it is lost",
          "[replayout][taken_owed]") {
    SendingRepState pair;
    (void)pair.send(7);
    pair.delivered();
    const TakenOwed taken = TakenOwed::take(pair, 9, OwedVersions(pair), false, true);
    CHECK(taken.versions.lost == VersionInterval{0, 9});
    CHECK(taken.position.sent_version == 7);
    CHECK(taken.position.lost == VersionInterval{0, 9});
}

TEST_CASE("TakenOwed: a part carries what it says, or all versions of its range",
          "[replayout][taken_owed]") {
    SendingRepState pair = pair_that_lost();
    const OwedVersions position(pair);
    TakenOwed taken = TakenOwed::take(pair, 9, position, false, false);
    const RepRange range{2, 5};
    const LostPart of_part[] = {{{7, 9}, range}, {{1, 3}, RepRange::of(RepHandle{4})}};
    Vector<LostPart> carried{Allocator<LostPart>(std::pmr::get_default_resource())};

    taken.begin_parts(position);
    taken.collect_carried_part(range, of_part, carried);
    CHECK(carried.size() == 2);
    CHECK(carried[1] == of_part[1]);

    taken.begin_parts(OwedVersions());  // all of an array, say, whatever the receiver holds
    taken.collect_carried_part(range, of_part, carried);
    REQUIRE(carried.size() == 1);
    CHECK(carried[0] == LostPart{{0, 9}, range});
}

}  // namespace
}  // namespace replayout
