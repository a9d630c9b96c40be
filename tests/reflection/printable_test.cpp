// SPDX-License-Identifier: MIT
#include <replayout/reflection/printable.h>

#include <set>
#include <string>

#include "support/catch.h"

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

}  // namespace
}  // namespace replayout::test
