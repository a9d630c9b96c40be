// SPDX-License-Identifier: MIT
#include "w1/w1_run.h"

#include "executors/thread_executor.h"
#include "support/replicators/packet_floor.h"
#include "support/replicators/yardstick.h"
#include "support/report/report_text.h"
#include "support/server_session.h"
#include "support/tick_times.h"
#include "support/workloads/pawn_workload.h"
#include "w1/w1_limits.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace replayout::bench {

namespace {

constexpr std::uint64_t scene_seed = 1;

/// The server, and what it replicates.
struct PawnServer {
    explicit PawnServer(const W1Options& options)
        : executor(options.workers),
          workload(options.objects, options.is_push_based, scene_seed),
          session({.connections = options.connections,
                   .sharing = options.sharing,
                   .executor = options.workers > 1 ? &executor : nullptr},
                  workload) {}

    ThreadExecutor executor;
    PawnWorkload workload;
    ServerSession session;
};

/// All of it, side by side.
class Subjects {
  public:
    Subjects(const W1Options& options, ServerSession& session)
        : options_(options),
          session_(session),
          yardsticks_{{
              {&W1Times::naive_poll_ns, make(YardstickKind::NaivePoll)},
              {&W1Times::naive_dirty_ns, make(YardstickKind::NaiveDirty)},
              {&W1Times::shared_once_ns,
               make(options.is_push_based ? YardstickKind::SharedOnceDirty
                                          : YardstickKind::SharedOncePoll)},
          }},
          floor_(options.connections, std::min(options.turn, options.ticks)) {}

    [[nodiscard]] W1Result run();

  private:
    /// By figure.
    class Times {
      public:
        explicit Times(std::size_t ticks) {
            for (const W1Figure& figure : w1_figures) {
                times_.emplace_back(figure.ns, TickTimes(ticks));
            }
        }

        void add(double W1Times::*figure, double seconds) {
            for (auto& [ns, times] : times_) {
                if (ns == figure) {
                    times.add(seconds);
                }
            }
        }
        [[nodiscard]] W1Times medians() {
            W1Times medians;
            for (auto& [ns, times] : times_) {
                medians.*ns = times.median();
            }
            return medians;
        }

      private:
        std::vector<std::pair<double W1Times::*, TickTimes>> times_;
    };

    /// What is written by hand, and where its times go.
    struct Turn {
        double W1Times::*ns;
        Yardstick yardstick;
    };

    /// With a scene that has played as many ticks as the server's.
    [[nodiscard]] Yardstick make(YardstickKind kind) const {
        return Yardstick({.kind = kind,
                          .pawns = options_.objects,
                          .connections = options_.connections,
                          .scene_seed = scene_seed,
                          .ticks_played = session_.ticks_played()});
    }
    /// All ticks, in turns of so many.
    [[nodiscard]] W1Times play(std::uint32_t turn, W1Result& result);
    void take_turns(std::uint32_t tick_count, Times& times, W1Result& result);
    void play_ours(Times& times, W1Result& result);
    void count(const NetStats& before, const Changes& changes, W1Result& result) const;

    const W1Options& options_;
    ServerSession& session_;
    std::array<Turn, 3> yardsticks_;
    PacketFloor floor_;
};

void Subjects::play_ours(Times& times, W1Result& result) {
    const TickCost cost = session_.tick();
    times.add(&W1Times::ours_ns, cost.seconds());
    times.add(&W1Times::ours_compare_encode_ns, cost.first_packet_seconds);
    times.add(&W1Times::ours_assembly_ns, cost.seconds() - cost.first_packet_seconds);
    times.add(&W1Times::ours_dispatch_ns, cost.dispatch_seconds);
    times.add(&W1Times::marking_ns, cost.marking_seconds);
    result.allocations += cost.allocations;
}

void Subjects::take_turns(std::uint32_t tick_count, Times& times, W1Result& result) {
    for (std::uint32_t i = 0; i < tick_count; ++i) {
        play_ours(times, result);
        floor_.note(i, session_.packets());
    }
    for (auto& [ns, yardstick] : yardsticks_) {
        for (std::uint32_t i = 0; i < tick_count; ++i) {
            times.add(ns, yardstick.tick().seconds);
        }
    }
    for (std::uint32_t i = 0; i < tick_count; ++i) {
        times.add(&W1Times::memcpy_ns, floor_.copy(i));
    }
}

W1Times Subjects::play(std::uint32_t turn, W1Result& result) {
    Times times(options_.ticks);
    for (std::uint32_t i = 0; i < options_.ticks; i += turn) {
        take_turns(std::min(turn, options_.ticks - i), times, result);
    }
    return times.medians();
}

W1Result Subjects::run() {
    W1Result result;
    const NetStats before = session_.stats();
    const Changes changed = session_.changes();
    result.warm = play(options_.turn, result);
    result.cold = play(1, result);
    const Changes changes = session_.changes() - changed;
    count(before, changes, result);
    const PawnChanges pawn_changes = {changes.objects, changes.values};
    if (!session_.has_sent_all(before, changed)) {
        result.error = "the server did not send exactly what changed to everyone, once";
    } else if (!std::all_of(yardsticks_.begin(), yardsticks_.end(), [&](const Turn& turn) {
                   return turn.yardstick.has_sent(pawn_changes);
               })) {
        result.error = "a yardstick did not send exactly what changed to everyone, once";
    }
    return result;
}

void Subjects::count(const NetStats& before, const Changes& changes, W1Result& result) const {
    const NetStats& after = session_.stats();
    const double ticks = 2.0 * options_.ticks;  // warm and cold
    const double connection_ticks = ticks * options_.connections;
    const auto per = [](std::uint64_t count, double whole) {
        return static_cast<double>(count) / whole;
    };
    result.bytes_per_connection = per(after.bytes_sent - before.bytes_sent, connection_ticks);
    result.naive_bytes_per_connection =
        per(yardsticks_[1].yardstick.bytes_sent(), connection_ticks);
    result.packets_per_tick = per(after.packets_sent - before.packets_sent, connection_ticks);
    result.packets_of_tick_max = session_.packets_of_tick_max();
    result.objects_per_tick = per(changes.objects, ticks);
    result.values_per_tick = per(changes.values, ticks);
    result.values_encoded_per_tick =
        per(after.replication.values_encoded - before.replication.values_encoded, ticks);
    result.bytes_per_pair = session_.memory_report().bytes_per_pair();
    result.hit_rate = ratio(after.replication.block_hits() - before.replication.block_hits(),
                            after.replication.blocks_sent - before.replication.blocks_sent);
}

}  // namespace

W1Result run_w1(const W1Options& options) {
    W1Result result;
    if (is_tried_first(options)) {
        W1Options one = options;
        one.connections = 1;
        result.refusal = refusal_of(one, PawnServer(one).session);
        if (!result.refusal.empty()) {
            return result;
        }
    }
    PawnServer server(options);
    result.refusal = refusal_of(options, server.session);
    result.error = server.session.error();
    if (!result.refusal.empty() || !result.error.empty()) {
        return result;
    }
    return Subjects(options, server.session).run();
}

}  // namespace replayout::bench
