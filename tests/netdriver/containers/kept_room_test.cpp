// SPDX-License-Identifier: MIT
//
// What is kept from tick to tick goes back when long nobody needed it, and not before.
#include "kept_room.h"

#include <replayout/reflection/memory.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ring_queue.h"
#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"
#include "support/checks/executors.h"
#include "support/worlds/net_fixture.h"

namespace replayout::test {

TEST_CASE("KeptVector: gives back what less than a quarter of was enough for a period") {
    CountingResource memory;
    KeptVector<std::uint64_t> row(&memory);
    const auto use = [&](std::size_t count) {
        row.resize(count);
        row.clear();
    };
    use(1'000);
    row.trim();
    CHECK(row.capacity() >= 1'000);  // which were needed
    use(300);
    row.trim();
    CHECK(row.capacity() >= 1'000);  // more than a quarter
    use(40);
    use(50);
    row.trim();
    CHECK(row.capacity() >= 100);
    CHECK(row.capacity() < 250);
    const std::uint64_t taken = memory.allocation_count();
    use(100);
    row.trim();
    CHECK(memory.allocation_count() == taken);
}

TEST_CASE("KeptVector: what is small stays") {
    CountingResource memory;
    KeptVector<std::byte> row(&memory);
    row.resize(KeptRoom::least_bytes);
    row.drop_and_trim();
    CHECK(row.empty());
    CHECK(row.capacity() >= KeptRoom::least_bytes);
}

TEST_CASE("KeptVector: of a row that grew twice as far as needed counts what was needed") {
    CountingResource memory;
    KeptVector<std::byte> row(&memory);
    row.grow_to(5'000);
    CHECK(row.size() == 5'000);
    row.grow_to(5'001);
    CHECK(row.size() == 10'000);
    row.drop_and_trim();
    CHECK(row.empty());
    CHECK(row.capacity() >= 10'000);  // more than a quarter was needed
    row.grow_to(2'000);
    CHECK(row.size() == 2'000);
    row.drop_and_trim();
    CHECK(row.capacity() == 4'000);
}

TEST_CASE("KeptVector: a row that swaps what it holds still knows what it needed itself") {
    CountingResource memory;
    KeptVector<std::uint64_t> row(&memory);
    KeptVector<std::uint64_t> other(&memory);
    row.note(1'000);
    row.reserve(1'000);
    row.swap(other);
    trim_all(row, other);
    CHECK(other.capacity() == 0);  // it needed none
}

TEST_CASE("KeptRoom: room is too large beyond what is small, if less than a quarter was needed") {
    constexpr std::size_t small = KeptRoom::least_bytes;
    CHECK_FALSE(KeptRoom::is_too_large(0, small, 1));
    CHECK(KeptRoom::is_too_large(0, small + 1, 1));
    CHECK_FALSE(KeptRoom::is_too_large(0, small / 8, 8));
    CHECK(KeptRoom::is_too_large(0, small / 8 + 1, 8));
    CHECK(KeptRoom::is_too_large(999, 4'000, 8));
    CHECK_FALSE(KeptRoom::is_too_large(1'000, 4'000, 8));
    CHECK_FALSE(KeptRoom::is_too_large(1'001, 4'000, 8));
}

TEST_CASE("RingQueue: gives back the room of a burst, and keeps what is in it, in order") {
    CountingResource memory;
    RingQueue<std::uint64_t> queue(&memory);
    for (std::uint64_t i = 0; i < 3'000; ++i) {
        queue.push_back() = i;
    }
    const std::int64_t most = memory.bytes_in_use();
    for (int i = 0; i < 2'990; ++i) {
        queue.pop_front();
    }
    queue.trim();
    CHECK(memory.bytes_in_use() == most);  // it was needed since the last time
    queue.trim();
    CHECK(memory.bytes_in_use() <= 8 * 256);
    REQUIRE(queue.count() == 10);
    for (std::size_t i = 0; i < 10; ++i) {
        CHECK(queue.at(i) == 2'990 + i);
    }
    for (std::uint64_t i = 3'000; i < 3'100; ++i) {
        queue.push_back() = i;
    }
    for (std::uint64_t i = 2'990; i < 3'100; ++i) {
        REQUIRE(queue.front() == i);
        queue.pop_front();
    }
}

TEST_CASE("Kept room: what a burst of opens needed goes back, and a steady tick takes none",
          "[netdriver][memory_report]") {
    constexpr std::size_t clients = 2;
    constexpr std::int32_t pawns = 1'000;
    NetFixtureOptions options;
    options.is_validating = false;
    OrderedExecutor executor(3, JobOrder::Reverse);
    const bool has_lanes = GENERATE(false, true);
    if (has_lanes) {
        options.executor = &executor;
    }
    INFO("by lanes: " << has_lanes);
    NetFixture net(options);
    std::vector<ObjectHandle> steady;
    for (int i = 0; i < 70; ++i) {  // more than are looked at as one row
        steady.push_back(net.add_pawn());
    }
    const auto play = [&](std::uint64_t tick_count) {
        for (std::uint64_t tick = 0; tick < tick_count; ++tick) {
            for (const ObjectHandle pawn : steady) {
                net.pawn(pawn).health = static_cast<std::int32_t>(tick);
            }
            net.tick();
        }
    };
    const auto kept_bytes = [&] {
        const MemoryReport report = net.server_driver().memory_report();
        return report.scratch_bytes + report.in_flight_bytes + report.bundle_bytes;
    };
    for (std::size_t client = 0; client < clients; ++client) {
        net.join();
    }
    play(200);
    const std::size_t before = kept_bytes();
    std::vector<ObjectHandle> burst;
    for (std::int32_t number = 0; number < pawns; ++number) {
        burst.push_back(net.add_pawn());
        net.pawn(burst.back()).health = number + 1'000;
    }
    REQUIRE(net.settle());
    for (std::int32_t number = 0; number < pawns; ++number) {
        net.pawn(burst[static_cast<std::size_t>(number)]).name =
            "a name that is long enough for the bytes of all bundles to count " +
            std::to_string(number);
    }
    REQUIRE(net.settle());
    for (const ObjectHandle object : burst) {
        net.remove(object);
    }
    REQUIRE(net.settle());
    const std::size_t of_burst = kept_bytes();
    REQUIRE(of_burst > before + 10'000);
    play(2 * KeptRoom::period + 10);  // in the first period it was needed
    CHECK(kept_bytes() < before + (of_burst - before) / 4);
    const std::uint64_t taken = net.server().memory.allocation_count();
    play(KeptRoom::period);  // and no trim takes what is needed
    CHECK(net.server().memory.allocation_count() == taken);
}

}  // namespace replayout::test
