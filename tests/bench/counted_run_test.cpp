// SPDX-License-Identifier: MIT
//
// The runs whose instructions are counted: they are what their rows say, and the same each time.
#include "instructions/counted_runs.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "support/checks/catch.h"

namespace replayout::bench {
namespace {

[[nodiscard]] CountedRunResult play(std::string_view name) {
    const CountedRunPlan plan = plan_counted_run(name, "");
    REQUIRE(plan.error.empty());
    CountedRunResult result = play_counted_run(plan.settings, *plan.game);
    REQUIRE(result.error.empty());
    return result;
}

[[nodiscard]] const CountedPhase& phase_of(const CountedRunResult& result, std::string_view name) {
    const auto found = std::find_if(result.phases.begin(), result.phases.end(),
                                    [name](const auto& phase) { return phase.name == name; });
    REQUIRE(found != result.phases.end());
    return *found;
}

}  // namespace

TEST_CASE("Counted runs: clients are sent what one serializer wrote, and nothing is lost",
          "[bench][counted_run]") {
    const CountedRunResult result = play("shared_serializer");
    REQUIRE(result.phases.size() == 4);
    const CountedPhase& join = phase_of(result, "join");
    CHECK(join.channels_opened == 200 * 64);
    CHECK(join.records_lost == 0);
    const CountedPhase& steady = phase_of(result, "play");
    CHECK(steady.ticks == 20);
    CHECK(steady.objects_compared == 20 * 200);
    CHECK(steady.channels_opened == 0);
    CHECK(steady.records_sent == 20 * 200 * 64);
    CHECK(steady.records_lost == 0);
}

TEST_CASE("Counted runs: without clients a server compares, and sends nothing",
          "[bench][counted_run]") {
    const CountedRunResult result = play("shared_serializer_alone");
    REQUIRE(result.phases.size() == 4);
    CHECK(phase_of(result, "still").objects_compared == 10 * 200);
    CHECK(phase_of(result, "play").objects_compared == 20 * 200);
    CHECK(phase_of(result, "play").bytes_sent == 0);
}

TEST_CASE("Counted runs: the game plays the same with loss, with other clients and without any",
          "[bench][counted_run]") {
    const CountedPhase alone = phase_of(play("battle_alone"), "play");
    const CountedPhase one = phase_of(play("battle_1"), "play");
    CHECK(alone.objects_compared > 0);
    CHECK(one.objects_compared == alone.objects_compared);
    CHECK(one.records_lost > 0);
    CHECK(one.channels_opened > 0);
}

TEST_CASE("Counted runs: walking viewers keep a server at opening objects, and use up their cap",
          "[bench][counted_run]") {
    const CountedRunPlan plan = plan_counted_run("walking", "");
    REQUIRE(plan.error.empty());
    const CountedRunResult result = play_counted_run(plan.settings, *plan.game);
    REQUIRE(result.error.empty());
    const CountedPhase& steady = phase_of(result, "play");
    CHECK(steady.channels_opened > steady.ticks * plan.settings.clients);
    const std::uint64_t cap = std::uint64_t{plan.settings.config.bytes_per_second_max} *
                              plan.settings.clients * steady.ticks * 33 / 1'000;
    CHECK(steady.bytes_sent > cap * 17 / 20);
    CHECK(steady.bytes_sent <= cap + 2'400 * plan.settings.clients);
}

TEST_CASE("Counted runs: a run counts the same each time", "[bench][counted_run]") {
    const CountedRunResult first = play("battle_1");
    const CountedRunResult second = play("battle_1");
    REQUIRE(first.phases.size() == second.phases.size());
    for (std::size_t i = 0; i < first.phases.size(); ++i) {
        CHECK(first.phases[i].ticks == second.phases[i].ticks);
        CHECK(first.phases[i].records_sent == second.phases[i].records_sent);
        CHECK(first.phases[i].records_lost == second.phases[i].records_lost);
        CHECK(first.phases[i].bytes_sent == second.phases[i].bytes_sent);
    }
}

TEST_CASE("Counted runs: each name is one run's, and another one is refused",
          "[bench][counted_run]") {
    const std::span<const std::string_view> names = counted_run_names();
    CHECK(std::set<std::string_view>(names.begin(), names.end()).size() == names.size());
    CHECK_FALSE(plan_counted_run("battle", "").error.empty());
    CHECK_FALSE(plan_counted_run("tf2_small", "no folder").error.empty());
}

}  // namespace replayout::bench
