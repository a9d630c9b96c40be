// SPDX-License-Identifier: MIT
//
// What an update in parts may hold, and what its parts cost, however much came before them.
#include <replayout/receive_properties.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

#include "support/checks/catch.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"

namespace replayout::test::receive_updates_cost_test {
namespace {

struct Crate {
    std::uint16_t id = 0;
    std::uint8_t count = 0;

    friend bool operator==(const Crate&, const Crate&) = default;
};

struct Warehouse {
    static constexpr std::size_t row_count = 72;
    static constexpr std::uint16_t row_size = 2'048;

    std::array<std::vector<Crate>, row_count> rows;
    std::uint32_t updates = 0;

    void post_net_receive() { ++updates; }
};

[[nodiscard]] Result<const Type*> build_warehouse(TypeRegistry& registry) {
    REQUIRE(struct_builder<Crate>(registry, "Crate")
                .property<&Crate::id>()
                .property<&Crate::count>()
                .build());
    return class_builder<Warehouse>(registry, "Warehouse")
        .property<&Warehouse::rows>()
        .keyed_by<&Crate::id>(ArrayOrder::Free)
        .post_net_receive<&Warehouse::post_net_receive>()
        .build();
}

/// A sender, and a receiver that has all rows, each of them full.
struct Haul {
    Haul() {
        for (auto& row : server.rows) {
            for (std::uint16_t i = 0; i < Warehouse::row_size; ++i) {
                row.push_back({i, 1});
            }
        }
        give(parts(1'150), false);
        REQUIRE(client.rows == server.rows);
        client.updates = 0;
    }

    /// Of what has changed just now.
    std::vector<SentPart> parts(std::size_t capacity_bytes) {
        const Version version = sender.state.version();
        REQUIRE(sender.update(&server));
        OwedVersions position = since(version);
        position.held_version = version;
        return sender.parts(position, capacity_bytes);
    }
    void give(const std::vector<SentPart>& parts, bool more_parts_follow) {
        for (const SentPart& part : parts) {
            const bool is_last = !more_parts_follow && &part == &parts.back();
            REQUIRE(receiver.receive(&client, part.bytes, !is_last));
        }
    }
    /// All of these rows.
    void change_rows(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            for (Crate& crate : server.rows[i]) {
                crate.count ^= 2;
            }
        }
    }

    TestLayout layout{build_warehouse};
    BlockSender sender{*layout};
    BlockReceiver receiver{*layout};
    Warehouse server;
    Warehouse client;
};

using Clock = std::chrono::steady_clock;

/// Of a packet full of small parts, behind others that changed so many rows.
[[nodiscard]] Clock::duration time_small_parts(Haul& haul, std::size_t row_count) {
    if (row_count > 0) {
        haul.change_rows(row_count);
        haul.give(haul.parts(1'150), true);
    }
    for (std::size_t i = 0; i < 100; ++i) {
        haul.server.rows.back()[i * 20].count ^= 2;
    }
    const std::vector<SentPart> small = haul.parts(10);
    REQUIRE(small.size() >= 50);
    const Clock::time_point begin = Clock::now();
    haul.give(small, true);
    const Clock::duration taken = Clock::now() - begin;
    ReceiveContext context = haul.receiver.context();
    finish_update(*haul.layout, &haul.client, haul.receiver.state, context);
    CHECK(haul.client.rows == haul.server.rows);
    return taken;
}

}  // namespace

TEST_CASE("Updates in parts: a part costs no more for all that was changed before it",
          "[replayout][receive_updates]") {
    Haul haul;
    // The least of several, as others use the machine.
    Clock::duration alone = Clock::duration::max();
    Clock::duration behind_many = Clock::duration::max();
    for (int i = 0; i < 3; ++i) {
        alone = std::min(alone, time_small_parts(haul, 0));
        behind_many = std::min(behind_many, time_small_parts(haul, 4));
    }
    CHECK(behind_many < 10 * alone);
}

TEST_CASE("Updates in parts: one that would hold too much ends early, and another one begins",
          "[replayout][receive_updates]") {
    Haul haul;
    // Four rows are as much as an update may hold.
    haul.change_rows(4);
    haul.give(haul.parts(1'150), false);
    CHECK(haul.client.updates == 1);
    haul.change_rows(8);
    haul.give(haul.parts(1'150), false);
    CHECK(haul.client.updates == 3);
    CHECK(haul.client.rows == haul.server.rows);
}

TEST_CASE("Updates in parts: one ends early where its end would cost more than 100,000 steps",
          "[replayout][receive_updates]") {
    // A row takes 2 steps for each crate that it has, and 8 for each that changed: 4 whole rows,
    // and of another one so many that the update costs 100,000.
    constexpr std::size_t row_steps = Warehouse::row_size * (2 + 8);
    constexpr std::size_t rows = 100'000 / row_steps;
    constexpr std::size_t crates = (100'000 - rows * row_steps - Warehouse::row_size * 2) / 8;
    static_assert(rows * row_steps + Warehouse::row_size * 2 + crates * 8 == 100'000);
    Haul haul;
    for (const std::size_t count : {crates - 1, crates, crates + 1}) {
        INFO(count << " crates");
        haul.change_rows(rows);
        for (std::size_t i = 0; i < count; ++i) {
            haul.server.rows[rows][i].count ^= 2;
        }
        haul.client.updates = 0;
        haul.give(haul.parts(1'150), false);
        CHECK(haul.client.updates == (count > crates ? 2 : 1));
        CHECK(haul.client.rows == haul.server.rows);
    }
}

}  // namespace replayout::test::receive_updates_cost_test
