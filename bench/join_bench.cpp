// SPDX-License-Identifier: MIT
//
// A hundred clients that join a large world within a second: the ticks of the server meanwhile.
// One iteration is all of it, from the first client to the last that has everything.
#include "support/joining_clients.h"
#include "support/report/percentile.h"

#include <benchmark/benchmark.h>

#include <numeric>

namespace replayout::bench {

namespace {

void BM_Join(benchmark::State& state) {
    JoinSettings settings;
    settings.clients = static_cast<std::uint32_t>(state.range(0));
    settings.objects = static_cast<std::uint32_t>(state.range(1));
    settings.changes_per_tick = static_cast<std::uint32_t>(state.range(2));
    for (auto _ : state) {
        JoinResult result = join_clients(settings);
        if (!result.error.empty()) {
            state.SkipWithError(result.error.c_str());
            return;
        }
        state.SetIterationTime(std::accumulate(result.tick_ms.begin(), result.tick_ms.end(), 0.0) /
                               1e3);
        const ReplicationCounters& counters = result.stats.replication;
        state.counters["tick_p50_ms"] = percentile(result.tick_ms, 50);
        state.counters["tick_p99_ms"] = percentile(result.tick_ms, 99);
        state.counters["tick_max_ms"] = percentile(result.tick_ms, 100);
        state.counters["game_seconds"] = result.seconds;
        state.counters["opens_max"] = static_cast<double>(result.opens_in_flush_max);
        state.counters["calls_per_value"] =
            static_cast<double>(counters.values_encoded) /
            static_cast<double>(result.values_to_encode + result.values_changed);
        state.counters["bytes_per_open"] = static_cast<double>(result.stats.bytes_sent) /
                                           static_cast<double>(result.stats.channels_opened);
    }
}

BENCHMARK(BM_Join)
    ->ArgNames({"clients", "objects", "changes"})
    ->Args({16, 5'000, 0})
    ->Args({100, 20'000, 0})
    ->Args({100, 20'000, 200})
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace

}  // namespace replayout::bench
