// SPDX-License-Identifier: MIT
//
// A server's whole tick in a large world where nothing changes: it is to cost next to nothing,
// however many objects there are.
#include "support/session_measure.h"
#include "support/workloads/pawn_workload.h"

namespace replayout::bench {

namespace {

constexpr std::uint32_t connection_count = 100;
constexpr std::int64_t few_objects = 1'000;
constexpr std::int64_t many_objects = 50'000;
// In an idle tick: a look at an object takes several times as long.
constexpr double object_ns_max = 0.2;

void BM_IdleWorld(benchmark::State& state) {
    // None moves. They do not sleep: each of them may, at any time.
    PawnWorkload workload(static_cast<std::uint32_t>(state.range(0)), true, 1);
    workload.scene().set_moving_count(0);
    ServerSessionSettings settings;
    settings.connections = connection_count;
    settings.config.initial_opens_per_flush_max = 65'536;
    settings.crowded_ticks = 600;  // packets that only keep a connection alive are rare
    ServerSession session(settings, workload);
    const NetStats before = session.stats();
    run_session(state, session);
    const ReplicationCounters& after = session.stats().replication;
    if (after.block_bytes_sent != before.replication.block_bytes_sent ||
        after.objects_compared != before.replication.objects_compared) {
        state.SkipWithError("of a world in which nothing changes nothing may be compared or sent");
    }
    // The floor: where there are few objects. More of them cost a bit each, in rows of bits.
    static double few_objects_us = 0;
    const double median_us = state.counters["median_us"];
    if (state.range(0) == few_objects) {
        few_objects_us = median_us;
        return;
    }
    const double us = median_us - few_objects_us;
    if (us * 1e3 > object_ns_max * static_cast<double>(state.range(0) - few_objects)) {
        state.SkipWithError("an idle tick must not look at each object");
    }
}

BENCHMARK(BM_IdleWorld)
    ->ArgName("objects")
    ->Arg(few_objects)
    ->Arg(many_objects)
    ->Iterations(300)
    ->Apply(clock_by_hand);

}  // namespace

}  // namespace replayout::bench
