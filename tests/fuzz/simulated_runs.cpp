// SPDX-License-Identifier: MIT
//
// A run of the simulator (docs/simulation.md) that is not a seed's: what the network does, what
// happens to clients, and what the game and each client do in every tick are rows of choices from
// the input. All invariants of the simulator must hold, whatever they are.
//
//     u64  seed        how strong faults are
//     u64  features    bit i is feature i
//     u8   clients     0 to 4, by what it leaves when divided by 5
//     u8   objects     1 to 16 at most
//     u8   twin        odd: once more without sharing, with workers, compared: the same packets
//     rows             u8 length and so many bytes each, 8 a tick (RunScript), 40 ticks at most
#include <cstdio>

#include "fuzz/fuzz_target.h"
#include "simulation/simulation.h"
#include "simulation/swarm.h"
#include "simulation/twin_run.h"

namespace replayout::test {
namespace {

constexpr std::uint32_t ticks_max = 40;
constexpr std::uint32_t seed_ticks = 12;
constexpr std::size_t seed_row_bytes = 24;

[[nodiscard]] SwarmConfig read_config(FuzzInput& input) {
    const std::uint64_t seed = input.number(8);
    const FeatureSet features = FeatureSet::of_bits(input.number(8));
    SwarmConfig config = SwarmConfig::draw(seed, ticks_max, features);
    config.client_count = input.byte() % 5u;
    config.object_max = 1 + input.byte() % 16u;
    return config;
}

[[nodiscard]] RunScript read_script(FuzzInput& input) {
    RunScript script;
    while (!input.is_empty() && script.row_count() < ticks_max * RunScript::rows_per_tick) {
        const std::size_t length = input.byte();
        script.add_row(input.take(length));
    }
    return script;
}

/// What the simulator itself would do with that seed, in its first ticks.
[[nodiscard]] Bytes seed_input(std::uint64_t seed) {
    const SwarmConfig config = SwarmConfig::draw(seed, seed_ticks);
    FuzzSeed input;
    input.number(seed, 8).number(config.features.bits(), 8);
    input.number(1 + seed % 4, 1).number(seed % 8, 1).number(seed % 2, 1);
    for (std::uint64_t row = 0; row < seed_ticks * RunScript::rows_per_tick; ++row) {
        Choices choices = Choices::from_seed(seed, row, seed_row_bytes);
        input.number(seed_row_bytes, 1);
        while (!choices.is_at_end()) {
            input.number(choices.below(256), 1);
        }
    }
    return input.bytes;
}

}  // namespace

std::vector<Bytes> fuzz_seeds() {
    std::vector<Bytes> seeds;
    for (std::uint64_t seed = 1; seed <= 24; ++seed) {
        seeds.push_back(seed_input(seed));
    }
    return seeds;
}

}  // namespace replayout::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace replayout::test;
    FuzzInput input(data, size);
    SwarmConfig config = read_config(input);
    const bool is_twin = input.byte() % 2 == 1;
    config.script = read_script(input);
    config.tick_count = std::max(1u, config.script->tick_count());
    const RunResult result = is_twin ? run_with_twin(config) : Simulation(config).run();
    if (!result.is_good()) {
        std::fprintf(stderr, "features %s\ntick %u, %s: %s\n", config.features.text().c_str(),
                     result.finding.tick, to_string(result.finding.invariant).c_str(),
                     result.finding.text.c_str());
    }
    REQUIRE(result.is_good());
    return 0;
}
