// SPDX-License-Identifier: MIT
#include "support/checks/choices.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "support/checks/catch.h"

namespace replayout::test {

TEST_CASE("Choices: bytes are choices, the first byte the highest", "[choices]") {
    const std::array<std::byte, 4> bytes{std::byte{7}, std::byte{1}, std::byte{2}, std::byte{99}};
    Choices choices(bytes);
    CHECK(choices.below(1) == 0);
    CHECK(choices.taken_bytes() == 0);
    CHECK(choices.below(256) == 7);
    CHECK(choices.below(1'000) == 258);
    CHECK(choices.percent(1));
    CHECK(choices.is_at_end());
}

TEST_CASE("Choices: where the bytes end each choice is the first one", "[choices]") {
    Choices choices({});
    CHECK(choices.below(10) == 0);
    CHECK(choices.between(3, 9) == 3);
    CHECK_FALSE(choices.percent(99));
    CHECK(choices.percent(100));
    CHECK(choices.bits() == 0);
    CHECK(choices.taken_bytes() == 0);
}

TEST_CASE("Choices: a seed gives the same row everywhere, and each stream one of its own",
          "[choices]") {
    Choices row = Choices::from_seed(1, 2, 64);
    Choices again = Choices::from_seed(1, 2, 64);
    Choices other = Choices::from_seed(1, 3, 64);
    const std::uint64_t first = row.bits();
    CHECK(first == 0x84F7CF2422B66CD3);  // computed in Python
    CHECK(first == again.bits());
    CHECK(first != other.bits());
    for (int i = 0; i < 30; ++i) {
        const std::uint32_t value = row.between(5, 12);
        CHECK((value >= 5 && value <= 12));
    }
}

}  // namespace replayout::test
