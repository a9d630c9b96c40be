// SPDX-License-Identifier: MIT
//
// What a server holds when the workload has run for a while: by what makes it more. The time is
// that of asking for it.
#include "support/session_measure.h"
#include "support/workloads/pawn_workload.h"

#include <memory>

namespace replayout::bench {

namespace {

constexpr double bytes_per_pair_max = 16;

void BM_Memory(benchmark::State& state) {
    const auto connections = static_cast<std::uint32_t>(state.range(0));
    const auto objects = static_cast<std::uint32_t>(state.range(1));
    PawnWorkload workload(objects, true, 1);
    ServerSession session({.connections = connections}, workload);
    if (!is_ready(state, session.error())) {
        return;
    }
    MemoryReport memory;
    for (auto _ : state) {
        memory = session.memory_report();
        benchmark::DoNotOptimize(memory);
    }
    const auto per = [](std::size_t bytes, double count) {
        return static_cast<double>(bytes) / count;
    };
    state.counters["bytes"] = static_cast<double>(memory.total_bytes());
    state.counters["bytes/object"] = per(memory.object_bytes, objects);
    state.counters["bytes/pair"] = memory.bytes_per_pair();
    state.counters["bytes/connection"] = per(memory.connection_bytes, connections);
    state.counters["in_flight/connection"] =
        per(memory.in_flight_bytes + memory.bundle_bytes, connections);
    state.counters["scratch"] = static_cast<double>(memory.scratch_bytes);
    if (memory.pair_count != std::uint64_t{connections} * objects ||
        memory.bytes_per_pair() > bytes_per_pair_max) {
        state.SkipWithError("a pair must have at most 16 bytes");
    }
}

BENCHMARK(BM_Memory)
    ->ArgNames({"connections", "objects"})
    ->Args({1, 1'000})
    ->Args({64, 1'000})
    ->Args({512, 1'000})
    ->Args({64, 10'000})
    ->Iterations(1)
    ->Unit(benchmark::kNanosecond);

}  // namespace

}  // namespace replayout::bench
