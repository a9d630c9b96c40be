// SPDX-License-Identifier: MIT
#include <replayout/netdriver/close_reason.h>

#include <cctype>
#include <set>
#include <string>
#include <string_view>

#include "support/checks/catch.h"

namespace replayout {
namespace {

[[nodiscard]] CloseReason reason_of(std::size_t number) {
    return static_cast<CloseReason>(number);
}

}  // namespace

TEST_CASE("CloseReason: every reason has a phrase of its own", "[netdriver][close_reason]") {
    std::set<std::string> phrases;
    for (std::size_t number = 0; number < close_reason_count; ++number) {
        const std::string_view phrase = to_string(reason_of(number));
        INFO("reason " << number);
        CHECK(!phrase.empty());
        for (const char character : phrase) {
            const bool is_lower = std::islower(static_cast<unsigned char>(character)) != 0;
            CHECK((is_lower || character == ' '));
        }
        phrases.emplace(phrase);
    }
    CHECK(phrases.size() == close_reason_count);
}

TEST_CASE("CloseReason: the numbers on the wire do not move", "[netdriver][close_reason]") {
    constexpr std::string_view phrases[] = {
        "none",
        "requested",
        "timeout",
        "replaced",
        "server full",
        "wire version",
        "layout mismatch",
        "malformed packet",
        "malformed bunch",
        "malformed block",
        "not allowed",
        "invalid ack",
        "unknown channel",
        "reliable overflow",
        "too many channels",
        "too many references",
        "too many layouts",
        "unknown function",
        "call refused",
        "too many calls",
        "calls stalled",
        "too much memory",
    };
    for (std::size_t number = 0; number < std::size(phrases); ++number) {
        CHECK(to_string(reason_of(number)) == phrases[number]);
    }
}

TEST_CASE("CloseReason: a number that names none has a phrase too", "[netdriver][close_reason]") {
    CHECK(!to_string(reason_of(close_reason_count)).empty());
    CHECK(!to_string(reason_of(255)).empty());
}

}  // namespace replayout
