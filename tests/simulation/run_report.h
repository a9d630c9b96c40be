// SPDX-License-Identifier: MIT
//
// What many runs were, in one table.
#pragma once

#include "simulation/simulation.h"

#include <array>
#include <cstdint>
#include <cstdio>

namespace replayout::test {

class RunReport {
  public:
    void add(const SwarmConfig& config, const RunResult& result);
    void print(std::FILE* file, double seconds) const;
    [[nodiscard]] std::uint64_t run_count() const noexcept { return run_count_; }
    [[nodiscard]] std::uint64_t failure_count() const noexcept { return failure_count_; }

  private:
    std::uint64_t run_count_ = 0;
    std::uint64_t failure_count_ = 0;
    std::uint64_t tick_count_ = 0;
    std::array<std::uint64_t, feature_count> features_{};
    RunResult sum_;
    std::uint64_t healed_ms_max_ = 0;
};

}  // namespace replayout::test
