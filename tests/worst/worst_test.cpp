// SPDX-License-Identifier: MIT
//
// The search for the worst packet: that what it makes can be played, written and read, that chance
// decides it alone, and that what it found stays within the limits.
#include <filesystem>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "support/checks/seeded_random.h"
#include "worst/options.h"
#include "worst/script_files.h"
#include "worst/search.h"

namespace replayout::worst {
namespace {

[[nodiscard]] Steps any_steps(Side side, std::uint64_t seed) {
    test::SeededRandom random(seed);
    Mutator mutator(side, random);
    Steps steps = mutator.random_steps();
    for (int i = 0; i < 4; ++i) {
        steps = mutator.child(steps, mutator.random_steps());
    }
    return steps;
}

[[nodiscard]] std::string wrong_of(const std::vector<std::string_view>& arguments) {
    return Options().read(arguments);
}

}  // namespace

TEST_CASE("Worst packet: a script is read as it was written, and what is none is refused",
          "[worst]") {
    for (const Side side : {Side::Server, Side::Client}) {
        for (std::uint64_t seed = 1; seed <= 200; ++seed) {
            INFO(to_string(side) << ", seed " << seed);
            const Script script{side, any_steps(side, seed)};
            CHECK(script.steps.size() <= steps_max);
            const std::optional<Script> read = read_script("# a word\n" + to_text(script));
            REQUIRE(read.has_value());
            CHECK(read->side == side);
            CHECK(read->steps == script.steps);
        }
    }
    for (const char* text :
         {"", "# server\n", "proxy\n", "server\nadd 1 2 3 4 5\n", "server\nadd 1 2 3 4 5 x\n",
          "server\nfly 1 2 3 4 5 6\n", "server\nadd 1 2 3 4 5 -6\n", "add 1 2 3 4 5 6\n"}) {
        INFO(text);
        CHECK_FALSE(read_script(text).has_value());
    }
}

TEST_CASE("Worst packet: any script can be played, and memory and answers are the same each time",
          "[worst]") {
    const test::LogSpy quiet;
    for (const Side side : {Side::Server, Side::Client}) {
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            INFO(to_string(side) << ", seed " << seed);
            const Script script{side, any_steps(side, seed)};
            const Costs first = play(script);
            const Costs second = play(script);
            for (const Score score : {Score::Memory, Score::Answered}) {
                CHECK(first.of(score).cost == second.of(score).cost);
                CHECK(first.of(score).cost <= limit_of(side, score));
            }
        }
    }
}

TEST_CASE(
    "Worst packet: of several plays each dispatch counts as in the one that disturbed it least",
    "[worst]") {
    Costs costs;
    costs.note(Score::Datagram, 900, 0);
    costs.note(Score::Datagram, 20, 1);
    costs.note(Score::Memory, 7, 1);
    Costs again;
    again.note(Score::Datagram, 10, 0);
    again.note(Score::Datagram, 800, 1);
    again.note(Score::Memory, 7, 1);
    costs.take_least(again);
    CHECK(costs.of(Score::Datagram).cost == 20);
    CHECK(costs.of(Score::Datagram).place == 1);
    CHECK(costs.of(Score::Memory).cost == 7);
}

TEST_CASE("Worst packet: the search keeps the dearest, in order, and one seed makes one choice",
          "[worst]") {
    const test::LogSpy quiet;
    const auto memory_of = [](std::uint64_t seed) {
        // A client that joined: few of the scripts that are all random come so far.
        const auto joined =
            read_script("server\nadd 40 0 1 0 0 0\nhello 7 0 0 0 0 0\nplay 20 20 6 0 0 0\n");
        REQUIRE(joined.has_value());
        Search search(Side::Server, seed);
        search.begin({&*joined, 1});
        for (int i = 0; i < 30; ++i) {
            search.run_trial();
        }
        std::vector<std::uint64_t> costs;
        for (const Find& find : search.population(Score::Memory)) {
            CHECK((costs.empty() || costs.back() > find.cost));
            costs.push_back(find.cost);
            CHECK(play(find.script).of(Score::Memory).cost == find.cost);
        }
        return costs;
    };
    const std::vector<std::uint64_t> costs = memory_of(5);  // whose scripts are short
    CHECK(costs.size() > 1);
    if (CostMeter::is_exact()) {
        CHECK(memory_of(5) == costs);
    }
}

TEST_CASE("Worst packet: what was found keeps to the limits of memory and of answers", "[worst]") {
    const test::LogSpy quiet;
    std::string wrong;
    const auto scripts = read_script_folder("worst/finds", wrong);
    INFO(wrong);
    REQUIRE(scripts.has_value());
    CHECK(scripts->size() > 20);
    for (const Script& script : *scripts) {
        INFO(to_text(script));
        const Costs costs = play_least(script, 2);
        CHECK(costs.of(Score::Memory).cost <= limit_of(script.side, Score::Memory));
        CHECK(costs.of(Score::Answered).cost <= limit_of(script.side, Score::Answered));
        // Instructions are counted by ./run worst --count, of a release build alone.
        for (const Score score : {Score::Datagram, Score::Hello, Score::Dispatch, Score::End}) {
            INFO(to_string(score));
            CHECK(costs.of(score).cost <= limit_of(script.side, score));
        }
    }
}

TEST_CASE("Worst packet: a command line is read, or refused by name", "[worst]") {
    CHECK(wrong_of({"--side", "server", "--seconds", "5", "--jobs", "2"}).empty());
    CHECK(wrong_of({"--replay", "a.txt", "b.txt"}).empty());
    CHECK(wrong_of({"--replay", "a.txt", "--mark", "7"}).empty());
    CHECK(wrong_of({}).find("--side") != std::string::npos);
    CHECK(wrong_of({"--side", "both"}).find("both") != std::string::npos);
    CHECK(wrong_of({"--side", "client", "--trials", "0"}).find("--trials") != std::string::npos);
    CHECK(wrong_of({"--side", "client", "--jobs"}).find("--jobs") != std::string::npos);
    CHECK(wrong_of({"--fast", "1"}).find("--fast") != std::string::npos);
    CHECK(wrong_of({"--replay", "a.txt", "b.txt", "--mark", "7"}).find("--mark") !=
          std::string::npos);
}

}  // namespace replayout::worst
