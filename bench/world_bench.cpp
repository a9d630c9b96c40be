// SPDX-License-Identifier: MIT
//
// A server's whole tick in a large world where little changes, each client sees what is near, and
// may be sent so many bytes a second.
#include "support/session_measure.h"
#include "support/workloads/walker_workload.h"

#include <memory>

namespace replayout::bench {

namespace {

constexpr std::uint32_t connection_count = 100;
constexpr float view_radius = 125;
constexpr std::uint32_t cap_bytes_per_second = 64'000;
constexpr double ticks_per_second = 1'000.0 / 33;

/// Of the arguments sharing and walking. The cap: 0 is none.
[[nodiscard]] ServerSession& walker_session(KeptSessions& sessions, const benchmark::State& state,
                                            std::uint32_t cap) {
    ServerSessionSettings settings;
    settings.connections = connection_count;
    settings.sharing = sharing_of(state.range(0));
    settings.config.bytes_per_second_max = cap;
    settings.crowded_ticks = 3 * WalkerWorkload::turn_ticks;  // each walks thrice
    settings.interest = WalkerWorkload::interest(view_radius);
    return sessions.at({state.range(0), state.range(1)}, settings,
                       [&] { return std::make_unique<WalkerWorkload>(state.range(1) != 0); });
}

void BM_SeenWorld(benchmark::State& state) {
    static KeptSessions sessions;
    run_seen_session(state, walker_session(sessions, state, 0));
}

void BM_CappedWorld(benchmark::State& state) {
    static KeptSessions sessions;
    ServerSession& session = walker_session(sessions, state, cap_bytes_per_second);
    // Who stands sees as much change as there is room for; who walks, more.
    run_capped_session(state, session, cap_bytes_per_second / ticks_per_second,
                       state.range(1) != 0 ? 0.85 : 0);
}

void add_axes(benchmark::internal::Benchmark* benchmark) {
    benchmark->ArgNames({"sharing", "walking"})
        ->ArgsProduct({{0, 3}, {0, 1}})
        ->Iterations(100)
        ->Apply(clock_by_hand);
}

BENCHMARK(BM_SeenWorld)->Apply(add_axes);
BENCHMARK(BM_CappedWorld)->Apply(add_axes);

}  // namespace

}  // namespace replayout::bench
