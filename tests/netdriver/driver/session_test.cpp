// SPDX-License-Identifier: MIT
//
// Engine against oracle, in random sessions: see support/replication/replication_session.h.
//
// A failure names its seed; see support/checks/run_seed.h for how to run it alone.
#include "support/replication/replication_session.h"

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"

#include <cstdint>
#include <string>

namespace replayout::test {
namespace {

void leave_as_drawn(SessionSettings&) {}

/// Hardly anything is sent but keep-alives, and of the timeout one that is lost leaves little.
void make_silent(SessionSettings& settings) {
    settings.client_count = 1;
    settings.net.keep_alive_ms = 900;
    settings.net.probe_ms = 50;
    settings.net.probe_max_ms = 50;
    settings.net.timeout_ms = 1'200;
    settings.to_client = {};
    settings.to_server = {};
    settings.to_client.loss = 0.3;
    settings.to_server.loss = 0.3;
    settings.spawn_percent = 2;
    settings.destroy_percent = 0;
    settings.edited_percent = 0;
    settings.role_percent = 0;
    settings.leave_per_mille = 0;
    settings.hitch_per_mille = 0;
}

SessionCounts run_seeds(SessionTheme theme, std::uint64_t seed_count,
                        void (*change)(SessionSettings&) = leave_as_drawn) {
    const SeedRange seeds = seed_range(1, seed_count);
    SessionCounts counts;
    for (const std::uint64_t seed : seeds) {
        SessionSettings settings = SessionSettings::draw(theme, seed);
        change(settings);
        INFO("REPLAYOUT_SEED=" << seed << ": " << to_string(settings));
        ReplicationSession session(settings);
        const std::string problem = session.run();
        CHECK(problem == "");
        counts.add(session.counts());
    }
    return counts;
}

[[nodiscard]] bool is_whole_run() {
    return seed_range(0, 0).is_default;
}

}  // namespace

TEST_CASE("Session: every client shows what the server has, over any network, for any types",
          "[netdriver][session]") {
    const SessionCounts counts = run_seeds(SessionTheme::Any, 30);
    if (is_whole_run()) {
        CHECK(counts.objects_judged > 10'000);
        CHECK(counts.records_lost > 1'000);
        CHECK(counts.notifies > 1'000);
        CHECK(counts.values_reused > 1'000);
        CHECK(counts.payloads_reused > 100);
        CHECK(counts.timeouts > 0);
    }
}

TEST_CASE("Session: objects, arrays and texts that no packet holds arrive whole",
          "[netdriver][session]") {
    const SessionCounts counts = run_seeds(SessionTheme::LargeValues, 20);
    if (is_whole_run()) {
        CHECK(counts.values_sent_reliable > 100);
        CHECK(counts.bunches_resent > 100);
    }
}

TEST_CASE("Session: classes of hundreds of properties replicate", "[netdriver][session]") {
    const SessionCounts counts = run_seeds(SessionTheme::ManyProperties, 8);
    if (is_whole_run()) {
        CHECK(counts.records_lost > 50);
    }
}

TEST_CASE("Session: objects and clients may come and go at any moment", "[netdriver][session]") {
    const SessionCounts counts = run_seeds(SessionTheme::Churn, 20);
    if (is_whole_run()) {
        CHECK(counts.objects_added > 1'000);
        CHECK(counts.connections_ended > 50);
        CHECK(counts.timeouts > 0);
    }
}

TEST_CASE("Session: who was silent before the healing may be given up after it, and joins again",
          "[netdriver][session]") {
    const SessionCounts counts = run_seeds(SessionTheme::Any, 60, make_silent);
    if (is_whole_run()) {
        CHECK(counts.quiet_broken > 2);
    }
}

TEST_CASE("Session: objects of any types may sleep and wake at any moment",
          "[netdriver][session][dormancy]") {
    const SessionCounts counts = run_seeds(SessionTheme::Dormancy, 30);
    if (is_whole_run()) {
        CHECK(counts.channels_dormant > 1'000);
    }
}

}  // namespace replayout::test
