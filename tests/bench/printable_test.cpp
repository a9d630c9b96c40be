// SPDX-License-Identifier: MIT
#include "match/battle/printable.h"

#include "support/checks/catch.h"

namespace replayout::match {
namespace {

TEST_CASE("printable: nothing in it can command a terminal", "[bench][printable]") {
    CHECK(printable("plain") == "plain");
    CHECK(printable("a\x1b[2Jb\nc\x7f") == "a?[2Jb?c?");
    CHECK(printable(std::string_view("a\0b", 3)) == "a?b");
    CHECK(printable("caf\xc3\xa9 \xc2\x9b"
                    "2J") == "caf\xc3\xa9 ??2J");
}

TEST_CASE("printable: is cut between characters", "[bench][printable]") {
    CHECK(printable("caf\xc3\xa9s", 10) == "caf\xc3\xa9s");
    CHECK(printable("caf\xc3\xa9s", 5) == "caf\xc3\xa9");
    CHECK(printable("caf\xc3\xa9s", 4) == "caf");
    CHECK(printable("\x80\x80\x80", 2).size() <= 2);
}

}  // namespace
}  // namespace replayout::match
