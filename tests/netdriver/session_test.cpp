// SPDX-License-Identifier: MIT
//
// Engine against oracle, in random sessions: see support/replication_session.h.
//
// A failure names its seed. REPLAYOUT_SEED=n runs that seed alone, of the test case that is chosen;
// REPLAYOUT_SEEDS=n runs n seeds of each, REPLAYOUT_FIRST_SEED=n begins elsewhere than at 1.
#include "support/replication_session.h"

#include "support/catch.h"

#include <cstdint>
#include <cstdlib>
#include <string>

namespace replayout::test {
namespace {

[[nodiscard]] std::uint64_t environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

SessionCounts run_seeds(SessionTheme theme, std::uint64_t seed_count) {
    const std::uint64_t only = environment("REPLAYOUT_SEED", 0);
    const std::uint64_t first = only != 0 ? only : environment("REPLAYOUT_FIRST_SEED", 1);
    const std::uint64_t count = only != 0 ? 1 : environment("REPLAYOUT_SEEDS", seed_count);
    SessionCounts counts;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        const SessionSettings settings = SessionSettings::draw(theme, seed);
        INFO("REPLAYOUT_SEED=" << seed << ": " << to_string(settings));
        ReplicationSession session(settings);
        const std::string problem = session.run();
        CHECK(problem == "");
        counts.add(session.counts());
    }
    return counts;
}

[[nodiscard]] bool is_whole_run() {
    return environment("REPLAYOUT_SEED", 0) == 0;
}

}  // namespace

TEST_CASE("Session: every client shows what the server has, over any network, for any types",
          "[netdriver][session]") {
    const SessionCounts counts = run_seeds(SessionTheme::Any, 30);
    if (is_whole_run()) {
        CHECK(counts.objects_judged > 10'000);
        CHECK(counts.records_lost > 1'000);
        CHECK(counts.notifies > 1'000);
        CHECK(counts.pieces_reused > 1'000);
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

}  // namespace replayout::test
