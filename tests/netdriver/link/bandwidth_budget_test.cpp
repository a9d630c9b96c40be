// SPDX-License-Identifier: MIT
#include "bandwidth_budget.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"

namespace replayout::test::bandwidth_budget {
namespace {

constexpr std::int64_t second_us = 1'000'000;
constexpr std::size_t packet_bytes = 1'200;

constexpr BudgetShare all_shares[] = {BudgetShare::State, BudgetShare::Joins, BudgetShare::Messages,
                                      BudgetShare::Values};

/// The most that was sent in any second, its ends included.
class AnySecond {
  public:
    void sent(std::int64_t at_us, std::size_t bytes) {
        packets_.emplace_back(at_us, bytes);
        sum_ += bytes;
        while (packets_.front().first < at_us - second_us) {
            sum_ -= packets_.front().second;
            packets_.pop_front();
        }
        most_ = std::max(most_, sum_);
    }
    [[nodiscard]] std::size_t most() const noexcept { return most_; }

  private:
    std::deque<std::pair<std::int64_t, std::size_t>> packets_;
    std::size_t sum_ = 0;
    std::size_t most_ = 0;
};

struct Demand {
    BudgetShare share = BudgetShare::State;
    std::int64_t bytes_per_second = 0;  ///< -1: as much as there is room for
    std::int64_t waiting = 0;
    std::int64_t sent = 0;
};

/// Plays ticks in which the shares send, in this order, what they want and may.
void play(BandwidthBudget& budget, std::vector<Demand>& demands, std::int64_t& now_us,
          std::int64_t tick_us, std::int64_t ticks) {
    for (std::int64_t tick = 0; tick < ticks; ++tick) {
        now_us += tick_us;
        budget.begin_flush({now_us});
        for (Demand& demand : demands) {
            demand.waiting = demand.bytes_per_second < 0
                                 ? 1'000'000'000
                                 : demand.waiting + demand.bytes_per_second * tick_us / second_us;
            budget.set_wanted(demand.share, demand.waiting > 0);
        }
        for (Demand& demand : demands) {
            while (demand.waiting > 0 && budget.may_begin(demand.share)) {
                const std::int64_t bytes = std::min<std::int64_t>(demand.waiting, packet_bytes);
                budget.spend(demand.share, static_cast<std::size_t>(bytes));
                demand.waiting -= bytes;
                demand.sent += bytes;
            }
        }
    }
}

}  // namespace

TEST_CASE("BandwidthBudget: without a cap everything may be sent") {
    BandwidthBudget budget(0);
    for (int i = 0; i < 1'000; ++i) {
        REQUIRE(budget.may_begin(BudgetShare::Values));
        budget.spend(BudgetShare::Values, packet_bytes);
    }
    CHECK(budget.has_any());
}

TEST_CASE("BandwidthBudget: no second has more than the cap and one packet") {
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    SeededRandom random(seed);
    for (int game = 0; game < 100; ++game) {
        const std::uint32_t cap =
            random.percent(50) ? random.between(1'800, 20'000) : random.between(20'000, 5'000'000);
        BandwidthBudget budget(cap);
        AnySecond seconds;
        std::int64_t now_us = 0;
        const std::uint32_t tick_us_max = random.percent(50) ? 20'000 : 400'000;
        for (int tick = 0; tick < 1'000; ++tick) {
            now_us +=
                random.percent(1) ? random.between(1, 5'000'000) : random.between(0, tick_us_max);
            budget.begin_flush({now_us});
            if (random.percent(30)) {
                continue;  // nothing to send: it fills up
            }
            const BudgetShare share = random.pick(all_shares);
            budget.set_wanted(share, random.percent(50));
            while (budget.may_begin(share)) {
                const std::size_t bytes = random.between(11, packet_bytes);
                budget.spend(share, bytes);
                seconds.sent(now_us, bytes);
            }
        }
        CHECK(seconds.most() <= cap + packet_bytes);
    }
}

TEST_CASE("BandwidthBudget: at ten ticks a second or more nine tenths of a cap are used") {
    for (const std::uint32_t cap : {1'800u, 10'000u, 64'000u, 1'000'000u, 1'000'000'000u}) {
        for (const std::int64_t tick_us : {1'000, 16'667, 33'333, 50'000, 100'000}) {
            INFO("cap " << cap << ", tick " << tick_us);
            BandwidthBudget budget(cap);
            std::vector<Demand> demands{{BudgetShare::State, -1}};
            std::int64_t now_us = 0;
            play(budget, demands, now_us, tick_us, 20 * second_us / tick_us);
            CHECK(demands[0].sent >= 20LL * cap * 9 / 10);
            CHECK(demands[0].sent <= 20LL * cap + 1'200);
        }
    }
}

TEST_CASE("BandwidthBudget: under a flood of everything each share has a quarter") {
    for (const std::uint32_t cap : {10'000u, 64'000u, 1'000'000u}) {
        INFO("cap " << cap);
        BandwidthBudget budget(cap);
        std::vector<Demand> demands;
        for (const BudgetShare share :
             {BudgetShare::Values, BudgetShare::Messages, BudgetShare::State, BudgetShare::Joins}) {
            demands.push_back({share, -1});
        }
        std::int64_t now_us = 0;
        play(budget, demands, now_us, 20'000, 50 * 20);
        for (const Demand& demand : demands) {
            CHECK(demand.sent >= 20LL * cap * 29 / 32 / 4 - 3 * 1'400 - cap / 32);
        }
    }
}

TEST_CASE("BandwidthBudget: what a share leaves goes to the others") {
    BandwidthBudget budget(100'000);
    std::vector<Demand> demands{{BudgetShare::Values, -1}, {BudgetShare::State, 5'000}};
    std::int64_t now_us = 0;
    play(budget, demands, now_us, 20'000, 50 * 20);
    CHECK(demands[1].sent >= 20 * 5'000 - 1'000);
    CHECK(demands[0].sent + demands[1].sent >= 20 * 90'000);
}

TEST_CASE("BandwidthBudget: a share that comes back has its quarter, whatever went before") {
    BandwidthBudget budget(100'000);
    std::vector<Demand> demands{{BudgetShare::Values, -1}, {BudgetShare::State, 0}};
    std::int64_t now_us = 0;
    play(budget, demands, now_us, 20'000, 50 * 60);
    demands[1].bytes_per_second = -1;
    for (int half_second = 0; half_second < 20; ++half_second) {
        demands[1].sent = 0;
        play(budget, demands, now_us, 20'000, 25);
        CHECK(demands[1].sent >= 50'000 * 29 / 32 / 4 - 2 * 1'400);
    }
    // And a small one goes out in each tick, but for those in which a packet is owed.
    demands[1] = {BudgetShare::State, 3'000};
    int waited = 0;
    for (int tick = 0; tick < 500; ++tick) {
        play(budget, demands, now_us, 20'000, 1);
        waited += demands[1].waiting > 0 ? 1 : 0;
    }
    CHECK(waited <= 100);
}

TEST_CASE("BandwidthBudget: a share in debt has its quarter, beside one that cannot use its own") {
    for (const std::uint32_t cap : {1'800u, 2'400u, 10'000u, 100'000u}) {
        INFO("cap " << cap);
        BandwidthBudget budget(cap);
        std::int64_t now_us = 0;
        std::vector<Demand> demands{{BudgetShare::State, -1}};
        play(budget, demands, now_us, 20'000, 50);
        // A call, say, that waits for an answer: it wants to be sent, and is not.
        budget.set_wanted(BudgetShare::Messages, true);
        demands[0].sent = 0;
        play(budget, demands, now_us, 20'000, 50 * 60);
        CHECK(demands[0].sent >= 60LL * cap * 29 / 32 / 4 - 1'400);
    }
}

TEST_CASE("BandwidthBudget: another cap holds from then on") {
    BandwidthBudget budget(100'000);
    std::vector<Demand> demands{{BudgetShare::State, -1}};
    std::int64_t now_us = 0;
    play(budget, demands, now_us, 20'000, 100);
    budget.set_cap(10'000);
    CHECK(budget.cap() == 10'000);
    play(budget, demands, now_us, 20'000, 50);
    demands[0].sent = 0;
    play(budget, demands, now_us, 20'000, 500);
    CHECK(demands[0].sent >= 10 * 9'000 - 1'200);
    CHECK(demands[0].sent <= 10 * 10'000 + 1'200);
    budget.set_cap(0);
    CHECK(budget.may_begin(BudgetShare::Joins));
}

TEST_CASE("BandwidthBudget: a cap that is taken away and set again between flushes is kept") {
    BandwidthBudget budget(100'000);
    std::vector<Demand> demands{{BudgetShare::State, -1}};
    std::int64_t now_us = 0;
    for (int tick = 0; tick < 500; ++tick) {
        budget.set_cap(0);
        budget.set_cap(100'000);
        play(budget, demands, now_us, 20'000, 1);
    }
    CHECK(demands[0].sent >= 10 * 90'000);
    CHECK(demands[0].sent <= 10 * 100'000 + 1'200);
    // One that comes after a flush without is full, as the first was.
    budget.set_cap(0);
    budget.begin_flush({now_us});
    budget.set_cap(100'000);
    demands[0].sent = 0;
    play(budget, demands, now_us, 20'000, 1);
    CHECK(demands[0].sent >= 100'000 * 3 / 32);
}

TEST_CASE("BandwidthBudget: who begins in debt pays a packet before it sends one") {
    for (const bool has_cap_at_first : {true, false}) {
        BandwidthBudget budget(has_cap_at_first ? 32'000 : 0);
        budget.begin_in_debt();
        budget.set_cap(32'000);
        budget.begin_flush({0});
        CHECK(!budget.has_any());
        budget.begin_flush({40'000});  // of 29,000 a second
        CHECK(!budget.has_any());
        budget.begin_flush({60'000});
        CHECK(budget.has_any());
    }
}

TEST_CASE("BandwidthBudget: what goes in any case is paid for as well") {
    BandwidthBudget budget(10'000);
    budget.begin_flush({0});
    budget.spend(1'200);
    CHECK(!budget.has_any());
    CHECK(!budget.may_begin(BudgetShare::State));
    budget.begin_flush({second_us});
    CHECK(budget.has_any());
}

}  // namespace replayout::test::bandwidth_budget
