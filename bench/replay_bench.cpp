// SPDX-License-Identifier: MIT
//
// What a recording costs a server, beside one more connection: ticks of the workload with so many
// connections, with one more, and with a recording instead of that. The sink counts bytes and drops
// them. Without checkpoints: what one costs is what a join does.
#include "support/session_measure.h"
#include "support/workloads/pawn_workload.h"

#include <replayout/netdriver/replay_recorder.h>

#include <cstdint>

namespace replayout::bench {

namespace {

constexpr std::uint32_t object_count = 1'000;

class DroppingSink final : public ReplaySink {
  public:
    [[nodiscard]] bool write(std::span<const std::byte> bytes) override {
        byte_count_ += bytes.size();
        return true;
    }
    [[nodiscard]] std::uint64_t byte_count() const noexcept { return byte_count_; }

  private:
    std::uint64_t byte_count_ = 0;
};

/// A name for who counts instructions.
[[gnu::noinline]] double measured_tick(ServerSession& session) {
    return session.tick().seconds();
}

void BM_Recording(benchmark::State& state) {
    const auto connections = static_cast<std::uint32_t>(state.range(0));
    PawnWorkload workload(object_count, true, 1);
    DroppingSink sink;
    ReplayRecorderSettings settings;
    settings.checkpoint_ms = 0;
    ReplayRecorder recorder(sink, settings);
    ServerSession session({.connections = connections}, workload);
    if (!is_ready(state, session.error())) {
        return;
    }
    if (state.range(1) != 0) {
        if (!session.driver().start_recording(recorder)) {
            state.SkipWithError("the recording was refused");
            return;
        }
    }
    constexpr std::uint32_t ticks_until_warm = 100;
    for (std::uint32_t i = 0; i < ticks_until_warm; ++i) {
        (void)session.tick();
    }
    const std::uint64_t calls = session.stats().replication.values_encoded;
    for (auto _ : state) {
        state.SetIterationTime(measured_tick(session));
    }
    state.counters["calls"] = per_iteration(session.stats().replication.values_encoded - calls);
    state.counters["recorded_bytes"] = static_cast<double>(sink.byte_count());
    session.driver().stop_recording();
}

BENCHMARK(BM_Recording)
    ->ArgNames({"connections", "recorded"})
    ->Args({15, 0})
    ->Args({16, 0})
    ->Args({15, 1})
    ->Iterations(200)
    ->Apply(clock_by_hand);

}  // namespace

}  // namespace replayout::bench
