// SPDX-License-Identifier: MIT
//
// A server's whole tick, by the number of connections: what has changed is found, encoded, put into
// packets and sent to everyone, and the acks of the tick before are taken. Beside it stand
// replicators written by hand, and as the floor one memcpy of the final bytes for every connection.
#include "measurement.h"
#include "server_session.h"
#include "yardstick.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace replayout::bench {

namespace {

constexpr std::uint32_t pawn_count = 1'000;
constexpr std::uint64_t scene_seed = 1;

/// A session is made once and goes on from where it stood: joining costs more than what is
/// measured, and a benchmark is called several times until it knows how often to repeat itself.
[[nodiscard]] ServerSession& session_of(std::uint32_t connection_count, SharingLevel sharing) {
    static std::map<std::pair<std::uint32_t, SharingLevel>, std::unique_ptr<ServerSession>>
        sessions;
    std::unique_ptr<ServerSession>& session = sessions[{connection_count, sharing}];
    if (session == nullptr) {
        ServerSessionSettings settings;
        settings.objects = pawn_count;
        settings.connections = connection_count;
        settings.sharing = sharing;
        settings.scene_seed = scene_seed;
        session = std::make_unique<ServerSession>(settings);
    }
    return *session;
}

[[nodiscard]] std::uint32_t connection_count_of(const benchmark::State& state) {
    return static_cast<std::uint32_t>(state.range(0));
}

void report_connections(benchmark::State& state, const Measured& measured) {
    report(state, measured);
    state.counters["bytes/connection"] =
        benchmark::Counter(static_cast<double>(measured.bytes) / connection_count_of(state),
                           benchmark::Counter::kAvgIterations);
}

void BM_TickServer(benchmark::State& state) {
    const std::uint32_t connection_count = connection_count_of(state);
    ServerSession& session =
        session_of(connection_count, static_cast<SharingLevel>(state.range(1)));
    if (!session.error().empty()) {
        state.SkipWithError(session.error().c_str());
        return;
    }
    const NetStats before = session.stats();
    const PawnChanges changed = session.changes();
    Measured measured;
    double dispatch_us = 0;
    for (auto _ : state) {
        const TickCost cost = session.tick();
        add_time(state, measured, cost.seconds());
        dispatch_us += cost.dispatch_seconds * 1e6;
        measured.allocations += cost.allocations;
    }
    if (!session.has_sent_all(before, changed)) {
        state.SkipWithError("a tick must send what has changed to everyone, no less and no more");
    }
    const NetStats& after = session.stats();
    measured.objects = after.records_sent - before.records_sent;
    measured.bytes = after.bytes_sent - before.bytes_sent;
    measured.serializer_calls =
        after.replication.serializer_calls - before.replication.serializer_calls;
    report_connections(state, measured);
    state.counters["dispatch_us"] =
        benchmark::Counter(dispatch_us, benchmark::Counter::kAvgIterations);
}

void run_yardstick(benchmark::State& state, YardstickKind kind) {
    const std::uint32_t connection_count = connection_count_of(state);
    Yardstick yardstick(kind, pawn_count, connection_count, scene_seed);
    Measured measured;
    PawnChanges changes;
    for (auto _ : state) {
        const Yardstick::TickCost cost = yardstick.tick();
        add_time(state, measured, cost.seconds);
        measured.allocations += cost.allocations;
        changes.pawns += cost.changes.pawns;
        changes.properties += cost.changes.properties;
    }
    if (!yardstick.has_sent(changes)) {
        state.SkipWithError("a tick must send what has changed to everyone, no less and no more");
    }
    measured.objects = changes.pawns * connection_count;
    measured.bytes = yardstick.bytes_sent();
    measured.serializer_calls = yardstick.values_sent();
    report_connections(state, measured);
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
    if (!session.error().empty()) {
        state.SkipWithError(session.error().c_str());
        return;
    }
    const NetStats before = session.stats();
    for (std::uint32_t i = 0; i < PawnScene::period_ticks; ++i) {
        (void)session.tick();
    }
    const std::uint64_t copies = std::uint64_t{PawnScene::period_ticks} * connection_count;
    const std::size_t bytes = (session.stats().bytes_sent - before.bytes_sent) / copies;
    const std::uint64_t blocks = (session.stats().records_sent - before.records_sent) / copies;
    if (bytes == 0 || blocks == 0) {
        state.SkipWithError("there is nothing to copy");
        return;
    }
    const std::vector<std::byte> source(bytes, std::byte{1});
    std::vector<std::vector<std::byte>> targets(connection_count, std::vector<std::byte>(bytes));
    // A single copy is too short to be looked at alone.
    const std::uint32_t rounds = std::max(1'000 / connection_count, 1u);
    Measured measured;
    const StopWatch watch;
    while (state.KeepRunningBatch(rounds)) {
        for (std::uint32_t round = 0; round < rounds; ++round) {
            for (std::vector<std::byte>& target : targets) {
                std::memcpy(target.data(), source.data(), bytes);
            }
            benchmark::ClobberMemory();
        }
        measured.objects += rounds * blocks * connection_count;
        measured.bytes += rounds * bytes * connection_count;
    }
    measured.seconds = watch.seconds();
    report_connections(state, measured);
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
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
}

BENCHMARK(BM_TickServer)->Apply(add_axes_with_sharing);
BENCHMARK(BM_TickNaiveReplicator)->Apply(add_axes)->UseManualTime();
BENCHMARK(BM_TickNaiveDirty)->Apply(add_axes)->UseManualTime();
BENCHMARK(BM_TickSharedOnce)->Apply(add_axes)->UseManualTime();
BENCHMARK(BM_Memcpy)->Apply(add_axes);

}  // namespace

}  // namespace replayout::bench
