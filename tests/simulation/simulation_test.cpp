// SPDX-License-Identifier: MIT
//
// The smoke set of the simulator: enough runs to see that it works, and that all of them do the
// same with every compiler. `./run simulate` plays many more.
#include "simulation/simulation.h"
#include "simulation/shrinker.h"
#include "simulation/simulate_options.h"
#include "simulation/twin_run.h"
#include "support/checks/run_seed.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"

namespace replayout::test {
namespace {

void require_good(const RunResult& result) {
    INFO("tick " << result.finding.tick << ", " << to_string(result.finding.invariant) << ": "
                 << result.finding.text);
    REQUIRE(result.is_good());
}

}  // namespace

TEST_CASE("Simulation: whatever the network and the peers do, clients are right in the end",
          "[simulation]") {
    const SeedRange seeds = seed_range(1, 48);
    FaultCounts faults;
    GameCounts game;
    ClientCounts clients;
    std::uint64_t tight_ends = 0;
    for (const std::uint64_t seed : seeds) {
        const SwarmConfig config = SwarmConfig::draw(seed, 300);
        const RunResult result = Simulation(config).run();
        INFO("./run simulate " << config.arguments());
        require_good(result);
        faults.add(result.faults);
        game.add(result.game);
        clients.add(result.clients);
        tight_ends += result.tight_ends;
    }
    CHECK((!seeds.is_default || (faults.corrupt > 100 && faults.lost > 1'000 &&
                                 faults.duplicated > 1'000 && faults.replayed > 10)));
    CHECK((!seeds.is_default || (game.calls > 500 && game.removed > 50)));
    CAPTURE(tight_ends, clients.crafts_lacked);
    CHECK((!seeds.is_default || (tight_ends > 0 && clients.crafts_lacked > 50)));
}

/// All kinds of work, over lines that lose, damage and double as much as they ever do, both ways,
/// and are cut again and again.
[[nodiscard]] SwarmConfig worst_lines(std::uint64_t seed) {
    FeatureSet features = FeatureSet::all_work();
    for (const Feature fault :
         {Feature::Loss, Feature::Corruption, Feature::Duplicates, Feature::Partitions}) {
        features.add(fault);
    }
    SwarmConfig config = SwarmConfig::draw(seed, 600, features);
    config.to_client.loss = 300;
    config.to_client.corrupt = 50;
    config.to_client.duplicate = 200;
    config.to_client.copies_max = 1;
    config.to_server = config.to_client;
    return config;
}

TEST_CASE("Simulation: 30 % lost both ways, 5 % damaged, 20 % doubled, partitions: all converge",
          "[simulation]") {
    const SeedRange seeds = seed_range(1, 6);
    FaultCounts faults;
    for (const std::uint64_t seed : seeds) {
        const RunResult result = Simulation(worst_lines(seed)).run();
        INFO("seed " << seed);
        require_good(result);
        faults.add(result.faults);
    }
    // Of all that was sent, healed times and datagrams that a partition took included.
    const auto percent = [&](std::uint64_t count) { return count * 100 / faults.sent; };
    CAPTURE(faults.sent, faults.lost, faults.corrupt, faults.duplicated, faults.parted);
    CHECK((!seeds.is_default || (percent(faults.lost) >= 20 && percent(faults.corrupt) >= 3 &&
                                 percent(faults.duplicated) >= 10 && faults.parted > 100)));
}

TEST_CASE("Simulation: shared or not, with workers, pushed or compared: the same packets",
          "[simulation]") {
    for (const std::uint64_t seed : seed_range(101, 12)) {
        const SwarmConfig config = SwarmConfig::draw(seed, 200);
        const RunResult result = run_with_twin(config);
        INFO("./run simulate --twin " << config.arguments());
        require_good(result);
    }
}

TEST_CASE("Simulation: in a world that never settles, with caps, all are right in the end",
          "[simulation]") {
    const SeedRange seeds = seed_range(1, 4);
    GameCounts game;
    ClientCounts clients;
    for (const std::uint64_t seed : seeds) {
        const SwarmConfig config = SwarmConfig::draw_busy(seed, 150);
        const RunResult result = Simulation(config).run();
        INFO("./run simulate " << config.arguments());
        require_good(result);
        game.add(result.game);
        clients.add(result.clients);
    }
    CAPTURE(game.spawned, game.removed, game.writes, clients.joins);
    CHECK((!seeds.is_default || (game.spawned > 50 && game.removed > 20 && game.writes > 2'000)));
}

TEST_CASE("Simulation: a world that never settles sends the same packets, shared or not",
          "[simulation]") {
    for (const std::uint64_t seed : seed_range(101, 2)) {
        const SwarmConfig config = SwarmConfig::draw_busy(seed, 100);
        const RunResult result = run_with_twin(config);
        INFO("./run simulate --twin " << config.arguments());
        require_good(result);
    }
}

TEST_CASE("Swarm: a busy run has a cap, churn and late joins, and its arguments play it again",
          "[simulation]") {
    int long_count = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        SwarmConfig config = SwarmConfig::draw_busy(seed, 0);
        CHECK((config.cap_bytes_per_second >= 1'800 && config.cap_bytes_per_second <= 1'000'000));
        CHECK((config.tick_us >= 6'900 && config.tick_us <= 100'000));
        CHECK(config.tick_count * config.tick_us > 4'900'000);
        CHECK(config.tick_count * config.tick_us <= 20'000'000);
        long_count += config.tick_count * config.tick_us > 19'000'000 ? 1 : 0;
        CHECK((config.has(Feature::Churn) && config.has(Feature::LateJoins)));
        CHECK_FALSE(config.has(Feature::Dormancy));
        config.is_judging_closes = seed % 2 == 0;
        config.is_judging_staleness = seed % 3 == 0;
        config.features.remove(Feature::Loss);
        config = config.redrawn();
        config.tick_count = 70;
        const std::string text = config.arguments();
        std::vector<std::string_view> words;
        for (std::size_t place = 0; place < text.size();) {
            const std::size_t end = std::min(text.find(' ', place), text.size());
            words.push_back(std::string_view(text).substr(place, end - place));
            place = end + 1;
        }
        SimulateOptions options;
        REQUIRE(options.read(words).empty());
        CHECK(options.config_of(seed).arguments() == text);
        CHECK(options.config_of(seed).is_judging_closes == config.is_judging_closes);
        CHECK(options.config_of(seed).cap_bytes_per_second == config.cap_bytes_per_second);
    }
    CHECK(long_count > 10);
    CHECK_FALSE(SimulateOptions().read({"--no-closes"}).empty());
    CHECK_FALSE(SimulateOptions().read({"--plant", "call_loss"}).empty());
    CHECK_FALSE(SimulateOptions().read({"--busy", "--plant", "anything"}).empty());
    CHECK(SimulateOptions().read({"--busy", "--plant", "starvation"}).empty());
}

/// Work of all kinds, and faults that do not look at what a datagram holds.
[[nodiscard]] SwarmConfig run_from(std::uint64_t seed, std::uint32_t first_sequence) {
    FeatureSet features = FeatureSet::all_work();
    for (const Feature fault : {Feature::Loss, Feature::Duplicates, Feature::Jitter,
                                Feature::Crashes, Feature::Partitions}) {
        features.add(fault);
    }
    SwarmConfig config = SwarmConfig::draw(seed, 300, features);
    config.first_sequence = first_sequence;
    return config;
}

TEST_CASE("Simulation: late sequences change nothing of a run but its numbers", "[simulation]") {
    for (const std::uint64_t seed : seed_range(1, 6)) {
        INFO("seed " << seed);
        const RunResult early = Simulation(run_from(seed, 1)).run();
        const auto first = static_cast<std::uint32_t>(65'536 - seed);
        const RunResult late = Simulation(run_from(seed, first)).run();
        INFO("tick " << late.finding.tick << ": " << late.finding.text);
        REQUIRE(early.is_good());
        REQUIRE(late.is_good());
        CHECK(late.digest != early.digest);
        CHECK(late.faults.sent == early.faults.sent);
        CHECK(late.faults.bytes == early.faults.bytes);
        CHECK(late.clients.values_judged == early.clients.values_judged);
        CHECK(late.clients.notifies_judged == early.clients.notifies_judged);
        CHECK(late.clients.calls_judged == early.clients.calls_judged);
        CHECK(late.closed == early.closed);
    }
}

TEST_CASE("Simulation: who gets little memory ends by what needs more, comes back, and is right",
          "[simulation]") {
    FeatureSet features;
    for (const Feature feature : {Feature::TightMemory, Feature::Churn, Feature::LargeTexts,
                                  Feature::StructArrays, Feature::FastArrays}) {
        features.add(feature);
    }
    for (const std::uint64_t seed : seed_range(1, 6)) {
        INFO("seed " << seed);
        const SwarmConfig config = SwarmConfig::draw(seed, 300, features);
        const RunResult result = Simulation(config).run();
        INFO("tick " << result.finding.tick << ": " << result.finding.text);
        REQUIRE(result.is_good());
        const auto ended = [&](CloseReason reason) {
            return result.closed[static_cast<std::size_t>(reason)];
        };
        // Nothing else is wrong with anything here.
        CHECK(result.tight_ends ==
              ended(CloseReason::MalformedBlock) + ended(CloseReason::MalformedBunch));
        CHECK((config.client_count == 0 || result.tight_ends > 0));
    }
}

TEST_CASE("Simulation: a seed is the same run each time, and another one another", "[simulation]") {
    const std::uint64_t seed = run_seed() % 1'000 + 1;
    INFO("seed " << seed);
    const RunResult first = Simulation(SwarmConfig::draw(seed, 150)).run();
    const RunResult again = Simulation(SwarmConfig::draw(seed, 150)).run();
    const RunResult other = Simulation(SwarmConfig::draw(seed + 1, 150)).run();
    CHECK(first.digest == again.digest);
    CHECK((first.tick_digests == again.tick_digests));
    CHECK(first.digest != other.digest);
}

TEST_CASE("Simulation: its arguments tell a run, and are read as they were written",
          "[simulation]") {
    SwarmConfig config = SwarmConfig::draw(77, 100);
    config.features.remove(config.features.list().front());
    config = config.redrawn();
    config.client_count = 5;
    config.object_max = 3;
    REQUIRE(config.add_cut({RunPart::Game, 10, 20}));
    REQUIRE(config.add_cut({RunPart::Network, 5, 6}));
    REQUIRE(config.add_cut({RunPart::Game, 20, 25}));
    REQUIRE_FALSE(config.add_cut({RunPart::Game, 12, 24}));
    const std::string text = config.arguments();
    CHECK(text.find("--cut game:10-25") != std::string::npos);
    std::vector<std::string_view> words;
    for (std::size_t place = 0; place < text.size();) {
        const std::size_t end = std::min(text.find(' ', place), text.size());
        words.push_back(std::string_view(text).substr(place, end - place));
        place = end + 1;
    }
    SimulateOptions options;
    REQUIRE(options.read(words).empty());
    CHECK(options.config_of(77).arguments() == text);
    CHECK(options.config_of(77).features == config.features);
    CHECK_FALSE(SimulateOptions().read({"--features", "no_such_thing"}).empty());
    CHECK_FALSE(SimulateOptions().read({"--seeds", "9..3"}).empty());
    CHECK_FALSE(SimulateOptions().read({"--seeds", "7", "--trace", "--twin"}).empty());
    CHECK_FALSE(SimulateOptions().read({"--seeds", "7", "--trace", "a", "--twin"}).empty());
    CHECK(SimulateOptions().read({"--seeds", "7", "--trace", "a"}).empty());
    CHECK_FALSE(SimulateOptions().read({"--seeds"}).empty());
}

TEST_CASE("Simulate: a value stands behind its option, or behind = in the same word",
          "[simulation]") {
    SimulateOptions options;
    REQUIRE(options.read({"--seeds=3..9", "--twin", "--ticks=20", "--cut=game:2-5"}).empty());
    CHECK(options.first_seed == 3);
    CHECK(options.last_seed == 9);
    CHECK(options.is_twin);
    CHECK(options.tick_count == 20);
    REQUIRE(options.cuts.size() == 1);
    CHECK(options.cuts[0].last == 5);
    REQUIRE(SimulateOptions().read({"--seeds=7", "--trace=a=b"}).empty());
    CHECK(SimulateOptions().read({"--seeds=9..3"}) == "--seeds 9..3 is not right");
    CHECK(SimulateOptions().read({"--twin=yes"}) == "--twin has no value");
    CHECK_FALSE(SimulateOptions().read({"--seeds="}).empty());
    CHECK_FALSE(SimulateOptions().read({"--seeds=", "3"}).empty());
    CHECK_FALSE(SimulateOptions().read({"--seeds=--twin"}).empty());
    CHECK_FALSE(SimulateOptions().read({"=3"}).empty());
}

TEST_CASE("Swarm: each feature is in half of the runs, some have all, some one fault alone",
          "[simulation]") {
    std::array<std::uint32_t, feature_count> runs{};
    std::uint32_t full = 0;
    std::uint32_t one_fault = 0;
    for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
        const SwarmConfig config = SwarmConfig::draw(seed, 600);
        std::uint32_t faults = 0;
        for (const Feature feature : config.features.list()) {
            ++runs[static_cast<std::size_t>(feature)];
            faults += static_cast<std::size_t>(feature) < fault_count ? 1u : 0u;
        }
        full += config.features.list().size() == feature_count ? 1u : 0u;
        one_fault += faults == 1 ? 1u : 0u;
    }
    for (std::size_t i = 0; i < feature_count; ++i) {
        INFO(to_string(Feature(i)));
        CHECK(runs[i] > 380);
        CHECK(runs[i] < 650);
    }
    CHECK((full > 70 && full < 130));
    CHECK((one_fault > 70 && one_fault < 130));
}

TEST_CASE("Shrinker: what is left is what it takes to go wrong", "[simulation]") {
    const SwarmConfig all = SwarmConfig::draw(3, 600);
    REQUIRE(all.features.list().size() == feature_count);
    std::uint32_t runs = 0;
    const auto is_wrong = [&](const SwarmConfig& config) {
        ++runs;
        return config.has(Feature::Loss) && config.has(Feature::Texts) && config.tick_count > 200 &&
               config.client_count >= 2 && !config.is_cut(RunPart::Game, 150, 151);
    };
    const SwarmConfig shrunk = Shrinker(is_wrong, 300).shrink(all, 400);
    CHECK(is_wrong(shrunk));
    CHECK(shrunk.features.list() == std::vector<Feature>{Feature::Loss, Feature::Texts});
    CHECK(shrunk.tick_count == 201);
    CHECK(shrunk.client_count == 2);
    CHECK(shrunk.is_cut(RunPart::Network, 0, shrunk.tick_count));
    CHECK(shrunk.is_cut(RunPart::Game, 0, 100));
    CHECK(runs < 310);
}

}  // namespace replayout::test
