// SPDX-License-Identifier: MIT
#include <replayout/reflection/printable.h>

#include <cstddef>
#include <set>
#include <string>

#include "support/checks/catch.h"

namespace replayout::test {
namespace {

TEST_CASE("printable: what prints stays, all else and backslashes are written as numbers",
          "[reflection][printable]") {
    CHECK(printable("") == "");
    CHECK(printable("Bag.items ~") == "Bag.items ~");
    CHECK(printable("a\nb\x1b[31m\\\x7f\xc3\xa9") == "a\\x0ab\\x1b[31m\\x5c\\x7f\\xc3\\xa9");
    CHECK(printable({"\0", 1}) == "\\x00");
}

TEST_CASE("printable: every byte prints, and no two look the same", "[reflection][printable]") {
    std::set<std::string> seen;
    for (int code = 0; code < 256; ++code) {
        const char character = static_cast<char>(code);
        const std::string text = printable({&character, 1});
        for (const char shown : text) {
            CHECK((shown >= ' ' && shown <= '~'));
        }
        CHECK(seen.insert(text).second);
    }
}

TEST_CASE("printable_front: is cut between characters, and shows that it was",
          "[reflection][printable]") {
    CHECK(printable_front("", 0) == "");
    CHECK(printable_front("name", 4) == "name");
    CHECK(printable_front("name", 3) == "nam...");
    CHECK(printable_front("name", 0) == "...");
    CHECK(printable_front("a\nb", 2) == "a\\x0a...");  // counted before it is escaped
    const std::string face = "\xf0\x9f\x98\x80";
    const std::string shown_face = "\\xf0\\x9f\\x98\\x80";
    CHECK(printable_front("x" + face, 5) == "x" + shown_face);
    CHECK(printable_front("x" + face + "y", 5) == "x" + shown_face + "...");
    for (std::size_t bytes_max = 1; bytes_max < 5; ++bytes_max) {
        CHECK(printable_front("x" + face, bytes_max) == "x...");
    }
    CHECK(printable_front(face, 3) == "...");
}

TEST_CASE("printable_front: what is no text of characters is cut at a byte",
          "[reflection][printable]") {
    CHECK(printable_front("\x80\x80\x80", 2) == "\\x80\\x80...");
    CHECK(printable_front("\xf0\x80\x80\x80\x80", 4) == "\\xf0\\x80\\x80\\x80...");
    CHECK(printable_front("xxx\x80\x80\x80\x80\x80", 6) == "xxx\\x80\\x80\\x80...");
    CHECK(printable_front("xxx\x80\x80\x80\x80", 5) == "xx...");
}

}  // namespace
}  // namespace replayout::test
