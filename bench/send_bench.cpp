// SPDX-License-Identifier: MIT
//
// A server's whole tick, by the number of connections: what has changed is found, encoded, put into
// packets and sent to everyone, and the acks of the tick before are taken. Beside it stand
// replicators written by hand, and as the floor one memcpy of the final bytes for every connection.
#include "support/replicators/copy_floor.h"
#include "support/replicators/yardstick.h"
#include "support/session_measure.h"
#include "support/workloads/pawn_workload.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace replayout::bench {

namespace {

constexpr std::uint32_t pawn_count = 1'000;
constexpr std::uint64_t scene_seed = 1;

[[nodiscard]] ServerSession& session_of(std::uint32_t connection_count, SharingLevel sharing) {
    static KeptSessions sessions;
    return sessions.at({connection_count, static_cast<std::int64_t>(sharing)},
                       {.connections = connection_count, .sharing = sharing}, [] {
                           return std::make_unique<PawnWorkload>(pawn_count, false, scene_seed);
                       });
}

[[nodiscard]] std::uint32_t connection_count_of(const benchmark::State& state) {
    return static_cast<std::uint32_t>(state.range(0));
}

void BM_TickServer(benchmark::State& state) {
    run_session(state, session_of(connection_count_of(state), sharing_of(state.range(1))));
}

void run_yardstick(benchmark::State& state, YardstickKind kind) {
    Yardstick yardstick({.kind = kind,
                         .pawns = pawn_count,
                         .connections = connection_count_of(state),
                         .scene_seed = scene_seed});
    run_yardstick(state, yardstick);
}

void BM_TickNaiveReplicator(benchmark::State& state) {
    run_yardstick(state, YardstickKind::NaivePoll);
}

void BM_TickNaiveDirty(benchmark::State& state) {
    run_yardstick(state, YardstickKind::NaiveDirty);
}

void BM_TickSharedOnce(benchmark::State& state) {
    run_yardstick(state, YardstickKind::SharedOncePoll);
}

void BM_Memcpy(benchmark::State& state) {
    const std::uint32_t connection_count = connection_count_of(state);
    ServerSession& session = session_of(connection_count, SharingLevel::Bundles);
    if (!is_ready(state, session.error())) {
        return;
    }
    const NetStats before = session.stats();
    for (std::uint32_t i = 0; i < PawnScene::period_ticks; ++i) {
        (void)session.tick();
    }
    const std::uint64_t copies = std::uint64_t{PawnScene::period_ticks} * connection_count;
    const std::size_t bytes = (session.stats().bytes_sent - before.bytes_sent) / copies;
    const std::uint64_t blocks = (session.stats().records_sent - before.records_sent) / copies;
    CopyFloor(connection_count, bytes).run(state, blocks);
}

const std::vector<std::int64_t> connection_counts = {1, 16, 64, 128};

void add_axes(benchmark::internal::Benchmark* benchmark) {
    benchmark->ArgName("connections")
        ->ArgsProduct({connection_counts})
        ->Unit(benchmark::kMicrosecond);
}

void add_axes_with_sharing(benchmark::internal::Benchmark* benchmark) {
    benchmark->ArgNames({"connections", "sharing"})
        ->ArgsProduct({connection_counts, {0, 1, 2, 3}})  // SharingLevel: off, ... bundles
        ->Apply(clock_by_hand);
}

BENCHMARK(BM_TickServer)->Apply(add_axes_with_sharing);
BENCHMARK(BM_TickNaiveReplicator)->Apply(add_axes)->UseManualTime();
BENCHMARK(BM_TickNaiveDirty)->Apply(add_axes)->UseManualTime();
BENCHMARK(BM_TickSharedOnce)->Apply(add_axes)->UseManualTime();
BENCHMARK(BM_Memcpy)->Apply(add_axes);

}  // namespace

}  // namespace replayout::bench
