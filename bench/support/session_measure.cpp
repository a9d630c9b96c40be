// SPDX-License-Identifier: MIT
#include "support/session_measure.h"

namespace replayout::bench {

namespace {

constexpr const char* not_what_changed =
    "a tick must send what has changed to everyone, no less and no more";
constexpr const char* has_allocated = "a steady tick must not allocate";
constexpr std::uint64_t last_ticks_max = 1'000;

/// What a session came to between two moments.
class SessionReport {
  public:
    explicit SessionReport(const ServerSession& session)
        : session_(session), before_(session.stats()), changed_(session.changes()) {}

    void add(benchmark::State& state, const TickCost& cost) {
        add_time(state, measured_, cost.seconds());
        times_.add(cost.seconds());
        dispatch_us_ += cost.dispatch_seconds * 1e6;
        measured_.allocations += cost.allocations;
        marking_us_ += cost.marking_seconds * 1e6;
    }

    [[nodiscard]] bool has_sent_all() const { return session_.has_sent_all(before_, changed_); }
    [[nodiscard]] std::uint64_t blocks_sent() const {
        return session_.stats().records_sent - before_.records_sent;
    }
    [[nodiscard]] std::uint64_t bytes_sent() const {
        return session_.stats().bytes_sent - before_.bytes_sent;
    }
    [[nodiscard]] std::uint64_t packets_lost() const {
        return session_.stats().packets_lost - before_.packets_lost;
    }
    [[nodiscard]] std::uint64_t allocations() const { return measured_.allocations; }
    [[nodiscard]] Changes changes() const { return session_.changes() - changed_; }

    void write(benchmark::State& state) {
        const NetStats& after = session_.stats();
        const ReplicationCounters& counters = after.replication;
        measured_.objects = blocks_sent();
        measured_.bytes = bytes_sent();
        measured_.values_encoded = counters.values_encoded - before_.replication.values_encoded;
        report_connections(state, measured_, session_.connection_count());
        report_median(state, times_);
        state.counters["dispatch_us"] = per_iteration(dispatch_us_);
        state.counters["marking_us"] = per_iteration(marking_us_);
        const std::uint64_t hits = counters.block_hits() - before_.replication.block_hits();
        state.counters["hit_rate"] =
            blocks_sent() == 0 ? 0.0
                               : static_cast<double>(hits) / static_cast<double>(blocks_sent());
    }

    /// Of objects that came into sight and went out of it.
    void write_opens(benchmark::State& state) const {
        const NetStats& after = session_.stats();
        state.counters["opens"] = per_iteration(after.channels_opened - before_.channels_opened);
        state.counters["closes"] = per_iteration(after.channels_closed - before_.channels_closed);
    }

  private:
    const ServerSession& session_;
    NetStats before_;
    Changes changed_;
    Measured measured_;
    TickTimes times_;
    double dispatch_us_ = 0;
    double marking_us_ = 0;  // of the game
};

/// The ticks that are measured, and what they came to; of its own, so that a profile can be of
/// these alone.
[[nodiscard, gnu::noinline]] SessionReport play(benchmark::State& state, ServerSession& session) {
    SessionReport report(session);
    for (auto _ : state) {
        report.add(state, session.tick());
    }
    report.write(state);
    return report;
}

}  // namespace

void report_connections(benchmark::State& state, const Measured& measured,
                        std::uint32_t connection_count) {
    report(state, measured);
    state.counters["bytes/connection"] =
        per_iteration(static_cast<double>(measured.bytes) / connection_count);
}

void report_median(benchmark::State& state, TickTimes& times) {
    state.counters["median_us"] = times.median() / 1e3;
}

void run_session(benchmark::State& state, ServerSession& session) {
    if (!is_ready(state, session.error())) {
        return;
    }
    const SessionReport report = play(state, session);
    if (!report.has_sent_all()) {
        state.SkipWithError(not_what_changed);
    } else if (report.allocations() > 0) {
        state.SkipWithError(has_allocated);
    }
}

void run_lossy_session(benchmark::State& state, ServerSession& session, double loss) {
    // Until what was lost is noticed, and everything that a loss needs has its size.
    constexpr std::uint32_t lossy_ticks = 300;
    constexpr std::uint64_t healing_ticks_max = 100;
    if (!is_ready(state, session.error())) {
        return;
    }
    session.set_loss(loss);
    for (std::uint32_t i = 0; i < lossy_ticks; ++i) {
        (void)session.tick();
    }
    const SessionReport report = play(state, session);
    const auto owed = static_cast<double>(report.changes().blocks_owed);
    const auto sent = static_cast<double>(report.blocks_sent());
    state.counters["repeated"] = sent / owed - 1;
    session.set_loss(0);
    if (!session.settle(healing_ticks_max)) {
        state.SkipWithError("what was lost must arrive when nothing is lost any more");
    } else if (sent < owed || (loss > 0) != (report.packets_lost() > 0)) {
        state.SkipWithError("it must lose what it says, and send no less than has changed");
    }
}

void run_seen_session(benchmark::State& state, ServerSession& session) {
    if (!is_ready(state, session.error())) {
        return;
    }
    const SessionReport report = play(state, session);
    report.write_opens(state);
    if (state.counters["opens"] == 0) {
        state.SkipWithError("objects must come into sight");
    } else if (!session.settle(last_ticks_max)) {
        state.SkipWithError("everything must arrive when nothing changes any more");
    }
}

void run_capped_session(benchmark::State& state, ServerSession& session, double bytes_per_tick_max,
                        double of_cap_min) {
    if (!is_ready(state, session.error())) {
        return;
    }
    const SessionReport report = play(state, session);
    const double connection_ticks =
        static_cast<double>(state.iterations()) * session.connection_count();
    const double of_cap =
        static_cast<double>(report.bytes_sent()) / connection_ticks / bytes_per_tick_max;
    state.counters["of_cap"] = of_cap;
    report.write_opens(state);
    if (of_cap < of_cap_min || of_cap > 1) {
        state.SkipWithError("the cap must be reached, and kept");
    } else if (state.counters["opens"] == 0) {
        state.SkipWithError("objects must come into sight");
    } else if (!session.settle(last_ticks_max)) {
        state.SkipWithError("what the cap held back must arrive when nothing changes any more");
    }
}

void run_yardstick(benchmark::State& state, Yardstick& yardstick) {
    const std::uint32_t connection_count = yardstick.connection_count();
    yardstick.count_from_here();
    Measured measured;
    TickTimes times;
    PawnChanges changes;
    for (auto _ : state) {
        const Yardstick::TickCost cost = yardstick.tick();
        add_time(state, measured, cost.seconds);
        times.add(cost.seconds);
        measured.allocations += cost.allocations;
        changes.pawns += cost.changes.pawns;
        changes.properties += cost.changes.properties;
    }
    if (!yardstick.has_sent(changes)) {
        state.SkipWithError(not_what_changed);
    } else if (measured.allocations > 0) {
        state.SkipWithError(has_allocated);
    }
    measured.objects = changes.pawns * connection_count;
    measured.bytes = yardstick.bytes_sent();
    measured.values_encoded = yardstick.values_sent();
    report_connections(state, measured, connection_count);
    report_median(state, times);
}

}  // namespace replayout::bench
