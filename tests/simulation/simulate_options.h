// SPDX-License-Identifier: MIT
//
// The command line of replayout_simulate.
#pragma once

#include "simulation/swarm.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace replayout::test {

struct SimulateOptions {
    std::uint64_t first_seed = 1;
    std::uint64_t last_seed = 64;
    std::optional<std::uint32_t> tick_count;
    std::uint32_t job_count = 1;
    bool is_twin = false;  ///< each run a second time, other settings, the same packets
    bool is_printing_digest = false;
    bool is_shrinking = true;
    bool is_busy = false;  ///< SwarmConfig, and the two below
    bool is_judging_staleness = true;
    bool is_judging_closes = true;
    BusyPlant plant = BusyPlant::None;
    std::string trace_path;  ///< empty: none
    std::optional<FeatureSet> features;
    std::optional<std::uint32_t> client_count;
    std::optional<std::uint32_t> object_max;
    std::vector<RunCut> cuts;

    /// What is wrong with them, or nothing.
    [[nodiscard]] std::string read(const std::vector<std::string_view>& arguments);
    [[nodiscard]] SwarmConfig config_of(std::uint64_t seed) const;
    /// The flag of an option without a value. Null: there is none of that name.
    [[nodiscard]] bool* find_flag(std::string_view name) noexcept;
    /// How to call it, with the names of all features.
    [[nodiscard]] static std::string help();
};

}  // namespace replayout::test
