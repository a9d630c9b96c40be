// SPDX-License-Identifier: MIT
//
// The session that the benchmarks of a tick play: ready when it says so, and it tells what was sent
// from what was not.
#include "support/server_session.h"
#include "support/replicators/packet_floor.h"
#include "support/workloads/pawn_workload.h"
#include "support/workloads/rotating_workload.h"

#include <replayout/reflection/type_builder.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/checks/catch.h"

namespace replayout::bench {
namespace {

constexpr std::uint64_t seed = 1;

struct Lamp {
    std::uint32_t colour = 0;
};

[[nodiscard]] RotatingClass<Lamp> lamps(std::string name = "Lamp") {
    return {
        .declare =
            [name = std::move(name)](TypeRegistry& registry) {
                return class_builder<Lamp>(registry, name).property<&Lamp::colour>().build();
            },
        .change = [](Lamp& lamp, std::uint32_t, std::uint64_t) { ++lamp.colour; },
        .object_count = 50,
        .period_ticks = 5,
    };
}

}  // namespace

TEST_CASE("ServerSession: a tick sends a rotating fifth to everyone", "[bench][server_session]") {
    RotatingWorkload<Lamp> workload(lamps());
    ServerSession session({.connections = 3, .crowded_ticks = 10}, workload);
    REQUIRE(session.error().empty());
    const NetStats before = session.stats();
    const Changes changed = session.changes();
    for (int i = 0; i < 20; ++i) {
        CHECK(session.tick().allocations == 0);
    }
    CHECK((session.changes() - changed).blocks_owed == 20 * 10 * 3);
    CHECK(session.has_sent_all(before, changed));
    Changes more = changed;
    more.blocks_owed -= 1;
    CHECK_FALSE(session.has_sent_all(before, more));
    CHECK(session.packets().size() == 3);
}

TEST_CASE("ServerSession: a class that cannot be is the error", "[bench][server_session]") {
    RotatingWorkload<Lamp> workload(lamps(""));
    CHECK_FALSE(ServerSession({.connections = 1}, workload).error().empty());
}

TEST_CASE("ServerSession: what is lost is repeated, and arrives when nothing is lost any more",
          "[bench][server_session]") {
    PawnWorkload workload(100, true, seed);
    ServerSession session({.connections = 4, .crowded_ticks = 10}, workload);
    REQUIRE(session.error().empty());
    const NetStats before = session.stats();
    const Changes changed = session.changes();
    session.set_loss(0.2);
    for (int i = 0; i < 50; ++i) {
        (void)session.tick();
    }
    const std::uint64_t lost = session.stats().packets_lost - before.packets_lost;
    CHECK(lost > 20);
    CHECK(lost < 60);
    CHECK_FALSE(session.has_sent_all(before, changed));
    CHECK(session.stats().records_sent - before.records_sent >
          (session.changes() - changed).blocks_owed);
    session.set_loss(0);
    CHECK(session.settle(20));
}

TEST_CASE("ServerSession: each time that loss is set the same packets are lost",
          "[bench][server_session]") {
    RotatingWorkload<Lamp> workload(lamps());
    ServerSession session({.connections = 4, .crowded_ticks = 10}, workload);
    REQUIRE(session.error().empty());
    std::vector<std::uint64_t> blocks;
    for (int round = 0; round < 2; ++round) {
        const NetStats before = session.stats();
        session.set_loss(0.2);
        for (int i = 0; i < 50; ++i) {
            (void)session.tick();
        }
        blocks.push_back(session.stats().records_sent - before.records_sent);
        session.set_loss(0);
        REQUIRE(session.settle(20));
    }
    CHECK(blocks[0] > 50 * 10 * 4);
    CHECK(blocks[0] == blocks[1]);
}

TEST_CASE("PacketFloor: it copies every byte of a tick, and notices where it did not",
          "[bench][packet_floor]") {
    PawnWorkload workload(100, true, seed);
    ServerSession session({.connections = 3, .crowded_ticks = 10}, workload);
    REQUIRE(session.error().empty());
    const std::uint64_t before = session.stats().bytes_sent;
    (void)session.tick();
    const std::uint64_t bytes = session.stats().bytes_sent - before;
    PacketFloor floor(3, 1);
    floor.note(0, session.packets());
    CHECK_FALSE(floor.has_copied(0, bytes));
    (void)floor.copy(0);
    CHECK(floor.has_copied(0, bytes));
    CHECK_FALSE(floor.has_copied(0, bytes + 1));
}

TEST_CASE("ServerSession: pawns move by as many as is said", "[bench][server_session]") {
    PawnWorkload workload(100, true, seed);
    ServerSession session({.connections = 2, .crowded_ticks = 10}, workload);
    REQUIRE(session.error().empty());
    for (const std::uint32_t moving : {0u, 1u, 20u, 100u}) {
        CAPTURE(moving);
        workload.scene().set_moving_count(moving);
        const NetStats before = session.stats();
        const Changes changed = session.changes();
        for (int i = 0; i < 5; ++i) {
            (void)session.tick();
        }
        CHECK((session.changes() - changed).objects == 5 * moving);
        CHECK((session.changes() - changed).values == 5 * moving * pawn_transform_count);
        CHECK(session.has_sent_all(before, changed));
    }
}

}  // namespace replayout::bench
