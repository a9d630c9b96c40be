// SPDX-License-Identifier: MIT
//
// Makes a run that goes wrong smaller, as long as it goes wrong in the same way: fewer features,
// fewer ticks, fewer clients and objects, and ticks in which nothing happens.
#pragma once

#include "simulation/swarm.h"

#include <cstdint>
#include <functional>

namespace replayout::test {

class Shrinker {
  public:
    /// Whether a run is still wrong in the same way.
    using IsWrong = std::function<bool(const SwarmConfig&)>;

    /// At most `runs_max` runs are made.
    Shrinker(IsWrong is_wrong, std::uint32_t runs_max)
        : is_wrong_(std::move(is_wrong)), runs_left_(runs_max) {}

    /// `wrong_tick`: where it went wrong.
    [[nodiscard]] SwarmConfig shrink(const SwarmConfig& wrong, std::uint32_t wrong_tick);

  private:
    /// `smaller` is taken if it is still wrong.
    bool try_out(const SwarmConfig& smaller);
    void drop_features();
    void drop_ticks(std::uint32_t wrong_tick);
    void drop_clients_and_objects();
    void cut_part(RunPart part);

    IsWrong is_wrong_;
    std::uint32_t runs_left_;
    SwarmConfig best_;
};

}  // namespace replayout::test
