// SPDX-License-Identifier: MIT
//
// The fan-out: a server's whole tick by connections, objects, share of the objects that move in it,
// and by what is computed once for all. Beside it the yardsticks and the floor, cell by cell, so
// that what is compared was measured within the same seconds:
//
//     connections 64, objects 1,000, moved 200     off, pieces, payloads, bundles, naive polling,
//                                                  naive dirty list, shared once, memcpy
//     connections 64, objects 1,000, moved 1,000   off, ...
//
// Each cell is a few ticks of a subject in a row, so each finds in the cache what fits there: these
// are times of code and caches, not of a server behind the tick of a game. For that see
// replayout_w1. What needs more than is sensible is left out, and told with the figures.
#include "support/pair_limit.h"
#include "support/replicators/packet_floor.h"
#include "support/session_measure.h"
#include "support/tick_times.h"
#include "support/workloads/pawn_workload.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>

namespace replayout::bench {

namespace {

constexpr std::uint64_t scene_seed = 1;
constexpr std::int64_t ticks = 20;
// Of each subject in each cell, before the clock counts: acks of the cell before have come in.
constexpr std::uint32_t warm_ticks = 10;

constexpr std::uint32_t packets_max = 128;
// Moved pawns that 128 packets hold: a block of 30 bytes each, 1,180 bytes of a packet.
constexpr std::uint32_t moved_max = 5'000;

constexpr std::int64_t connection_counts[] = {1, 16, 64, 256, 1'024};
constexpr std::int64_t object_counts[] = {100, 1'000, 10'000, 50'000};
constexpr std::int64_t permilles[] = {0, 1, 10, 200, 1'000};

/// Arguments: connections, objects, thousandths of the objects that move in a tick.
struct Cell {
    explicit Cell(const benchmark::State& state)
        : Cell(state.range(0), state.range(1), state.range(2)) {}
    Cell(std::int64_t connections, std::int64_t objects, std::int64_t permille)
        : connections(static_cast<std::uint32_t>(connections)),
          objects(static_cast<std::uint32_t>(objects)),
          moving(static_cast<std::uint32_t>(objects * permille / 1'000)) {}

    std::uint32_t connections;
    std::uint32_t objects;
    std::uint32_t moving;
};

/// The most that move in a cell of so many objects.
[[nodiscard]] std::uint32_t moving_count_max(std::uint32_t objects) {
    std::uint32_t most = 0;
    for (const std::int64_t permille : permilles) {
        const std::uint32_t moving = Cell(1, objects, permille).moving;
        most = moving <= moved_max ? std::max(most, moving) : most;
    }
    return most;
}

/// Everybody who plays the cells of one number of connections and one of objects. They are made
/// when they are asked for, and live until another world is: all worlds together are gigabytes.
class World {
  public:
    [[nodiscard]] static World& of(const Cell& cell) {
        static std::unique_ptr<World> world;
        if (world == nullptr || world->connections_ != cell.connections ||
            world->objects_ != cell.objects) {
            world.reset();
            world = std::make_unique<World>(cell.connections, cell.objects);
        }
        return *world;
    }

    World(std::uint32_t connections, std::uint32_t objects)
        : connections_(connections), objects_(objects) {}

    /// That has played some ticks of the cell.
    [[nodiscard]] ServerSession& server(SharingLevel sharing, std::uint32_t moving) {
        std::unique_ptr<Server>& server = servers_[static_cast<std::size_t>(sharing)];
        if (server == nullptr) {
            server = std::make_unique<Server>(connections_, objects_, sharing);
            // Until every buffer has its size: each object four times, as many at a time as ever
            // move.
            const std::uint32_t most = moving_count_max(objects_);
            server->play(most, warm_ticks + 4 * objects_ / most);
        }
        server->play(moving, warm_ticks);
        return server->session;
    }

    /// Likewise.
    [[nodiscard]] Yardstick& yardstick(YardstickKind kind, std::uint32_t moving) {
        std::unique_ptr<Yardstick>& yardstick = yardsticks_[static_cast<std::size_t>(kind)];
        if (yardstick == nullptr) {
            yardstick = std::make_unique<Yardstick>(YardstickSettings{.kind = kind,
                                                                      .pawns = objects_,
                                                                      .connections = connections_,
                                                                      .scene_seed = scene_seed});
        }
        yardstick->set_moving_count(moving);
        for (std::uint32_t i = 0; i < warm_ticks; ++i) {
            (void)yardstick->tick();
        }
        return *yardstick;
    }

  private:
    struct Server {
        Server(std::uint32_t connections, std::uint32_t objects, SharingLevel sharing)
            : workload(objects, true, scene_seed),
              session({.connections = connections, .sharing = sharing, .crowded_ticks = 0},
                      workload) {}

        void play(std::uint32_t moving, std::uint32_t tick_count) {
            workload.scene().set_moving_count(moving);
            for (std::uint32_t i = 0; i < tick_count && session.error().empty(); ++i) {
                (void)session.tick();
            }
        }

        PawnWorkload workload;
        ServerSession session;
    };

    std::uint32_t connections_;
    std::uint32_t objects_;
    std::array<std::unique_ptr<Server>, 4> servers_;        // by SharingLevel
    std::array<std::unique_ptr<Yardstick>, 4> yardsticks_;  // by YardstickKind
};

void run_server(benchmark::State& state) {
    const Cell cell(state);
    ServerSession& session = World::of(cell).server(sharing_of(state.range(3)), cell.moving);
    run_session(state, session);
    if (session.packets_of_tick_max() > packets_max) {
        state.SkipWithError("a tick must have at most 128 packets for each connection");
    }
}

template <YardstickKind kind>
void run_yardstick_cell(benchmark::State& state) {
    const Cell cell(state);
    run_yardstick(state, World::of(cell).yardstick(kind, cell.moving));
}

void run_memcpy(benchmark::State& state) {
    const Cell cell(state);
    ServerSession& session = World::of(cell).server(SharingLevel::Bundles, cell.moving);
    if (!is_ready(state, session.error())) {
        return;
    }
    const std::uint64_t bytes_before = session.stats().bytes_sent;
    (void)session.tick();
    const std::uint64_t bytes = session.stats().bytes_sent - bytes_before;
    PacketFloor floor(cell.connections, 1);
    floor.note(0, session.packets());
    for (std::uint32_t i = 0; i < warm_ticks; ++i) {
        (void)floor.copy(0);
    }
    Measured measured;
    TickTimes times;
    for (auto _ : state) {
        const double seconds = floor.copy(0);
        add_time(state, measured, seconds);
        times.add(seconds);
        measured.objects += std::uint64_t{cell.moving} * cell.connections;
        measured.bytes += bytes;
    }
    if (!floor.has_copied(0, bytes)) {
        state.SkipWithError("the floor must copy every byte that the server sent");
    }
    report_connections(state, measured, cell.connections);
    report_median(state, times);
}

/// Why a cell is not played; null where it is.
[[nodiscard]] const char* reason_to_leave_out(const Cell& cell, std::int64_t permille) {
    if (std::uint64_t{cell.connections} * cell.objects > pairs_max) {
        return "pairs need too much memory";
    }
    if (cell.moving > moved_max) {
        return "more than 128 packets a tick";
    }
    return permille > 0 && cell.moving == 0 ? "less than one object a tick" : nullptr;
}

using Run = void (*)(benchmark::State& state);

benchmark::internal::Benchmark* add(const char* name, Run run) {
    return benchmark::RegisterBenchmark(name, run)->Iterations(ticks)->Apply(clock_by_hand);
}

/// All subjects, one behind the other.
void add_cell(const std::vector<std::int64_t>& arguments) {
    for (const std::int64_t sharing : {0, 1, 2, 3}) {
        std::vector<std::int64_t> with_sharing = arguments;
        with_sharing.push_back(sharing);
        add("BM_FanOut", run_server)
            ->ArgNames({"connections", "objects", "permille", "sharing"})
            ->Args(with_sharing);
    }
    const auto add_one = [&](const char* name, Run run) {
        add(name, run)->ArgNames({"connections", "objects", "permille"})->Args(arguments);
    };
    add_one("BM_FanOutNaivePoll", run_yardstick_cell<YardstickKind::NaivePoll>);
    add_one("BM_FanOutNaiveDirty", run_yardstick_cell<YardstickKind::NaiveDirty>);
    add_one("BM_FanOutSharedOnce", run_yardstick_cell<YardstickKind::SharedOnceDirty>);
    add_one("BM_FanOutMemcpy", run_memcpy);
}

/// Those of one world one behind the other. What is left out goes with the figures, for the report.
void add_cells() {
    for (const std::int64_t connections : connection_counts) {
        for (const std::int64_t objects : object_counts) {
            for (const std::int64_t permille : permilles) {
                const Cell cell(connections, objects, permille);
                if (const char* reason = reason_to_leave_out(cell, permille)) {
                    benchmark::AddCustomContext(
                        "left_out/BM_FanOut/connections:" + std::to_string(connections) +
                            "/objects:" + std::to_string(objects) +
                            "/permille:" + std::to_string(permille),
                        reason);
                } else {
                    add_cell({connections, objects, permille});
                }
            }
        }
    }
}

}  // namespace

}  // namespace replayout::bench

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 1;
    }
    replayout::bench::add_cells();
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
