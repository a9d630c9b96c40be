// SPDX-License-Identifier: MIT
//
// A server's whole tick where texts change: of 1,000 signs a fifth says something else, and to
// everybody. The floor is one memcpy of the texts for each connection.
#include "support/replicators/copy_floor.h"
#include "support/session_measure.h"
#include "support/workloads/changing_classes.h"
#include "support/workloads/rotating_workload.h"

#include <memory>

namespace replayout::bench {

namespace {

constexpr std::uint32_t connection_count = 64;
constexpr std::uint64_t block_overhead_max = 4;  // a mask, a length of two bytes, bits to fill up

void BM_TickStrings(benchmark::State& state) {
    static KeptSessions sessions;
    const auto text_bytes = static_cast<std::size_t>(state.range(0));
    ServerSession& session = sessions.at(
        {state.range(0), state.range(1)},
        {.connections = connection_count, .sharing = sharing_of(state.range(1))},
        [text_bytes] { return std::make_unique<RotatingWorkload<Sign>>(signs(text_bytes)); });
    const NetStats before = session.stats();
    run_session(state, session);
    const NetStats& after = session.stats();
    // The floor is of the same texts: they are in the blocks, and little else is.
    const std::uint64_t blocks = after.records_sent - before.records_sent;
    const std::uint64_t bytes =
        after.replication.block_bytes_sent - before.replication.block_bytes_sent;
    if (bytes < blocks * text_bytes || bytes > blocks * (text_bytes + block_overhead_max)) {
        state.SkipWithError("a block must hold its text, and a few bytes besides");
    }
}

void BM_MemcpyStrings(benchmark::State& state) {
    const std::uint32_t changed = changing_object_count / changing_period_ticks;
    CopyFloor(connection_count, changed * static_cast<std::size_t>(state.range(0)))
        .run(state, changed);
}

BENCHMARK(BM_TickStrings)
    ->ArgNames({"bytes", "sharing"})
    ->ArgsProduct({{8, 64, 512}, {0, 3}})
    ->Apply(clock_by_hand);
BENCHMARK(BM_MemcpyStrings)
    ->ArgName("bytes")
    ->ArgsProduct({{8, 64, 512}})
    ->Unit(benchmark::kMicrosecond);

}  // namespace

}  // namespace replayout::bench
