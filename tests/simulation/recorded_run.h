// SPDX-License-Identifier: MIT
//
// The recording of a run, and what its crafts were in each tick of it: played back, at any place,
// it shows that (I17).
#pragma once

#include "simulation/fleet/sim_server.h"
#include "simulation/judges/verdict.h"

#include <replayout/netdriver/replay_player.h>
#include <replayout/netdriver/replay_recorder.h>

#include <cstdint>
#include <map>

namespace replayout::test {

class RecordedRun {
  public:
    RecordedRun(SimServer& server, const SwarmConfig& swarm, Verdict& verdict);

    /// Behind each flush of the server.
    void note(NetTime now);
    /// Ends the recording, and seeks in it. How often.
    [[nodiscard]] std::uint64_t play(Choices row);
    /// For tests: nothing is as it was.
    void plant_change();

  private:
    /// By number of the craft: a hash of all that a viewer of a recording is told.
    using State = std::map<std::uint32_t, std::uint64_t>;

    void check(const ReplayPlayer& player, const CraftWorld& world, NetTime time);

    SimServer& server_;
    const SwarmConfig& swarm_;
    Verdict& verdict_;
    ReplayMemory sink_;
    ReplayRecorder recorder_;
    std::map<NetTime, State> states_;
};

}  // namespace replayout::test
