// SPDX-License-Identifier: MIT
#include <replayout/owed_versions.h>

#include <algorithm>

#include "support/checks/catch.h"

namespace replayout {
namespace {

constexpr std::uint32_t no_end = RepRange::no_handle_end;
constexpr std::uint64_t no_element_end = RepRange::no_element_end;

constexpr RepRange handles(std::uint32_t begin, std::uint32_t end) {
    return {begin, end};
}

constexpr RepRange elements(std::uint32_t handle, std::uint64_t begin, std::uint64_t end) {
    return {handle, handle + 1, begin, end};
}

TEST_CASE("RepRange: is the whole object by default", "[replayout][owed_versions]") {
    const RepRange whole;
    CHECK(whole.is_whole());
    CHECK(whole.contains(RepHandle{1}));
    CHECK(whole.contains(RepHandle{65'534}));
    CHECK(whole.contains_element(0));
    CHECK(whole.contains_element(2'047));
}

TEST_CASE("RepRange: holds its first handle and not its last", "[replayout][owed_versions]") {
    const RepRange range = handles(3, 6);
    CHECK_FALSE(range.is_whole());
    CHECK_FALSE(range.contains(RepHandle{2}));
    CHECK(range.contains(RepHandle{3}));
    CHECK(range.contains(RepHandle{5}));
    CHECK_FALSE(range.contains(RepHandle{6}));
    CHECK_FALSE(handles(2, no_end).is_whole());
    CHECK_FALSE(handles(1, 9).is_whole());
}

TEST_CASE("RepRange: elements count only where it is a single handle",
          "[replayout][owed_versions]") {
    const RepRange single = elements(4, 10, 20);
    CHECK(single.contains(RepHandle{4}));
    CHECK_FALSE(single.contains_element(9));
    CHECK(single.contains_element(10));
    CHECK(single.contains_element(19));
    CHECK_FALSE(single.contains_element(20));
    CHECK(RepRange{4, 6, 10, 20}.contains_element(9));
}

TEST_CASE("RepRange: the hull of two spans of one array is a span of that array",
          "[replayout][owed_versions]") {
    CHECK(hull(elements(4, 10, 20), elements(4, 15, 30)) == elements(4, 10, 30));
    CHECK(hull(elements(4, 10, 20), elements(4, 40, no_element_end)) ==
          elements(4, 10, no_element_end));
}

TEST_CASE("RepRange: the hull over different handles holds all elements of each",
          "[replayout][owed_versions]") {
    const RepRange both = hull(elements(4, 10, 20), elements(6, 1, 2));
    CHECK(both == handles(4, 7));
    CHECK(both.contains_element(0));
    CHECK(hull(elements(4, 10, 20), handles(1, 5)) == handles(1, 5));
    CHECK(hull(RepRange(), elements(4, 10, 20)).is_whole());
    CHECK(hull(handles(2, 5), handles(7, no_end)) == handles(2, no_end));
}

TEST_CASE("RepRange: a hull holds whatever either holds", "[replayout][owed_versions]") {
    const RepRange ranges[] = {RepRange(),
                               handles(2, 5),
                               handles(5, no_end),
                               elements(3, 0, 4),
                               elements(3, 4, 9),
                               elements(4, 2, no_element_end),
                               elements(1, 0, no_element_end)};
    for (const RepRange& left : ranges) {
        for (const RepRange& right : ranges) {
            const RepRange both = hull(left, right);
            CHECK(both == hull(right, left));
            for (std::uint32_t handle = 1; handle < 8; ++handle) {
                for (std::uint32_t element = 0; element < 12; ++element) {
                    const bool is_in_either =
                        (left.contains({handle}) && left.contains_element(element)) ||
                        (right.contains({handle}) && right.contains_element(element));
                    const bool is_in_both =
                        both.contains({handle}) && both.contains_element(element);
                    REQUIRE((!is_in_either || is_in_both));
                }
            }
        }
    }
}

TEST_CASE("RepRange: hulls keep the laws of a union", "[replayout][owed_versions]") {
    const RepRange ranges[] = {RepRange(),
                               handles(2, 5),
                               handles(5, no_end),
                               elements(3, 0, 4),
                               elements(3, 4, 9),
                               elements(4, 2, no_element_end),
                               elements(1, 0, no_element_end)};
    for (const RepRange& left : ranges) {
        CHECK(hull(left, left) == left);
        for (const RepRange& right : ranges) {
            const RepRange both = hull(left, right);
            CHECK(hull(both, left) == both);
            CHECK(hull(both, right) == both);
            CHECK(both.element_end <= std::max(left.element_end, right.element_end));
            for (const RepRange& third : ranges) {
                const RepRange all = hull(both, third);
                CHECK(hull(all, third) == all);
                CHECK(hull(all, left) == all);
            }
        }
    }
}

TEST_CASE("OwedVersions: asks as the pair does", "[replayout][owed_versions]") {
    SendingRepState pair;
    pair.skip(8);
    pair.return_unsent({{3, 5}, {}});
    const OwedVersions position(pair);
    for (Version version = 0; version < 12; ++version) {
        CHECK(position.owes(version) == pair.owes(version));
    }
    CHECK(position.lost_range.is_whole());
    CHECK(OwedVersions().owes(1));
    CHECK_FALSE(OwedVersions().owes(0));
}

TEST_CASE("OwedVersions: equal questions are equal, whoever asks", "[replayout][owed_versions]") {
    SendingRepState pair;
    pair.skip(8);
    SendingRepState other = pair;
    other.in_flight = 3;
    other.holder_bits = 9;
    CHECK(OwedVersions(pair) == OwedVersions(other));
    CHECK_FALSE(OwedVersions(pair) == OwedVersions(pair, handles(2, 3)));
    other.return_unsent({{1, 2}, {}});
    CHECK_FALSE(OwedVersions(pair) == OwedVersions(other));
}

}  // namespace
}  // namespace replayout
