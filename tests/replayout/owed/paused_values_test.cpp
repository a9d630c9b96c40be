// SPDX-License-Identifier: MIT
#include <replayout/paused_values.h>

#include <cstdint>

#include "support/checks/catch.h"
#include "support/types/test_layout.h"

namespace replayout::test {
namespace {

struct PausedPair {
    std::int32_t left = 0;   // handle 1
    std::int32_t right = 0;  // handle 2
};

[[nodiscard]] Result<const Type*> build_pair(TypeRegistry& registry) {
    return class_builder<PausedPair>(registry, "Pair")
        .property<&PausedPair::left>()
        .property<&PausedPair::right>()
        .build();
}

constexpr std::uint32_t one_fragment = 1;

}  // namespace

TEST_CASE("PausedValues: a receiver lacks a value as of a version that it did not hold before",
          "[replayout][paused_values]") {
    PausedValues values(std::pmr::get_default_resource());
    CHECK_FALSE(values.is_any_missing_of(100));
    values.add(RepRange::of(RepHandle{1}), 9, one_fragment, 0, false, 5);
    CHECK_FALSE(values.is_any_missing_of(5));
    CHECK(values.is_any_missing_of(6));
    SECTION("one of which nobody knows is missing of every version") {
        values.add(RepRange::of(RepHandle{2}), 9, one_fragment);
        CHECK(values.is_any_missing_of(1));
    }
    SECTION("one that waits is held as of what is not owed of it") {
        values.wait(RepRange::of(RepHandle{2}), 9, {3, 9});
        CHECK_FALSE(values.is_any_missing_of(3));
        CHECK(values.is_any_missing_of(4));
    }
}

TEST_CASE("PausedValues: what was lost of a value before it is missing",
          "[replayout][paused_values]") {
    const TestLayout layout(build_pair);
    PausedValues values(std::pmr::get_default_resource());
    values.add(RepRange::of(RepHandle{1}), 9, one_fragment, 0, false, 5);
    values.note_lost(*layout, RepRange::of(RepHandle{2}), {2, 4});
    CHECK_FALSE(values.is_any_missing_of(5));
    values.note_lost(*layout, RepRange(), {4, 5});
    CHECK_FALSE(values.is_any_missing_of(4));
    CHECK(values.is_any_missing_of(5));
    values.note_lost(*layout, RepRange(), {0, 5});
    CHECK(values.is_any_missing_of(1));
}

}  // namespace replayout::test
