// SPDX-License-Identifier: MIT
#include "call_limiter.h"

#include <cstdint>
#include <deque>
#include <random>

#include "support/checks/catch.h"

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
    explicit Caller(const NetConfig& of, CallLimiter::Side side = CallLimiter::Side::Client)
        : config(of),
          limiter(config, side, NetTime::from_milliseconds(0), std::pmr::new_delete_resource()) {}

    /// How many of `count` calls of a function may run.
    [[nodiscard]] std::uint32_t taken(FunctionIndex function, std::uint32_t count,
                                      std::int64_t time_ms, CallKind kind = CallKind::Reliable) {
        std::uint32_t sum = 0;
        for (; count > 0; --count) {
            sum += takes(function, 20, {time_ms * 1'000}, kind) ? 1u : 0u;
        }
        return sum;
    }
    [[nodiscard]] bool takes(FunctionIndex function, std::size_t bytes, NetTime time,
                             CallKind kind = CallKind::Reliable) {
        return limiter.take(0, function, kind, bytes, time);
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
    CHECK(caller.takes(fire, 100'000, start));
    CHECK_FALSE(caller.takes(aim, 20, start));
}

TEST_CASE("CallLimiter: a token is there from the microsecond on that fills it") {
    for (const std::int64_t late_us : {-1, 0, 1}) {
        INFO("late by " << late_us);
        Caller caller(config_of(1, 1));
        CHECK(caller.takes(fire, 20, {0}));
        // Of all one in a tenth of a second, of the function one in a second.
        CHECK(caller.takes(aim, 20, {100'000 + late_us}) == (late_us >= 0));
        CHECK(caller.takes(fire, 20, {1'000'000 + late_us}) == (late_us >= 0));
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

TEST_CASE("CallLimiter: reliable calls, unreliable ones and updates count apart") {
    NetConfig config = config_of(8, 5);
    config.client_updates_burst_max = 7;
    Caller caller(config);
    CHECK(caller.taken(fire, 20, 0) == 5);
    CHECK(caller.taken(aim, 20, 0, CallKind::Unreliable) == 5);
    CHECK(caller.taken(FunctionIndex{2}, 20, 0, CallKind::Update) == 7);
    CHECK(caller.taken(FunctionIndex{3}, 20, 0) == 3);
    CHECK(caller.taken(FunctionIndex{4}, 20, 0, CallKind::Unreliable) == 3);
}

TEST_CASE("CallLimiter: a server takes what was under way besides, and no unreliable call more") {
    NetConfig config = config_of(8, 5);
    config.client_waiting_max = 3;
    Caller server(config, CallLimiter::Side::Server);
    CHECK(server.taken(fire, 20, 0) == 8);
    CHECK(server.taken(aim, 20, 0) == 3);
    CHECK(server.taken(FunctionIndex{2}, 20, 0, CallKind::Unreliable) == 5);
}

TEST_CASE("CallLimiter: whatever a line does to them, what a client may call its server takes",
          "[random]") {
    std::mt19937_64 random(1);
    for (int round = 0; round < 40; ++round) {
        NetConfig config;
        config.client_waiting_max = 1 + static_cast<std::uint32_t>(random() % 64);
        config.calls_per_second_max = 1 + static_cast<std::uint32_t>(random() % 200);
        config.calls_burst_max = 1 + static_cast<std::uint32_t>(random() % 200);
        config.function_calls_per_second_max = 1 + static_cast<std::uint32_t>(random() % 200);
        config.function_calls_burst_max = 1 + static_cast<std::uint32_t>(random() % 200);
        Caller client(config);
        Caller server(config, CallLimiter::Side::Server);
        std::deque<FunctionIndex> under_way;
        std::int64_t now_us = -5'000'000;
        for (int step = 0; step < 4'000; ++step) {
            // The clock of the server is slower by a hundredth.
            now_us += static_cast<std::int64_t>(random() % (step % 500 == 0 ? 9'000'000 : 20'000));
            const FunctionIndex function{static_cast<std::uint16_t>(random() % 3)};
            for (std::uint64_t i = random() % 8; i > 0; --i) {
                if (under_way.size() < config.client_waiting_max &&
                    client.takes(function, 20, {now_us})) {
                    under_way.push_back(function);
                }
            }
            // Nothing arrives for a while, and then all of it.
            if (step % 100 < 70) {
                continue;
            }
            for (; !under_way.empty(); under_way.pop_front()) {
                REQUIRE(server.takes(under_way.front(), 20, {now_us / 100 * 99}));
            }
        }
    }
}

}  // namespace replayout::test
