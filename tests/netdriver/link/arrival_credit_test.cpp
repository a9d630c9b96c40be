// SPDX-License-Identifier: MIT
//
// What one peer may be sent that does not arrive.
#include "arrival_credit.h"

#include <algorithm>
#include <cstdint>

#include "support/checks/catch.h"
#include "support/checks/seeded_random.h"

namespace replayout::test {
namespace {

constexpr std::uint32_t window = 224;

[[nodiscard]] NetTime at_ms(std::int64_t milliseconds) {
    return NetTime::from_milliseconds(milliseconds);
}

}  // namespace

TEST_CASE("ArrivalCredit: what never arrives goes out once, and then by the second",
          "[netdriver][arrival_credit]") {
    ArrivalCredit credit(32);
    std::uint32_t sent = 0;
    for (std::int64_t ms = 0; ms <= 10'000; ms += 10) {
        credit.refill(at_ms(ms));
        const std::uint32_t count = std::min(credit.packets(), window);
        credit.sent(count);
        sent += count;
    }
    CHECK(sent == ArrivalCredit::packets_max + 320);
}

TEST_CASE("ArrivalCredit: where half arrives or more it never bounds a full window",
          "[netdriver][arrival_credit]") {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        INFO("seed " << seed);
        SeededRandom random(seed);
        ArrivalCredit credit(1);
        for (int round = 0; round < 200; ++round) {
            // Nothing is under way: a whole window may go out.
            REQUIRE(credit.packets() >= window / 2);
            const std::uint32_t count = std::min(credit.packets(), random.between(1, window));
            const std::uint32_t arrived = random.between((count + 1) / 2, count);
            credit.sent(count);
            credit.arrived(arrived);
        }
        CHECK(credit.packets() >= window);
    }
}

TEST_CASE("ArrivalCredit: it is full at first, whatever the time, and never more than full",
          "[netdriver][arrival_credit]") {
    for (const std::int64_t begin_ms :
         {-3'600'000'000'000, std::int64_t{-5}, std::int64_t{0}, std::int64_t{3'600'000'000'000}}) {
        INFO("begin " << begin_ms);
        ArrivalCredit credit(1'000'000);
        credit.refill(at_ms(begin_ms));
        CHECK(credit.packets() == ArrivalCredit::packets_max);
        credit.sent(1'000);
        CHECK(credit.packets() == 0);
        credit.arrived(1);
        CHECK(credit.packets() == 2);
        credit.refill(at_ms(begin_ms + 3'600'000'000));
        CHECK(credit.packets() == ArrivalCredit::packets_max);
        credit.arrived(7);
        CHECK(credit.packets() == ArrivalCredit::packets_max);
    }
}

TEST_CASE("ArrivalCredit: fractions of a packet add up, however often somebody looks",
          "[netdriver][arrival_credit]") {
    ArrivalCredit credit(3);
    credit.refill(at_ms(0));
    credit.sent(ArrivalCredit::packets_max);
    for (std::int64_t ms = 1; ms <= 10'000; ++ms) {
        credit.refill(at_ms(ms));
    }
    CHECK(credit.packets() == 30);
}

TEST_CASE("ArrivalCredit: the next session goes on with what the one before has left",
          "[netdriver][arrival_credit]") {
    ArrivalCredit before(10);
    before.refill(at_ms(1'000));
    before.sent(ArrivalCredit::packets_max);
    ArrivalCredit next(10);
    next.continue_from(before, at_ms(2'000));
    CHECK(next.packets() == 10);
}

}  // namespace replayout::test
