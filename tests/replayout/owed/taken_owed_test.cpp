// SPDX-License-Identifier: MIT
//
// What is taken of a pair.
#include <replayout/taken_owed.h>

#include "support/checks/catch.h"

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
    const TakenOwed taken = TakenOwed::take(pair, 9, position, true);
    CHECK(taken.versions.sent == VersionInterval{7, 9});
    CHECK(taken.versions.lost == VersionInterval{0, 3});
    CHECK(taken.position == position);
    CHECK(taken.is_initial);
    CHECK(taken.all_versions() == VersionInterval{0, 9});
    CHECK(pair.sent_version == 9);
    CHECK(pair.lost().is_empty());
}

}  // namespace
}  // namespace replayout
