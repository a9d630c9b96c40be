// SPDX-License-Identifier: MIT
#include "send_order.h"

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

/// Objects that are owed in each tick, sent by a connection that has room for so many bytes in one.
class Flood {
  public:
    struct Pair {
        std::uint32_t band = SendOrder::ordinary_band;
        std::uint32_t bytes = 1;
        bool is_held_back = false;
        std::uint32_t sent_at = 0;
        std::uint32_t longest_wait = 0;
    };

    explicit Flood(std::size_t count)
        : pairs(count),
          candidates_(&memory),
          ordered_(&memory),
          order(candidates_, ordered_, &memory),
          wanted_(&memory),
          owed_(&memory) {
        for (std::uint32_t index = 0; index < count; ++index) {
            wanted_.insert(ObjectIndex{index});
        }
    }

    void set_owed(ObjectIndex index, bool is_owed) {
        is_owed ? wanted_.insert(index) : wanted_.erase(index);
    }

    /// Returns what was sent, in order. Bytes that are left over are room of the next flush.
    std::vector<std::uint32_t> flush(std::int64_t bytes_per_flush) {
        ++tick;
        room_ = std::min<std::int64_t>(room_, 0) + bytes_per_flush;
        owed_.clear_all();
        owed_.merge(wanted_);
        const auto band = [this](ObjectIndex index) { return pairs[value_of(index)].band; };
        const auto ticks = [this](ObjectIndex) { return TickRange{tick - 1, tick}; };
        const auto arrive = [&](ObjectIndex index) {
            return SendOrder::Arrival{SendOrder::Kind::Shown, true, band(index)};
        };
        order.begin(owed_, arrive, band, ticks);
        std::vector<std::uint32_t> sent;
        send_candidates(sent);
        if (room_ > 0) {
            order.add_undue(owed_, band, ticks);
            send_candidates(sent);
        }
        order.end();
        return sent;
    }

    CountingResource memory;
    std::vector<Pair> pairs;

  private:
    void send_candidates(std::vector<std::uint32_t>& sent) {
        while (order.has_candidate() && room_ > 0) {
            const SendOrder::Candidate candidate = order.take();
            Pair& pair = pairs[value_of(candidate.index)];
            order.pay(candidate, pair.is_held_back ? 0 : pair.bytes);
            if (pair.is_held_back) {
                order.hold_back(candidate, SendOrder::Kind::Shown);
                continue;
            }
            order.sent(candidate.index);
            owed_.erase(candidate.index);
            room_ -= pair.bytes;
            pair.longest_wait = std::max(pair.longest_wait, tick - pair.sent_at);
            pair.sent_at = tick;
            sent.push_back(value_of(candidate.index));
        }
    }

    SendOrder::Candidates candidates_;
    BitRow ordered_;

  public:
    SendOrder order;
    std::uint32_t tick = 0;

  private:
    BitRow wanted_;
    BitRow owed_;
    std::int64_t room_ = 0;
};

}  // namespace

TEST_CASE("SendOrder: without pressure everything is due in each tick, by band and index") {
    Flood flood(4);
    flood.pairs[1].band = 5;
    flood.pairs[2].band = 1;
    for (int i = 0; i < 10; ++i) {
        CHECK(flood.flush(100) == std::vector<std::uint32_t>{2, 0, 3, 1});
    }
    CHECK(flood.order.pressure() == 0);
}

TEST_CASE("SendOrder: what was missed goes before what was not, the first missed first") {
    Flood flood(4);
    CHECK(flood.flush(2) == std::vector<std::uint32_t>{0, 1});
    CHECK(flood.flush(1) == std::vector<std::uint32_t>{2});
    CHECK(flood.order.is_missed(ObjectIndex{3}));
    CHECK(flood.order.is_missed(ObjectIndex{0}));
    CHECK(flood.flush(1) == std::vector<std::uint32_t>{3});
    CHECK(flood.flush(1) == std::vector<std::uint32_t>{0});
}

TEST_CASE("SendOrder: what is held back keeps its place, and nobody steps down for it") {
    Flood flood(4);
    flood.pairs[2].is_held_back = true;
    CHECK(flood.flush(100) == std::vector<std::uint32_t>{0, 1, 3});
    for (int i = 0; i < 100; ++i) {
        CHECK(flood.flush(100) == std::vector<std::uint32_t>{0, 1, 3});
    }
    CHECK(flood.order.pressure() == 0);
    flood.pairs[2].is_held_back = false;
    CHECK(flood.flush(100) == std::vector<std::uint32_t>{2, 0, 1, 3});
}

TEST_CASE("SendOrder: while something is held back pairs step down, and back, as ever") {
    Flood flood(64);
    flood.pairs[5].is_held_back = true;
    for (int i = 0; i < 1'000; ++i) {
        (void)flood.flush(8);
    }
    CHECK(flood.order.pressure() >= 3);
    CHECK(flood.order.pressure() <= 4);
    for (int i = 0; i < 1'000; ++i) {
        (void)flood.flush(63);
    }
    CHECK(flood.order.pressure() == 0);
}

TEST_CASE("SendOrder: pairs step down as far as the room asks for, and back") {
    Flood flood(64);
    for (int i = 0; i < 1'000; ++i) {
        (void)flood.flush(8);
    }
    CHECK(flood.order.pressure() >= 3);
    CHECK(flood.order.pressure() <= 4);
    for (int i = 0; i < 1'000; ++i) {
        (void)flood.flush(64);
    }
    CHECK(flood.order.pressure() == 0);
}

TEST_CASE("SendOrder: who steps down further is due in some of the ticks of who does not") {
    // As many connections as pressures, one object each.
    Flood flood(64);
    for (int i = 0; i < 400; ++i) {
        (void)flood.flush(2);
    }
    REQUIRE(flood.order.pressure() >= 3);
    CHECK(flood.order.exponent_of(1) + 1 == flood.order.exponent_of(2));
    CHECK(flood.order.exponent_of(2) + 1 == flood.order.exponent_of(3));
    for (std::uint32_t index = 100; index < 164; ++index) {
        std::uint32_t due_count = 0;
        for (std::int64_t tick = 1; tick <= 64; ++tick) {
            const TickRange ticks{tick - 1, tick};
            const std::uint32_t near = flood.order.rank_of(ObjectIndex{index}, 1, ticks);
            const std::uint32_t far = flood.order.rank_of(ObjectIndex{index}, 3, ticks);
            CHECK((far > SendOrder::due_rank || near == SendOrder::due_rank));
            CHECK(far <= near + 2);
            due_count += near == SendOrder::due_rank ? 1u : 0u;
        }
        CHECK(due_count == 64u >> flood.order.exponent_of(1));
        // None of its ticks: behind all others.
        CHECK(flood.order.rank_of(ObjectIndex{index}, 3, {7, 7}) > flood.order.exponent_of(3));
    }
}

TEST_CASE("SendOrder: bands are sent in the ratio of two where there is no room for all") {
    Flood flood(128);
    for (std::size_t i = 0; i < 128; ++i) {
        flood.pairs[i].band = i % 2 == 0 ? 3 : 4;
    }
    std::vector<std::uint32_t> counts(2);
    for (int i = 0; i < 4'000; ++i) {
        for (const std::uint32_t index : flood.flush(13)) {
            counts[index % 2] += i > 1'000 ? 1u : 0u;
        }
    }
    CHECK(counts[0] * 10 >= counts[1] * 17);
    CHECK(counts[0] * 10 <= counts[1] * 30);
    CHECK(counts[0] + counts[1] >= 13 * 2'990);  // all the room is used
}

TEST_CASE("SendOrder: no pair waits longer than promised, whatever bands, sizes and room") {
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    SeededRandom random(seed);
    for (int game = 0; game < 60; ++game) {
        Flood flood(random.between(1, 300));
        std::uint64_t all_bytes = 0;
        for (Flood::Pair& pair : flood.pairs) {
            pair.band = random.below(SendOrder::band_count);
            pair.bytes = random.between(1, 400);
            all_bytes += pair.bytes;
        }
        const std::uint32_t room = random.between(300, 5'000);
        for (int i = 0; i < 6'000; ++i) {
            (void)flood.flush(room);
        }
        for (Flood::Pair& pair : flood.pairs) {
            pair.longest_wait = 0;
        }
        std::uint32_t most_pressure = flood.order.pressure();
        std::vector<std::uint32_t> exponents(SendOrder::band_count);
        for (int i = 0; i < 20'000; ++i) {
            (void)flood.flush(room);
            most_pressure = std::max(most_pressure, flood.order.pressure());
            for (std::uint32_t band = 0; band < SendOrder::band_count; ++band) {
                exponents[band] = std::max(exponents[band], flood.order.exponent_of(band));
            }
        }
        const std::uint64_t cycle = (all_bytes + room - 1) / room + 1;
        for (const Flood::Pair& pair : flood.pairs) {
            INFO("band " << pair.band << ", pressure " << most_pressure);
            const std::uint64_t waited = std::max(pair.longest_wait, flood.tick - pair.sent_at);
            CHECK(waited <= cycle << exponents[pair.band]);
        }
        // No further than needed: with half of it there would not be room for all.
        CHECK((std::uint64_t{1} << most_pressure) <= 64 * cycle);
    }
}

TEST_CASE("SendOrder: where even the highest pressure leaves too little room, none starves") {
    // The band that goes first is due in one of 512 ticks then, which is more than there is room
    // for.
    constexpr std::uint32_t count = 2'500;
    Flood flood(count);
    for (std::uint32_t index = 0; index < count; ++index) {
        flood.pairs[index].band = index % 100 == 0 ? 7 : 0;
    }
    for (int i = 0; i < 10'000; ++i) {
        (void)flood.flush(1);
    }
    REQUIRE(flood.order.pressure() == SendOrder::pressure_max);
    for (int i = 0; i < 12'000; ++i) {
        (void)flood.flush(1);
    }
    for (const Flood::Pair& pair : flood.pairs) {
        INFO("band " << pair.band);
        CHECK(flood.tick - pair.sent_at <= (count + 1) << flood.order.exponent_of(pair.band));
        // And not nearly that: all others once, after the tick of its own.
        CHECK(flood.tick - pair.sent_at <= 4'096 + 2 * count);
    }
}

TEST_CASE("SendOrder: what was missed for hours still goes before what was missed later") {
    Flood flood(2);
    flood.set_owed(ObjectIndex{0}, false);
    for (int i = 0; i < 60'000; ++i) {
        (void)flood.flush(0);
    }
    flood.set_owed(ObjectIndex{0}, true);
    for (int i = 0; i < 6'000; ++i) {
        (void)flood.flush(0);
    }
    REQUIRE(flood.order.is_missed(ObjectIndex{0}));
    REQUIRE(flood.order.is_missed(ObjectIndex{1}));
    CHECK(flood.flush(1) == std::vector<std::uint32_t>{1});
}

TEST_CASE("SendOrder: a flush takes no memory once it is warm") {
    Flood flood(500);
    for (int i = 0; i < 1'000; ++i) {
        (void)flood.flush(20);
    }
    const std::uint64_t taken = flood.memory.allocation_count();
    for (int i = 0; i < 1'000; ++i) {
        (void)flood.flush(20);
    }
    CHECK(flood.memory.allocation_count() == taken);
}

TEST_CASE("SendOrder: an object with few ticks steps down by as much less") {
    Flood flood(64);
    for (int i = 0; i < 400; ++i) {
        (void)flood.flush(2);
    }
    const std::uint32_t exponent = flood.order.exponent_of(3);
    REQUIRE(exponent >= 4);
    CHECK(flood.order.exponent_of(3, {0, 1, 0}) == exponent);
    CHECK(flood.order.exponent_of(3, {0, 1, 2}) == exponent - 2);
    CHECK(flood.order.exponent_of(3, {0, 1, exponent + 3}) == 0);
    // Each of its ticks, where these are as rare as a pair that steps down is sent.
    for (std::int64_t tick = 1; tick <= 64; ++tick) {
        CHECK(flood.order.rank_of(ObjectIndex{200}, 3, {tick - 1, tick, exponent}) ==
              SendOrder::due_rank);
    }
}

namespace {

/// An order, and what is owed by it.
struct Owing {
    CountingResource memory;
    SendOrder::Candidates candidates{&memory};
    BitRow ordered{&memory};
    SendOrder order{candidates, ordered, &memory};
    BitRow owed{&memory};
    std::vector<SendOrder::Arrival> arrivals;  // by index

    void owe(const SendOrder::Arrival& arrival) {
        owed.insert(ObjectIndex{static_cast<std::uint32_t>(arrivals.size())});
        arrivals.push_back(arrival);
    }
    void begin(std::int64_t tick) {
        order.begin(
            owed, [&](ObjectIndex index) { return arrivals[value_of(index)]; },
            [&](ObjectIndex index) { return arrivals[value_of(index)].band; },
            [&](ObjectIndex) {
                return TickRange{tick - 1, tick};
            });
    }
    std::uint32_t take_and_send(std::uint32_t bytes = 1) {
        const SendOrder::Candidate candidate = order.take();
        order.pay(candidate, bytes);
        order.sent(candidate.index);
        owed.erase(candidate.index);
        return value_of(candidate.index);
    }
};

}  // namespace

TEST_CASE("SendOrder: what was shown without values goes first, and of what is new the nearest") {
    using Kind = SendOrder::Kind;
    Owing owing;
    owing.owe({Kind::Shown, true, 2});
    owing.owe({Kind::New, true, 3, 900.0f});
    owing.owe({Kind::New, true, 3, 4.0f});
    owing.owe({Kind::New, true, 2, 1e30f});
    owing.owe({Kind::New, true, 3, 0.0f});
    owing.owe({Kind::Unfinished, true, 7});
    const std::vector<std::uint32_t> expected = {5, 0, 3, 4, 2, 1};
    SECTION("at once") {
        owing.begin(1);
    }
    SECTION("or where they had to wait, and others came later") {
        owing.begin(1);
        owing.order.end();
        owing.owe({Kind::New, true, 3, 1.0f});
        owing.owe({Kind::New, true, 3, 1.0f});
        owing.begin(2);
    }
    SECTION("or where the first of them was taken, and found room later in the flush") {
        owing.begin(1);
        owing.order.miss(owing.order.take());
    }
    SECTION("or the same of one that had waited") {
        owing.begin(1);
        owing.order.end();
        owing.begin(2);
        owing.order.miss(owing.order.take());
    }
    SECTION("or where the first of them was taken, and had to wait for room") {
        owing.begin(1);
        owing.order.miss(owing.order.take());
        owing.order.end();
        owing.begin(2);
        owing.order.miss(owing.order.take());
        owing.order.end();
        owing.begin(3);
    }
    for (const std::uint32_t index : expected) {
        CHECK(owing.take_and_send() == index);
    }
}

TEST_CASE("SendOrder: who becomes a candidate of another kind goes by what it is then") {
    using Kind = SendOrder::Kind;
    Owing owing;
    for (int i = 0; i < 3; ++i) {
        owing.owe({Kind::Shown, true, 3});
    }
    owing.begin(1);
    owing.order.end();
    owing.arrivals[2].kind = Kind::Unfinished;
    owing.ordered.erase(ObjectIndex{2});
    owing.begin(2);
    CHECK(owing.take_and_send() == 2);
    CHECK(owing.take_and_send() == 0);
    CHECK(owing.take_and_send() == 1);
    CHECK_FALSE(owing.order.has_candidate());
}

TEST_CASE("SendOrder: what a call opened in the flush in which it waited is new no more") {
    using Kind = SendOrder::Kind;
    Owing owing;
    owing.owe({Kind::New, true, 3, 4.0f});
    owing.owe({Kind::New, true, 3, 9.0f});
    owing.begin(1);
    SECTION("where it was not taken") {}
    SECTION("or was held back") {
        const SendOrder::Candidate candidate = owing.order.take();
        REQUIRE(candidate.index == ObjectIndex{0});
        owing.order.hold_back(candidate, Kind::New);
    }
    owing.arrivals[0].kind = Kind::Shown;
    owing.ordered.erase(ObjectIndex{0});
    owing.order.end([&](ObjectIndex index) { return owing.arrivals[value_of(index)].kind; });
    CHECK_FALSE(owing.order.is_missed(ObjectIndex{0}));
    CHECK(owing.order.is_missed(ObjectIndex{1}));
    owing.begin(2);
    const SendOrder::Candidate first = owing.order.take();
    CHECK(first.index == ObjectIndex{1});  // it was missed
    CHECK(first.kind == Kind::New);
    const SendOrder::Candidate second = owing.order.take();
    CHECK(second.index == ObjectIndex{0});
    CHECK(second.kind == Kind::Shown);
    CHECK_FALSE(owing.order.has_candidate());
}

TEST_CASE("SendOrder: who is owed nothing any more keeps no place") {
    Owing owing;
    for (int i = 0; i < 3; ++i) {
        owing.owe({});
    }
    owing.begin(1);
    owing.order.end();
    owing.owed.erase(ObjectIndex{0});
    owing.begin(2);
    owing.order.end();
    CHECK_FALSE(owing.order.is_missed(ObjectIndex{0}));
    owing.owed.insert(ObjectIndex{0});
    owing.begin(3);
    CHECK(owing.take_and_send() == 1);
    CHECK(owing.take_and_send() == 2);
    for (std::int64_t tick = 4; tick < 100 && !owing.order.has_candidate(); ++tick) {
        owing.order.end();
        owing.begin(tick);  // until a tick of its own
    }
    CHECK(owing.take_and_send() == 0);
}

TEST_CASE("SendOrder: beside a flood of what is new nobody steps down, and nobody starves") {
    Owing owing;
    owing.owe({});
    std::uint32_t oldest_new = 1;
    std::uint32_t wait = 0;
    std::uint32_t longest_wait = 0;
    for (std::int64_t tick = 1; tick <= 2'000; ++tick) {
        for (int i = 0; i < 10; ++i) {
            owing.owe({SendOrder::Kind::New, true, 2, 1.0f});
        }
        owing.owed.insert(ObjectIndex{0});
        owing.begin(tick);
        ++wait;
        for (int room = 0; room < 5; ++room) {
            wait = owing.take_and_send() == 0 ? 0 : wait;
        }
        longest_wait = std::max(longest_wait, wait);
        owing.order.end();
        for (; owing.arrivals.size() - oldest_new > 100; ++oldest_new) {
            owing.owed.erase(ObjectIndex{oldest_new});  // what was not shown in time is over
        }
    }
    CHECK(owing.order.pressure() <= 1);
    CHECK(longest_wait <= 4);
}

namespace {

/// New and shown objects of any size, and room that may owe the last of them.
struct Turns {
    Owing owing;
    std::vector<std::uint32_t> bytes;    // by index
    std::vector<std::uint32_t> sent_at;  // by index; 0: never
    std::int64_t room = 0;
    std::uint32_t tick = 0;
    std::uint64_t new_bytes = 0;  // that were sent
    std::uint64_t shown_bytes = 0;

    std::uint32_t add(SendOrder::Kind kind, std::uint32_t band, std::uint32_t size) {
        owing.owe({kind, true, band, 1.0f});
        bytes.push_back(size);
        sent_at.push_back(0);
        return static_cast<std::uint32_t>(bytes.size() - 1);
    }
    void flush(std::int64_t bytes_per_flush) {
        ++tick;
        room = std::min<std::int64_t>(room, 0) + bytes_per_flush;
        owing.begin(tick);
        while (owing.order.has_candidate() && room > 0) {
            const SendOrder::Candidate candidate = owing.order.take();
            const std::uint32_t index = value_of(candidate.index);
            const std::uint32_t size = bytes[index];
            owing.order.pay(candidate, size);
            owing.order.sent(candidate.index);
            owing.owed.erase(candidate.index);
            sent_at[index] = tick;
            room -= size;
            (candidate.kind == SendOrder::Kind::New ? new_bytes : shown_bytes) += size;
            if (candidate.kind == SendOrder::Kind::New) {
                owing.ordered.erase(candidate.index);
                owing.arrivals[index].kind = SendOrder::Kind::Shown;
            }
        }
        owing.order.end();
    }
};

}  // namespace

TEST_CASE("SendOrder: beside shown objects new ones have half of the bytes, and not all of them") {
    const std::uint32_t new_size = GENERATE(5u, 40u, 1'000u);
    const std::uint32_t shown_size = GENERATE(5u, 40u, 1'000u);
    const std::int64_t room = GENERATE(3, 30, 500);
    CAPTURE(new_size, shown_size, room);
    Turns turns;
    for (int i = 0; i < 50; ++i) {
        (void)turns.add(SendOrder::Kind::Shown, 3, shown_size);
    }
    for (int i = 0; i < 1'000; ++i) {
        while (turns.owing.owed.count() < 200) {
            (void)turns.add(SendOrder::Kind::New, i % 2 == 0 ? 2 : 4, new_size);
        }
        for (std::uint32_t index = 0; index < 50; ++index) {
            turns.owing.owed.insert(ObjectIndex{index});
        }
        turns.flush(room);
    }
    const auto difference =
        static_cast<std::int64_t>(turns.new_bytes) - static_cast<std::int64_t>(turns.shown_bytes);
    // Shown objects leave what they are not due: where they waited for a large one, they step down
    // further than they would have to beside small ones.
    CHECK(difference >= -1'000);
    CHECK(turns.shown_bytes * (new_size > 100 ? 10 : 3) + 2'000 >= turns.new_bytes);
}

TEST_CASE("SendOrder: an object that comes anew in each flush leaves the shown ones their half") {
    Turns turns;
    const std::uint32_t shown = turns.add(SendOrder::Kind::Shown, 5, 20);
    std::uint32_t longest = 0;
    std::uint32_t last = 0;
    for (int i = 0; i < 1'000; ++i) {
        (void)turns.add(SendOrder::Kind::New, 0, 100);
        turns.owing.owed.insert(ObjectIndex{shown});
        turns.flush(100);
        longest = std::max(longest, turns.tick - turns.sent_at[shown]);
        last = turns.sent_at[shown];
    }
    CHECK(last >= 995);
    CHECK(longest <= 6);
}

TEST_CASE("SendOrder: what is new waits for what waited before it, whatever comes later") {
    Turns turns;
    for (int i = 0; i < 100; ++i) {
        (void)turns.add(SendOrder::Kind::Shown, 0, 30);
    }
    for (int i = 0; i < 100; ++i) {
        (void)turns.add(SendOrder::Kind::New, 0, 50);
    }
    const std::uint32_t low = turns.add(SendOrder::Kind::New, 7, 50);
    for (int i = 0; i < 1'000 && turns.sent_at[low] == 0; ++i) {
        for (int k = 0; k < 10; ++k) {
            (void)turns.add(SendOrder::Kind::New, 0, 50);
        }
        for (std::uint32_t index = 0; index < 100; ++index) {
            turns.owing.owed.insert(ObjectIndex{index});
        }
        turns.flush(200);
    }
    // A quarter of the bytes for certain.
    CHECK(turns.sent_at[low] > 0);
    CHECK(turns.sent_at[low] <= 4 * (101 * 50 + 3 * 50) / 200 + 2);
}

TEST_CASE("SendOrder: a due object waits for those due before it, whatever is forced later") {
    Turns turns;
    for (int i = 0; i < 100; ++i) {
        (void)turns.add(SendOrder::Kind::Shown, 0, 30);
    }
    const std::uint32_t low = turns.add(SendOrder::Kind::Shown, 6, 30);
    std::uint32_t due_since = 0;
    std::uint32_t longest = 0;
    for (int i = 0; i < 3'000; ++i) {
        for (std::uint32_t index = 0; index <= low; ++index) {
            turns.owing.owed.insert(ObjectIndex{index});
            if (index != low && turns.owing.owed.test(ObjectIndex{index})) {
                turns.owing.order.force(ObjectIndex{index});
            }
        }
        turns.flush(100);
        if (turns.sent_at[low] == turns.tick) {
            due_since = 0;
        } else if (due_since == 0 && turns.owing.order.is_missed(ObjectIndex{low})) {
            due_since = turns.tick;
        }
        longest = std::max(longest, due_since == 0 ? 0 : turns.tick - due_since);
    }
    CHECK(longest > 0);
    CHECK(longest <= 8 * (101 * 30 + 3 * 30) / 100 + 2);
}

TEST_CASE("SendOrder: what comes and goes again before it is sent takes no more and more memory") {
    Owing owing;
    for (int i = 0; i < 500; ++i) {
        owing.owe({SendOrder::Kind::New, true, 3, 1.0f});
    }
    const auto play = [&](std::int64_t first_tick, std::int64_t last_tick) {
        for (std::int64_t tick = first_tick; tick <= last_tick; ++tick) {
            for (std::uint32_t index = 0; index < 500; ++index) {
                (index + tick) % 2 == 0 ? owing.owed.insert(ObjectIndex{index})
                                        : owing.owed.erase(ObjectIndex{index});
            }
            owing.begin(tick);
            owing.order.end();
        }
    };
    owing.owed.insert(ObjectIndex{0});
    play(1, 100);
    const std::uint64_t taken = owing.memory.allocation_count();
    play(101, 1'000);
    CHECK(owing.memory.allocation_count() == taken);
}

TEST_CASE("SendOrder: what is forced is due until it is sent") {
    Flood flood(64);
    for (int i = 0; i < 400; ++i) {
        (void)flood.flush(2);
    }
    REQUIRE(flood.order.exponent_of(3) >= 4);
    std::uint32_t index = 0;
    while (flood.order.rank_of(ObjectIndex{index}, 3, {400, 401}) == SendOrder::due_rank) {
        ++index;
    }
    flood.order.force(ObjectIndex{index});
    CHECK(flood.order.rank_of(ObjectIndex{index}, 3, {400, 401}) == SendOrder::due_rank);
    flood.order.sent(ObjectIndex{index});
    CHECK(flood.order.rank_of(ObjectIndex{index}, 3, {400, 401}) > SendOrder::due_rank);
}

}  // namespace replayout::test
