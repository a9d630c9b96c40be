// SPDX-License-Identifier: MIT
//
// What workers gain: the same ticks by one and by several (executor.h), in turn, and beside them
// what as many threads gain at copying the same packets, which is what this machine's memory lets
// anybody have. Gains are quotients of medians of one run:
//
//     compare_encode_gain   of the flush until the first datagram
//     assembly_gain         of the rest of it
//     memcpy_gain           of the packets of all connections, copied
//
// Pawns by one and by several workers send the same, which a test holds (executor_test.cpp).
#include "executors/thread_executor.h"
#include "support/replicators/packet_floor.h"
#include "support/session_measure.h"
#include "support/stop_watch.h"
#include "support/tick_times.h"
#include "support/workloads/pawn_workload.h"

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

namespace replayout::bench {

namespace {

constexpr std::uint64_t scene_seed = 1;
constexpr std::uint32_t moved_max = 5'000;  // what 128 packets hold; see fan_out_bench.cpp
constexpr std::uint32_t ticks_until_warm = 20;

[[nodiscard]] std::uint32_t argument(const benchmark::State& state, std::size_t index) {
    return static_cast<std::uint32_t>(state.range(index));
}

/// A server, by so many workers.
struct Side {
    Side(std::uint32_t objects, std::uint32_t connections, bool is_push_based,
         std::uint32_t worker_count, bool is_transport_concurrent)
        : executor(worker_count),
          workload(objects, is_push_based, scene_seed),
          session({.connections = connections,
                   .executor = &executor,
                   .is_transport_concurrent = is_transport_concurrent,
                   .crowded_ticks = 0},
                  workload) {
        workload.scene().set_moving_count(std::min(objects / 5, moved_max));
        for (std::uint32_t i = 0; i < ticks_until_warm + 4 * objects / moved_max; ++i) {
            (void)session.tick();
        }
    }

    ThreadExecutor executor;
    PawnWorkload workload;
    ServerSession session;
};

struct Times {
    explicit Times(std::size_t ticks)
        : compare_encode(ticks), assembly(ticks), tick(ticks), memcpy(ticks) {}

    void add(const TickCost& cost) {
        compare_encode.add(cost.first_packet_seconds);
        assembly.add(cost.flush_seconds - cost.first_packet_seconds);
        tick.add(cost.seconds());
    }

    TickTimes compare_encode, assembly, tick, memcpy;
};

/// Copies by the executor's threads, as a flush deals out connections.
[[nodiscard]] double copy_by(ThreadExecutor& executor, PacketFloor& floor,
                             std::uint32_t connections) {
    constexpr std::uint32_t shares_per_worker = 4;
    struct Copy {
        PacketFloor& floor;
        std::uint32_t connections;
        std::uint32_t shares;
    } copy{floor, connections, executor.worker_count() * shares_per_worker};
    // They are awake, as when a flush comes to its assembly.
    executor.run(copy.shares, ExecutorJob([](void*, std::uint32_t) noexcept {}, nullptr));
    const StopWatch watch;
    executor.run(copy.shares, ExecutorJob(
                                  [](void* context, std::uint32_t index) noexcept {
                                      const Copy& called = *static_cast<Copy*>(context);
                                      called.floor.copy(
                                          0, called.connections * index / called.shares,
                                          called.connections * (index + 1) / called.shares);
                                  },
                                  &copy));
    return watch.seconds();
}

void report_gain(benchmark::State& state, const char* name, TickTimes& one, TickTimes& several) {
    const std::string text = name;
    state.counters[text + "_us_one"] = one.median() / 1e3;
    state.counters[text + "_us"] = several.median() / 1e3;
    state.counters[text + "_gain"] = one.median() / several.median();
}

// Arguments: objects, connections, push, workers, and whether jobs call the transport.
void BM_TickByWorkers(benchmark::State& state) {
    const std::uint32_t connections = argument(state, 1);
    using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
    static std::map<Key, std::unique_ptr<Side>> sides;
    const auto side_of = [&](std::int64_t workers) -> Side& {
        std::unique_ptr<Side>& side =
            sides[{state.range(0), state.range(1), state.range(2), workers, state.range(4)}];
        if (side == nullptr) {
            side = std::make_unique<Side>(argument(state, 0), connections, state.range(2) != 0,
                                          static_cast<std::uint32_t>(workers), state.range(4) != 0);
        }
        return *side;
    };
    Side& one = side_of(1);
    Side& several = side_of(state.range(3));
    if (!is_ready(state, one.session.error()) || !is_ready(state, several.session.error())) {
        return;
    }
    PacketFloor floor(connections, 1);
    const auto ticks = static_cast<std::size_t>(state.max_iterations);
    Times by_one(ticks);
    Times by_several(ticks);
    const auto is_all_sent = [](const Side& side) {
        return [&session = side.session, before = side.session.stats(),
                changed = side.session.changes()] { return session.has_sent_all(before, changed); };
    };
    const auto has_one_sent_all = is_all_sent(one);
    const auto have_several_sent_all = is_all_sent(several);
    std::uint64_t allocations = 0;
    for (auto _ : state) {
        const TickCost cost_of_one = one.session.tick();
        by_one.add(cost_of_one);
        const TickCost cost = several.session.tick();
        by_several.add(cost);
        allocations += cost_of_one.allocations + cost.allocations;
        floor.note(0, one.session.packets());
        by_one.memcpy.add(floor.copy(0));
        by_several.memcpy.add(copy_by(several.executor, floor, connections));
        state.SetIterationTime(cost.seconds());
    }
    if (!has_one_sent_all() || !have_several_sent_all()) {
        state.SkipWithError("a tick must send what has changed to everyone, no less and no more");
        return;
    }
    if (allocations > 0) {
        state.SkipWithError("a steady tick must not take memory");
        return;
    }
    report_gain(state, "tick", by_one.tick, by_several.tick);
    report_gain(state, "memcpy", by_one.memcpy, by_several.memcpy);
    if (state.range(4) != 0) {  // else the first datagram comes when all of them are made
        report_gain(state, "compare_encode", by_one.compare_encode, by_several.compare_encode);
        report_gain(state, "assembly", by_one.assembly, by_several.assembly);
        state.counters["assembly_of_memcpy"] =
            state.counters["assembly_gain"] / state.counters["memcpy_gain"];
    }
}

BENCHMARK(BM_TickByWorkers)
    ->ArgNames({"objects", "connections", "push", "workers", "concurrent"})
    ->ArgsProduct({{1'000, 50'000}, {16, 64}, {0, 1}, {2}, {0, 1}})
    ->Iterations(200)
    ->Apply(clock_by_hand);

}  // namespace

}  // namespace replayout::bench
