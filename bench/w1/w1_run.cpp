// SPDX-License-Identifier: MIT
#include "w1/w1_run.h"

#include "executors/thread_executor.h"
#include "support/packet_floor.h"
#include "support/pawn_workload.h"
#include "support/report_text.h"
#include "support/server_session.h"
#include "support/tick_times.h"
#include "support/yardstick.h"
#include "w1/w1_limits.h"

#include <algorithm>
#include <vector>

namespace replayout::bench {

namespace {

constexpr std::uint64_t scene_seed = 1;

/// The server, and what it replicates.
struct PawnServer {
    explicit PawnServer(const W1Options& options)
        : executor(options.workers),
          workload(options.objects, options.is_push_based, scene_seed),
          session(settings_of(options), workload) {}

    [[nodiscard]] ServerSessionSettings settings_of(const W1Options& options) {
        ServerSessionSettings settings;
        settings.connections = options.connections;
        settings.sharing = options.sharing;
        settings.executor = options.workers > 1 ? &executor : nullptr;
        return settings;
    }

    ThreadExecutor executor;
    PawnWorkload workload;
    ServerSession session;
};

/// With a scene that has played as many ticks.
[[nodiscard]] YardstickSettings yardstick_settings(YardstickKind kind, const W1Options& options,
                                                   const ServerSession& session) {
    YardstickSettings settings;
    settings.kind = kind;
    settings.pawns = options.objects;
    settings.connections = options.connections;
    settings.scene_seed = scene_seed;
    settings.ticks_played = session.ticks_played();
    return settings;
}

/// All of it, side by side.
class Subjects {
  public:
    Subjects(const W1Options& options, ServerSession& session)
        : options_(options),
          session_(session),
          naive_poll_(yardstick_settings(YardstickKind::NaivePoll, options, session)),
          naive_dirty_(yardstick_settings(YardstickKind::NaiveDirty, options, session)),
          shared_once_(yardstick_settings(options.is_push_based ? YardstickKind::SharedOnceDirty
                                                                : YardstickKind::SharedOncePoll,
                                          options, session)),
          floor_(options.connections, std::min(options.turn, options.ticks)) {}

    [[nodiscard]] W1Result run();

  private:
    struct Times {
        explicit Times(std::size_t ticks)
            : ours(ticks),
              compare_encode(ticks),
              assembly(ticks),
              dispatch(ticks),
              marking(ticks),
              naive_poll(ticks),
              naive_dirty(ticks),
              shared_once(ticks),
              memcpy(ticks) {}

        [[nodiscard]] W1Times medians();

        TickTimes ours, compare_encode, assembly, dispatch, marking, naive_poll, naive_dirty,
            shared_once, memcpy;
    };

    /// All ticks, in turns of so many.
    [[nodiscard]] W1Times play(std::uint32_t turn, W1Result& result);
    void take_turns(std::uint32_t tick_count, Times& times, W1Result& result);
    void play_ours(Times& times, W1Result& result);
    void count(const NetStats& before, const Changes& changes, W1Result& result) const;

    const W1Options& options_;
    ServerSession& session_;
    Yardstick naive_poll_;
    Yardstick naive_dirty_;
    Yardstick shared_once_;
    PacketFloor floor_;
};

W1Times Subjects::Times::medians() {
    W1Times medians;
    medians.ours_ns = ours.median();
    medians.ours_compare_encode_ns = compare_encode.median();
    medians.ours_assembly_ns = assembly.median();
    medians.ours_dispatch_ns = dispatch.median();
    medians.marking_ns = marking.median();
    medians.naive_poll_ns = naive_poll.median();
    medians.naive_dirty_ns = naive_dirty.median();
    medians.shared_once_ns = shared_once.median();
    medians.memcpy_ns = memcpy.median();
    return medians;
}

void Subjects::play_ours(Times& times, W1Result& result) {
    const TickCost cost = session_.tick();
    times.ours.add(cost.seconds());
    times.compare_encode.add(cost.first_packet_seconds);
    times.assembly.add(cost.seconds() - cost.first_packet_seconds);
    times.dispatch.add(cost.dispatch_seconds);
    times.marking.add(cost.marking_seconds);
    result.allocations += cost.allocations;
}

void Subjects::take_turns(std::uint32_t tick_count, Times& times, W1Result& result) {
    for (std::uint32_t i = 0; i < tick_count; ++i) {
        play_ours(times, result);
        floor_.note(i, session_.packets());
    }
    for (std::uint32_t i = 0; i < tick_count; ++i) {
        times.naive_poll.add(naive_poll_.tick().seconds);
    }
    for (std::uint32_t i = 0; i < tick_count; ++i) {
        times.naive_dirty.add(naive_dirty_.tick().seconds);
    }
    for (std::uint32_t i = 0; i < tick_count; ++i) {
        times.shared_once.add(shared_once_.tick().seconds);
    }
    for (std::uint32_t i = 0; i < tick_count; ++i) {
        times.memcpy.add(floor_.copy(i));
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
    } else if (!naive_poll_.has_sent(pawn_changes) || !naive_dirty_.has_sent(pawn_changes) ||
               !shared_once_.has_sent(pawn_changes)) {
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
    result.naive_bytes_per_connection = per(naive_dirty_.bytes_sent(), connection_ticks);
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
