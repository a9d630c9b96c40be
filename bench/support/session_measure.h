// SPDX-License-Identifier: MIT
//
// What the benchmarks of a server's tick have in common: they play a session, and report what it
// took and what was sent.
#pragma once

#include "support/measurement.h"
#include "support/replicators/yardstick.h"
#include "support/server_session.h"
#include "support/tick_times.h"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace replayout::bench {

/// Workloads and their sessions, by the arguments of a benchmark. Each is made once and goes on
/// from where it stood: joining costs more than what is measured, and a benchmark is called several
/// times until it knows how often to repeat itself.
class KeptSessions {
  public:
    using Arguments = std::vector<std::int64_t>;

    /// `make` returns the workload, as a std::unique_ptr; called where there is no session yet.
    template <typename Make>
    [[nodiscard]] ServerSession& at(const Arguments& arguments,
                                    const ServerSessionSettings& settings, Make&& make) {
        std::unique_ptr<Kept>& kept = kept_[arguments];
        if (kept == nullptr) {
            kept = std::make_unique<Kept>(settings, make());
        }
        return kept->session;
    }

  private:
    struct Kept {
        Kept(const ServerSessionSettings& settings, std::unique_ptr<Workload> made)
            : workload(std::move(made)), session(settings, *workload) {}

        std::unique_ptr<Workload> workload;
        ServerSession session;
    };

    std::map<Arguments, std::unique_ptr<Kept>> kept_;
};

/// Besides what report() does, the bytes of one connection.
void report_connections(benchmark::State& state, const Measured& measured,
                        std::uint32_t connection_count);

/// Of iterations that are ticks: median_us, which the report takes for the time.
void report_median(benchmark::State& state, TickTimes& times);

/// One iteration is a tick. Besides what report_connections() does: median_us, dispatch_us,
/// marking_us, hit_rate. Ends with an error where the session is not ready, what was sent is not
/// exactly what changed, or a tick allocated.
void run_session(benchmark::State& state, ServerSession& session);

/// The same where packets are lost, but no acks, so that more is sent than changed: ends with an
/// error where, nothing being lost any more, not all of it arrives. `repeated` is the share of the
/// blocks that were lost and owed again. Which packets are lost is the same each time. A tick may
/// allocate: what objects lose together is not always the same.
void run_lossy_session(benchmark::State& state, ServerSession& session, double loss);

/// The same where what is owed follows from who sees what: ends with an error where nothing comes
/// into sight, or not all arrives when nothing changes any more. Besides: opens, closes.
void run_seen_session(benchmark::State& state, ServerSession& session);

/// The same where connections have a cap, and what is owed follows from who sees what: ends with an
/// error where connections were sent more than their caps on average, or less than `of_cap_min` of
/// them, or where not all of it arrives when nothing changes any more. `of_cap` is the share of the
/// caps that was used; besides: opens, closes.
void run_capped_session(benchmark::State& state, ServerSession& session, double bytes_per_tick_max,
                        double of_cap_min);

/// One iteration is a tick. Reports median_us, and ends with an error as run_session() does.
void run_yardstick(benchmark::State& state, Yardstick& yardstick);

/// An argument of an axis "sharing": 0 off, 1 pieces, 2 payloads, 3 bundles.
[[nodiscard]] inline SharingLevel sharing_of(std::int64_t argument) noexcept {
    return static_cast<SharingLevel>(argument);
}

}  // namespace replayout::bench
