// SPDX-License-Identifier: MIT
#include <replayout/utf8.h>

#include <cstdint>
#include <string>

#include "support/checks/catch.h"

namespace replayout {
namespace {

/// The one well-formed encoding of a scalar value, and the malformed one of any other number.
std::string encode(std::uint32_t value) {
    const auto byte = [](std::uint32_t bits) { return static_cast<char>(bits); };
    if (value < 0x80) {
        return {byte(value)};
    }
    if (value < 0x800) {
        return {byte(0xc0 | value >> 6), byte(0x80 | (value & 0x3f))};
    }
    if (value < 0x1'0000) {
        return {byte(0xe0 | value >> 12), byte(0x80 | (value >> 6 & 0x3f)),
                byte(0x80 | (value & 0x3f))};
    }
    return {byte(0xf0 | value >> 18), byte(0x80 | (value >> 12 & 0x3f)),
            byte(0x80 | (value >> 6 & 0x3f)), byte(0x80 | (value & 0x3f))};
}

bool is_surrogate(std::uint32_t value) {
    return value >= 0xd800 && value <= 0xdfff;
}

TEST_CASE("UTF-8: every scalar value is valid, and nothing else is", "[replayout][utf8]") {
    std::uint32_t wrong_count = 0;
    for (std::uint32_t value = 0; value < 0x20'0000; ++value) {
        const bool is_scalar = value <= 0x10'ffff && !is_surrogate(value);
        wrong_count += is_valid_utf8(encode(value)) != is_scalar ? 1u : 0u;
    }
    CHECK(wrong_count == 0);
}

TEST_CASE("UTF-8: of all sequences of two and three bytes only the shortest forms are valid",
          "[replayout][utf8]") {
    std::uint32_t two_count = 0;
    std::uint32_t three_count = 0;
    for (std::uint32_t first = 0x80; first < 0x100; ++first) {
        for (std::uint32_t second = 0; second < 0x100; ++second) {
            const char text[] = {static_cast<char>(first), static_cast<char>(second),
                                 static_cast<char>(0x80)};
            two_count += is_valid_utf8({text, 2}) ? 1u : 0u;
            three_count += is_valid_utf8({text, 3}) ? 1u : 0u;
        }
    }
    CHECK(two_count == 0x800 - 0x80);
    // One in 64 of U+0800 to U+FFFF without surrogates, the third byte being fixed.
    CHECK(three_count == (0x1'0000 - 0x800 - 0x800) / 64);
}

TEST_CASE("UTF-8: behind the second byte those from 80 to BF are valid, and no others",
          "[replayout][utf8]") {
    for (std::uint32_t value = 0; value < 0x100; ++value) {
        const bool is_trail = value >= 0x80 && value <= 0xbf;
        const std::string byte(1, static_cast<char>(value));
        CAPTURE(value);
        CHECK(is_valid_utf8("\xe2\x82" + byte) == is_trail);
        CHECK(is_valid_utf8("\xf0\x9f" + byte + "\x80") == is_trail);
        CHECK(is_valid_utf8("\xf0\x9f\x98" + byte) == is_trail);
    }
}

TEST_CASE("UTF-8: overlong forms are refused", "[replayout][utf8]") {
    CHECK_FALSE(is_valid_utf8("\xc0\x80"));
    CHECK_FALSE(is_valid_utf8("\xc1\xbf"));
    CHECK_FALSE(is_valid_utf8("\xe0\x9f\xbf"));
    CHECK_FALSE(is_valid_utf8("\xf0\x8f\xbf\xbf"));
}

TEST_CASE("UTF-8: a sequence that ends early is refused", "[replayout][utf8]") {
    for (const std::uint32_t value : {0xe9u, 0x20acu, 0x1'f600u}) {
        const std::string whole = encode(value);
        CHECK(is_valid_utf8(whole));
        for (std::size_t size = 1; size < whole.size(); ++size) {
            CHECK_FALSE(is_valid_utf8(whole.substr(0, size)));
            CHECK_FALSE(is_valid_utf8("a" + whole.substr(0, size)));
            CHECK_FALSE(is_valid_utf8(whole.substr(0, size) + "a"));
            CHECK_FALSE(is_valid_utf8(whole.substr(size)));
        }
    }
}

TEST_CASE("UTF-8: empty text is valid, and a zero byte is a character like any other",
          "[replayout][utf8]") {
    CHECK(is_valid_utf8({}));
    CHECK(is_valid_utf8(std::string_view("a\0b", 3)));
    CHECK(is_valid_utf8("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"));
}

TEST_CASE("UTF-8: every byte behind the first is one that goes on", "[replayout][utf8]") {
    for (const std::uint32_t value : {0xe9u, 0x20acu, 0x1'f600u}) {
        const std::string whole = encode(value);
        REQUIRE(is_valid_utf8(whole));
        for (std::size_t i = 1; i < whole.size(); ++i) {
            for (std::uint32_t byte = 0; byte < 0x100; ++byte) {
                std::string text = whole;
                text[i] = static_cast<char>(byte);
                INFO(value << " " << i << " " << byte);
                // Behind an 0xF0 the least is 0x90, or it were too long for its value.
                const std::uint32_t least = value >= 0x1'0000 && i == 1 ? 0x90 : 0x80;
                CHECK(is_valid_utf8(text) == (byte >= least && byte <= 0xbf));
            }
        }
    }
}

}  // namespace
}  // namespace replayout
