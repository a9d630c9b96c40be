// SPDX-License-Identifier: MIT
//
// A server's whole tick where packets are lost: what a receiver lacks is then its own, and is made
// for it alone. The floor is the row in which nothing is lost. What clients send, which is acks, is
// never lost: an ack says all of what arrived, so the next one makes up for it.
#include "support/session_measure.h"
#include "support/workloads/pawn_workload.h"

#include <memory>

namespace replayout::bench {

namespace {

constexpr std::uint32_t pawn_count = 1'000;
constexpr std::uint32_t connection_count = 64;
constexpr std::uint64_t scene_seed = 1;
// With those before the clock counts (run_lossy_session) a whole number of rounds, so that every
// row loses packets of the same ticks.
constexpr std::int64_t ticks = 4 * PawnScene::period_ticks;

void BM_TickLoss(benchmark::State& state) {
    static KeptSessions sessions;
    ServerSession& session = sessions.at(
        {state.range(1)}, {.connections = connection_count, .sharing = sharing_of(state.range(1))},
        [] { return std::make_unique<PawnWorkload>(pawn_count, false, scene_seed); });
    run_lossy_session(state, session, static_cast<double>(state.range(0)) / 100);
}

BENCHMARK(BM_TickLoss)
    ->ArgNames({"percent", "sharing"})
    ->ArgsProduct({{0, 1, 2, 5, 10, 20}, {0, 2, 3}})
    ->Iterations(ticks)
    ->Apply(clock_by_hand);

}  // namespace

}  // namespace replayout::bench
