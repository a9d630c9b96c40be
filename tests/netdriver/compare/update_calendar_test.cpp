// SPDX-License-Identifier: MIT
#include "update_calendar.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"

namespace replayout::test {
namespace {

/// Polled objects, each looked at whenever it is its turn.
class Polled {
  public:
    explicit Polled(std::size_t count)
        : calendar(&memory), looks(count), changes(count), due_(count, true) {}

    void set(std::uint32_t index, const NetUpdateFrequency& frequency) {
        calendar.set(ObjectIndex{index}, frequency, index);
        due_[index] = true;
    }
    void tick(NetTime now) {
        calendar.advance(now, [&](ObjectIndex index) { due_[value_of(index)] = true; });
        for (std::uint32_t index = 0; index < looks.size(); ++index) {
            const ObjectIndex slot{index};
            if (!due_[index] || !calendar.is_paced(slot)) {
                continue;
            }
            due_[index] = false;
            looks[index].push_back(now.microseconds);
            calendar.looked(slot, changes[index]);
            changes[index] = false;
            calendar.wait(slot);
        }
    }
    void tick_for(std::int64_t duration_us, std::int64_t tick_us) {
        for (std::int64_t end = now_us + duration_us; now_us + tick_us <= end;) {
            now_us += tick_us;
            tick({now_us});
        }
    }

    CountingResource memory;
    UpdateCalendar calendar;
    std::vector<std::vector<std::int64_t>> looks;  // by object: when
    std::vector<bool> changes;                     // found by the next look
    std::int64_t now_us = -3'000'000;              // the clock may begin anywhere

  private:
    std::vector<bool> due_;
};

constexpr std::int64_t second_us = 1'000'000;

}  // namespace

TEST_CASE("UpdateCalendar: the mean rate is exact, whatever the ticks are") {
    Polled objects(4);
    objects.set(0, {10, 0});
    objects.set(1, {7, 0});
    objects.set(2, {0.5f, 0});
    objects.set(3, {1'000, 0});  // more often than there are ticks: in each
    objects.tick_for(10 * second_us, 16'667);
    objects.tick_for(10 * second_us, 33'000);
    CHECK(objects.looks[0].size() >= 200);
    CHECK(objects.looks[0].size() <= 201);
    CHECK(objects.looks[1].size() >= 140);
    CHECK(objects.looks[1].size() <= 141);
    CHECK(objects.looks[2].size() >= 10);
    CHECK(objects.looks[2].size() <= 11);
    CHECK(objects.looks[3].size() == 599 + 303);
}

TEST_CASE("UpdateCalendar: objects of one rate are spread evenly over the ticks") {
    constexpr std::uint32_t count = 600;
    Polled objects(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        objects.set(i, {10, 0});
    }
    objects.tick_for(second_us, 10'000);
    const std::int64_t begin = objects.now_us;
    objects.tick_for(second_us, 10'000);
    std::vector<std::uint32_t> looks_at(100);
    for (const std::vector<std::int64_t>& looks : objects.looks) {
        for (const std::int64_t at : looks) {
            if (at > begin) {
                ++looks_at[static_cast<std::size_t>((at - begin) / 10'000) - 1];
            }
        }
    }
    // 60 a tick; a van der Corput row of 600 is within a few of that in any tenth.
    CHECK(*std::min_element(looks_at.begin(), looks_at.end()) >= 56);
    CHECK(*std::max_element(looks_at.begin(), looks_at.end()) <= 64);
}

TEST_CASE("UpdateCalendar: equal spread is equal ticks") {
    Polled objects(2);
    objects.calendar.set(ObjectIndex{0}, {5, 0}, 77);
    objects.calendar.set(ObjectIndex{1}, {5, 0}, 77);
    objects.tick_for(3 * second_us, 20'000);
    CHECK(objects.looks[0] == objects.looks[1]);
}

TEST_CASE("UpdateCalendar: what does not change is looked at more rarely, and at once more often") {
    Polled objects(1);
    objects.set(0, {50, 2});
    objects.tick_for(60 * second_us, 10'000);
    std::vector<std::int64_t>& looks = objects.looks[0];
    const std::int64_t first = looks.front();
    std::int64_t longest = 0;
    for (std::size_t i = 1; i < looks.size(); ++i) {
        const std::int64_t gap = looks[i] - looks[i - 1];
        // Within a quarter of the time without a change, but for a period and a tick.
        CHECK(gap <= std::max<std::int64_t>((looks[i] - first) / 4, 20'000) + 30'000);
        longest = std::max(longest, gap);
    }
    CHECK(longest > 300'000);   // 16 periods: the power of two below 25
    CHECK(longest <= 500'000);  // not more rarely than that
    CHECK(looks.size() < 250);

    objects.changes[0] = true;
    while (objects.changes[0]) {
        objects.tick_for(10'000, 10'000);
    }
    const std::size_t found_at = looks.size();
    objects.tick_for(140'000, 10'000);
    CHECK(looks.size() - found_at == 7);  // each period again
}

TEST_CASE("UpdateCalendar: who waits for a mark is looked at when a polled one would be") {
    const std::uint64_t seed = run_seed();
    SeededRandom random(seed);
    INFO("seed " << seed);
    for (int game = 0; game < 50; ++game) {
        const auto per_second = static_cast<float>(random.between(1, 80));
        const float min_per_second =
            random.percent(50) ? 0.0f : per_second / static_cast<float>(random.between(2, 40));
        const NetUpdateFrequency frequency{per_second, min_per_second};
        std::pmr::memory_resource* memory = std::pmr::get_default_resource();
        UpdateCalendar polled(memory);
        UpdateCalendar marked(memory);
        const std::uint32_t spread = random.below(1'000);
        polled.set(ObjectIndex{0}, frequency, spread);
        marked.set(ObjectIndex{0}, frequency, spread);
        bool is_polled_due = true;
        bool is_marked_due = true;
        bool has_changed = false;
        NetTime now{static_cast<std::int64_t>(random.below(1'000'000'000)) - 500'000'000};
        for (int tick = 0; tick < 2'000; ++tick) {
            now.microseconds +=
                random.percent(2) ? random.between(1, 9'000'000) : random.between(1, 50'000);
            if (random.percent(3) || tick == 0) {
                has_changed = true;
                if (!is_marked_due) {
                    marked.wait(ObjectIndex{0});
                }
            }
            polled.advance(now, [&](ObjectIndex) { is_polled_due = true; });
            marked.advance(now, [&](ObjectIndex) { is_marked_due = true; });
            if (has_changed) {
                REQUIRE(is_polled_due == is_marked_due);
            }
            if (is_marked_due) {
                is_marked_due = false;
                marked.looked(ObjectIndex{0}, has_changed);
            }
            if (is_polled_due) {
                is_polled_due = false;
                polled.looked(ObjectIndex{0}, has_changed);
                has_changed = false;
                polled.wait(ObjectIndex{0});
            }
        }
    }
}

TEST_CASE("UpdateCalendar: a tick costs by the objects that come due, and takes no memory") {
    constexpr std::uint32_t count = 10'000;
    Polled objects(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        objects.set(i, {1, 0});
    }
    objects.tick_for(2 * second_us, 20'000);
    const std::uint64_t visited = objects.calendar.visited_count();
    const std::uint64_t allocations = objects.memory.allocation_count();
    objects.tick_for(10 * second_us, 20'000);
    // Each once a second; twice where the tick ends within its bucket.
    CHECK(objects.calendar.visited_count() - visited >= 10 * count);
    CHECK(objects.calendar.visited_count() - visited <= 13 * count);
    CHECK(objects.memory.allocation_count() == allocations);
}

TEST_CASE("UpdateCalendar: a pause is one look, and what is forgotten is not looked at") {
    Polled objects(2);
    objects.set(0, {100, 0});
    objects.set(1, {100, 0});
    objects.tick_for(second_us, 20'000);
    objects.calendar.forget(ObjectIndex{1});
    objects.looks[0].clear();
    objects.looks[1].clear();
    objects.now_us += 100 * second_us;
    objects.tick({objects.now_us});
    CHECK(objects.looks[0].size() == 1);
    CHECK(objects.looks[1].empty());
    CHECK(!objects.calendar.is_paced(ObjectIndex{1}));
    CHECK(objects.calendar.frequency_of(ObjectIndex{1}) == NetUpdateFrequency());
}

TEST_CASE("NetUpdateFrequency: what makes no sense is not valid") {
    CHECK(NetUpdateFrequency{}.is_valid());
    CHECK(NetUpdateFrequency{0.001f, 0}.is_valid());
    CHECK(NetUpdateFrequency{1'000'000.0f, 0}.is_valid());
    CHECK(!NetUpdateFrequency{0.0009f, 0}.is_valid());
    CHECK(!NetUpdateFrequency{1'100'000.0f, 0}.is_valid());
    CHECK(!NetUpdateFrequency{-1, 0}.is_valid());
    CHECK(!NetUpdateFrequency{0, 2}.is_valid());
}

}  // namespace replayout::test
