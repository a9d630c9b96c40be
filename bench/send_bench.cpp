// SPDX-License-Identifier: MIT
//
// A server's whole tick, by the number of connections: what has changed is found, encoded, put into
// packets and sent to everyone, and the acks of the tick before are taken. Beside it stand a
// replicator written by hand, and as the floor one memcpy of the final bytes for every connection.
#include "measurement.h"
#include "naive_replicator.h"
#include "pawn.h"
#include "scripted_clients.h"

#include <replayout/changelist_history.h>
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace replayout::bench {

namespace {

constexpr std::uint32_t pawn_count = 1'000;
constexpr std::uint64_t scene_seed = 1;
constexpr std::uint32_t tick_ms = 33;
// Until every buffer has its size: a pawn's history holds 64 changes, and it changes in every fifth
// tick. That goes on before anybody joins, which is cheap; the rest needs receivers.
constexpr std::uint32_t lonely_ticks = 6 * ChangelistHistory::count_max;
constexpr std::uint32_t joining_ticks_max = 1'000;
constexpr std::uint32_t crowded_ticks = 250;

class PawnWorld final : public NetWorld {
  public:
    explicit PawnWorld(std::span<Pawn> pawns) : pawns_(pawns) {}

    [[nodiscard]] void* object_memory(ObjectHandle object) override {
        return &pawns_[object.value - 1];
    }
    [[nodiscard]] ObjectHandle spawn(const SpawnInfo&) override { return {}; }
    void despawn(ObjectHandle, ChannelCloseReason) override {}

  private:
    std::span<Pawn> pawns_;
};

struct TickCost {
    double dispatch_seconds = 0;
    double flush_seconds = 0;
    std::uint64_t allocations = 0;
};

/// A server whose clients have joined and hold everything, ready for tick after tick of the
/// workload.
class ServerSession {
  public:
    ServerSession(std::uint32_t connection_count, bool is_sharing)
        : scene_(pawn_count, scene_seed),
          world_(scene_.pawns()),
          clients_(connection_count, schema_.error().empty()
                                         ? make_hello(schema_.layout())
                                         : std::vector<std::byte>(packet_header_bytes_max)),
          driver_(driver_settings(is_sharing), clients_, world_),
          connection_count_(connection_count) {
        if (!schema_.error().empty()) {
            error_ = schema_.error();
        } else if (!driver_.add_layout(schema_.layout()) || !driver_.listen()) {
            error_ = "the server does not start";
        } else {
            start();
        }
    }

    [[nodiscard]] const std::string& error() const noexcept { return error_; }
    [[nodiscard]] const NetStats& stats() const noexcept { return driver_.stats(); }
    [[nodiscard]] const PawnChanges& changes() const noexcept { return changes_; }

    /// The clock runs for the driver; the scene and the clients are left out.
    TickCost tick() {
        TickCost cost = dispatch();
        const PawnChanges changes = scene_.advance();
        changes_.pawns += changes.pawns;
        changes_.properties += changes.properties;
        flush(cost);
        return cost;
    }

    /// Whether the ticks since `before` sent everything that changed to everyone.
    [[nodiscard]] bool has_sent_all(const NetStats& before, const PawnChanges& changed) const {
        const NetStats& after = driver_.stats();
        const std::uint64_t pawns = changes_.pawns - changed.pawns;
        const std::uint64_t properties = changes_.properties - changed.properties;
        return pawns > 0 && after.bytes_sent > before.bytes_sent &&
               after.records_sent - before.records_sent == pawns * connection_count_ &&
               after.replication.properties_sent - before.replication.properties_sent ==
                   properties * connection_count_ &&
               after.packets_lost == before.packets_lost &&
               after.packets_dropped == before.packets_dropped && clients_.packets_refused() == 0;
    }

  private:
    [[nodiscard]] static NetDriverSettings driver_settings(bool is_sharing) {
        NetDriverSettings settings;
        settings.sharing = sharing_level(is_sharing);
        return settings;
    }

    void start() {
        for (std::uint32_t i = 0; i < pawn_count; ++i) {
            (void)driver_.add_object(schema_.layout(), ObjectHandle{i + 1});
        }
        for (std::uint32_t tick = 0; tick < lonely_ticks; ++tick) {
            (void)scene_.advance();
            TickCost cost;
            flush(cost);
        }
        std::uint32_t joining_ticks = 0;
        do {
            TickCost cost = dispatch();
            flush(cost);
        } while (!is_settled() && ++joining_ticks < joining_ticks_max);
        if (!is_settled()) {
            error_ = "not every client has joined and been sent every pawn";
            return;
        }
        const NetStats before = stats();
        const PawnChanges changed = changes();
        for (std::uint32_t i = 0; i < crowded_ticks; ++i) {
            (void)tick();
        }
        if (!has_sent_all(before, changed)) {
            error_ = "a tick must send what has changed to everyone, no less and no more";
        }
    }

    [[nodiscard]] bool is_settled() const {
        return driver_.connection_count() == connection_count_ && driver_.is_settled();
    }

    TickCost dispatch() {
        now_ = now_.plus_milliseconds(tick_ms);
        TickCost cost;
        const AllocationWatch allocations;
        const StopWatch watch;
        driver_.tick_dispatch(now_);
        cost.dispatch_seconds = watch.seconds();
        cost.allocations = allocations.count();
        return cost;
    }

    void flush(TickCost& cost) {
        const AllocationWatch allocations;
        const StopWatch watch;
        driver_.tick_flush(now_);
        cost.flush_seconds = watch.seconds();
        cost.allocations += allocations.count();
        clients_.answer();
    }

    PawnSchema schema_;
    PawnScene scene_;
    PawnWorld world_;
    ScriptedClients clients_;
    NetDriver driver_;
    std::uint32_t connection_count_;
    NetTime now_;
    PawnChanges changes_;  // so far, with receivers
    std::string error_;
};

/// A session is made once and goes on from where it stood: joining costs more than what is
/// measured, and a benchmark is called several times until it knows how often to repeat itself.
[[nodiscard]] ServerSession& session_of(std::uint32_t connection_count, bool is_sharing) {
    static std::map<std::pair<std::uint32_t, bool>, std::unique_ptr<ServerSession>> sessions;
    std::unique_ptr<ServerSession>& session = sessions[{connection_count, is_sharing}];
    if (session == nullptr) {
        session = std::make_unique<ServerSession>(connection_count, is_sharing);
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
    ServerSession& session = session_of(connection_count, state.range(1) != 0);
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
        add_time(state, measured, cost.dispatch_seconds + cost.flush_seconds);
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

/// Counts what it is given and drops it.
class DroppingTransport final : public Transport {
  public:
    [[nodiscard]] std::size_t datagram_bytes_max() const noexcept override { return 1'200; }
    void send(PeerId, std::span<const std::byte> datagram) override { bytes += datagram.size(); }
    [[nodiscard]] std::size_t receive(PeerId&, std::span<std::byte>) override {
        return nothing_received;
    }

    std::uint64_t bytes = 0;
};

void BM_TickNaiveReplicator(benchmark::State& state) {
    const std::uint32_t connection_count = connection_count_of(state);
    PawnScene scene(pawn_count, scene_seed);
    DroppingTransport transport;
    NaiveReplicator replicator(pawn_count, connection_count, transport);
    replicator.replicate(scene.pawns());
    const std::uint64_t first_values = std::uint64_t{pawn_count} * pawn_property_count;
    if (replicator.values_written() != first_values * connection_count) {
        state.SkipWithError("the first tick must write all values for everyone");
        return;
    }
    const std::uint64_t bytes_before = transport.bytes;
    const std::uint64_t values_before = replicator.values_written();
    Measured measured;
    std::uint64_t properties = 0;
    for (auto _ : state) {
        const PawnChanges changes = scene.advance();
        const AllocationWatch allocations;
        const StopWatch watch;
        replicator.replicate(scene.pawns());
        add_time(state, measured, watch.seconds());
        measured.allocations += allocations.count();
        measured.objects += std::uint64_t{changes.pawns} * connection_count;
        properties += std::uint64_t{changes.properties} * connection_count;
    }
    measured.bytes = transport.bytes - bytes_before;
    measured.serializer_calls = replicator.values_written() - values_before;
    // Index and mask are six bytes a record; all values that change are four.
    if (measured.serializer_calls != properties ||
        measured.bytes != 6 * measured.objects + 4 * properties) {
        state.SkipWithError("a tick must send what has changed to everyone, no less and no more");
    }
    report_connections(state, measured);
}

void BM_Memcpy(benchmark::State& state) {
    const std::uint32_t connection_count = connection_count_of(state);
    ServerSession& session = session_of(connection_count, true);
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
    benchmark->ArgNames({"connections", "shared"})
        ->ArgsProduct({connection_counts, {0, 1}})
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
}

BENCHMARK(BM_TickServer)->Apply(add_axes_with_sharing);
BENCHMARK(BM_TickNaiveReplicator)->Apply(add_axes)->UseManualTime();
BENCHMARK(BM_Memcpy)->Apply(add_axes);

}  // namespace

}  // namespace replayout::bench
