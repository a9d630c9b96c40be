// SPDX-License-Identifier: MIT
//
// The counters that every benchmark reports. What they count is exact and the same on every
// machine; only the times are not.
#pragma once

#include "support/stop_watch.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

namespace replayout::bench {

/// Sums over all iterations of a benchmark.
struct Measured {
    std::uint64_t objects = 0;  ///< compared, encoded, or delivered, as the benchmark says
    std::uint64_t bytes = 0;
    std::uint64_t values_encoded = 0;
    std::uint64_t allocations = 0;
    double seconds = 0;  ///< that the clock ran
};

/// A sum over all iterations as a counter of one.
template <typename Number>
[[nodiscard]] benchmark::Counter per_iteration(Number sum) {
    return benchmark::Counter(static_cast<double>(sum), benchmark::Counter::kAvgIterations);
}

/// Per iteration: bytes, calls, allocs. Per object, where there is one: ns/object.
inline void report(benchmark::State& state, const Measured& measured) {
    state.counters["bytes"] = per_iteration(measured.bytes);
    state.counters["calls"] = per_iteration(measured.values_encoded);
    state.counters["allocs"] = per_iteration(measured.allocations);
    if (measured.objects > 0) {
        state.counters["ns/object"] =
            measured.seconds * 1e9 / static_cast<double>(measured.objects);
    }
}

/// Whether there is no error; else it is the benchmark's.
[[nodiscard]] inline bool is_ready(benchmark::State& state, const std::string& error) {
    if (!error.empty()) {
        state.SkipWithError(error.c_str());
    }
    return error.empty();
}

/// The clock of each iteration is ours, and shows microseconds.
inline void clock_by_hand(benchmark::internal::Benchmark* benchmark) {
    benchmark->UseManualTime()->Unit(benchmark::kMicrosecond);
}

/// The clock of one iteration, added to the sum and told to the benchmark.
inline void add_time(benchmark::State& state, Measured& measured, double seconds) {
    measured.seconds += seconds;
    state.SetIterationTime(seconds);
}

}  // namespace replayout::bench
