// SPDX-License-Identifier: MIT
#include "call_limiter.h"

#include <cstdint>

#include "support/catch.h"

namespace replayout::test {
namespace {

constexpr FunctionIndex fire{0};
constexpr FunctionIndex aim{1};

[[nodiscard]] NetConfig config_of(std::uint32_t burst, std::uint32_t function_burst) {
    NetConfig config;
    config.calls_per_second_max = 10;
    config.calls_burst_max = burst;
    config.function_calls_per_second_max = 1;
    config.function_calls_burst_max = function_burst;
    return config;
}

/// A client that makes small calls.
struct Caller {
    explicit Caller(const NetConfig& of)
        : config(of),
          limiter(config, NetTime::from_milliseconds(0), std::pmr::new_delete_resource()) {}

    /// How many of `count` calls of a function may run.
    [[nodiscard]] std::uint32_t taken(FunctionIndex function, std::uint32_t count,
                                      std::int64_t time_ms) {
        std::uint32_t sum = 0;
        for (; count > 0; --count) {
            sum += limiter.take(0, function, 20, NetTime::from_milliseconds(time_ms)) ? 1u : 0u;
        }
        return sum;
    }

    NetConfig config;
    CallLimiter limiter;
};

}  // namespace

TEST_CASE("CallLimiter: a call takes a token of all, and one of its function") {
    Caller caller(config_of(8, 5));
    CHECK(caller.taken(fire, 20, 0) == 5);
    CHECK(caller.taken(aim, 20, 0) == 3);
    CHECK(caller.taken(aim, 20, 100) == 1);
}

TEST_CASE("CallLimiter: a call that is refused takes nothing of anything") {
    SECTION("where there are too many in all, nothing of its function") {
        Caller caller(config_of(1, 5));
        CHECK(caller.taken(fire, 20, 0) == 1);
        for (std::int64_t time_ms = 100; time_ms <= 400; time_ms += 100) {
            CHECK(caller.taken(fire, 20, time_ms) == 1);
        }
    }
    SECTION("where there are too many of its function, nothing of all") {
        Caller caller(config_of(6, 2));
        CHECK(caller.taken(fire, 20, 0) == 2);
        CHECK(caller.taken(aim, 20, 0) == 2);
        CHECK(caller.taken(FunctionIndex{2}, 20, 0) == 2);
    }
}

TEST_CASE("CallLimiter: a call in parts counts as many, and as no more than may come at once") {
    NetConfig config = config_of(4, 4);
    Caller caller(config);
    const NetTime start = NetTime::from_milliseconds(0);
    CHECK(caller.limiter.take(0, fire, 100'000, start));
    CHECK_FALSE(caller.limiter.take(0, aim, 20, start));
}

TEST_CASE("CallLimiter: a token is there from the microsecond on that fills it") {
    for (const std::int64_t late_us : {-1, 0, 1}) {
        INFO("late by " << late_us);
        Caller caller(config_of(1, 1));
        CHECK(caller.limiter.take(0, fire, 20, {0}));
        // Of all one in a tenth of a second, of the function one in a second.
        CHECK(caller.limiter.take(0, aim, 20, {100'000 + late_us}) == (late_us >= 0));
        CHECK(caller.limiter.take(0, fire, 20, {1'000'000 + late_us}) == (late_us >= 0));
    }
}

TEST_CASE("CallLimiter: who was silent for years may call as many times as at first") {
    NetConfig config = config_of(3, 2);
    config.calls_per_second_max = 1'000'000;
    config.function_calls_per_second_max = 1'000'000;
    constexpr std::int64_t day_ms = 24 * 3'600'000;
    for (const std::int64_t days : {1, 100, 110, 200, 250, 365, 3'650, 36'500}) {
        INFO("days " << days);
        Caller caller(config);
        CHECK(caller.taken(fire, 20, 0) == 2);
        CHECK(caller.taken(fire, 20, days * day_ms) == 2);
        CHECK(caller.taken(aim, 20, days * day_ms) == 1);
    }
}

}  // namespace replayout::test
