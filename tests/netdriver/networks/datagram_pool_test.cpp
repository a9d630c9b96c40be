// SPDX-License-Identifier: MIT
#include <replayout/netdriver/datagram_pool.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"

namespace replayout {
namespace {

std::vector<std::byte> make_bytes(std::size_t size, unsigned first) {
    std::vector<std::byte> bytes(size);
    for (std::size_t index = 0; index < size; ++index) {
        bytes[index] = static_cast<std::byte>(first + index);
    }
    return bytes;
}

bool holds(const DatagramPool& pool, DatagramSlot slot, const std::vector<std::byte>& bytes) {
    const std::span<const std::byte> held = pool.bytes(slot);
    return std::vector<std::byte>(held.begin(), held.end()) == bytes;
}

TEST_CASE("DatagramPool: a slot keeps bytes and sender until it is given back",
          "[netdriver][datagram_pool]") {
    std::pmr::monotonic_buffer_resource memory;
    DatagramPool pool(64, &memory);
    const DatagramSlot first = pool.take(PeerId{7}, make_bytes(64, 1));
    const DatagramSlot second = pool.take(PeerId{8}, {});
    REQUIRE(first != second);
    CHECK(pool.used_count() == 2);
    CHECK(pool.sender(first) == PeerId{7});
    CHECK(holds(pool, first, make_bytes(64, 1)));
    CHECK(pool.sender(second) == PeerId{8});
    CHECK(pool.bytes(second).empty());

    pool.give_back(first);
    CHECK(pool.used_count() == 1);
    CHECK(pool.take(PeerId{9}, make_bytes(3, 5)) == first);
    CHECK(holds(pool, first, make_bytes(3, 5)));
}

TEST_CASE("DatagramPool: bytes survive the growth of the pool", "[netdriver][datagram_pool]") {
    std::pmr::monotonic_buffer_resource memory;
    DatagramPool pool(32, &memory);
    std::vector<DatagramSlot> slots;
    for (unsigned count = 0; count < 200; ++count) {
        slots.push_back(pool.take(PeerId{count + 1}, make_bytes(count % 33, count)));
    }
    for (unsigned count = 0; count < 200; ++count) {
        REQUIRE(pool.sender(slots[count]) == PeerId{count + 1});
        REQUIRE(holds(pool, slots[count], make_bytes(count % 33, count)));
    }
}

TEST_CASE("DatagramPool: what a flood took is given back when it is over",
          "[netdriver][datagram_pool]") {
    CountingResource memory;
    DatagramPool pool(1'200, &memory);
    const auto exchange = [&](std::size_t count) {
        std::vector<DatagramSlot> slots;
        for (std::size_t i = 0; i < count; ++i) {
            slots.push_back(pool.take(PeerId{i}, make_bytes(3, static_cast<unsigned>(i % 200))));
        }
        for (std::size_t i = 0; i < count; ++i) {
            CHECK(pool.sender(slots[i]) == PeerId{i});
        }
        for (const DatagramSlot slot : slots) {
            pool.give_back(slot);
        }
    };
    exchange(20'000);
    CHECK(pool.slot_count() == 20'000);
    for (int round = 0; round < 100; ++round) {
        exchange(50);
    }
    CHECK(pool.slot_count() < 256);
    CHECK(memory.bytes_in_use() < 256 * 1'300);
}

TEST_CASE("DatagramPool: rounds that are alike take and give back nothing",
          "[netdriver][datagram_pool]") {
    CountingResource memory;
    DatagramPool pool(1'200, &memory);
    std::uint64_t before = 0;
    for (int round = 0; round < 100; ++round) {
        std::vector<DatagramSlot> slots;
        for (std::uint64_t i = 0; i < 900 + static_cast<std::uint64_t>(round % 7) * 30; ++i) {
            slots.push_back(pool.take(PeerId{i}, make_bytes(1, 7)));
        }
        for (const DatagramSlot slot : slots) {
            pool.give_back(slot);
        }
        if (round == 10) {
            before = memory.allocation_count();
        }
    }
    CHECK(memory.allocation_count() == before);
}

TEST_CASE("DatagramQueue: first in, first out, cut to the buffer", "[netdriver][datagram_pool]") {
    std::pmr::monotonic_buffer_resource memory;
    DatagramPool pool(32, &memory);
    DatagramQueue queue;
    PeerId sender;
    std::array<std::byte, 4> buffer{};
    REQUIRE(queue.receive(pool, sender, buffer) == Transport::nothing_received);

    queue.push(pool, pool.take(PeerId{1}, make_bytes(2, 10)));
    queue.push(pool, pool.take(PeerId{2}, make_bytes(9, 20)));
    queue.push(pool, pool.take(PeerId{3}, {}));
    REQUIRE(queue.count() == 3);
    REQUIRE(queue.receive(pool, sender, buffer) == 2);
    CHECK(sender == PeerId{1});
    CHECK(buffer[1] == std::byte{11});
    REQUIRE(queue.receive(pool, sender, buffer) == 4);
    CHECK(sender == PeerId{2});
    CHECK(buffer[3] == std::byte{23});
    REQUIRE(queue.receive(pool, sender, buffer) == 0);
    CHECK(sender == PeerId{3});
    REQUIRE(queue.receive(pool, sender, buffer) == Transport::nothing_received);
    CHECK(pool.used_count() == 0);

    queue.push(pool, pool.take(PeerId{1}, make_bytes(2, 10)));
    queue.push(pool, pool.take(PeerId{1}, make_bytes(2, 10)));
    queue.clear(pool);
    CHECK(queue.count() == 0);
    CHECK(pool.used_count() == 0);
}

}  // namespace
}  // namespace replayout
