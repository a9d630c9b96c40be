// SPDX-License-Identifier: MIT
//
// Judges how old what clients show is, while the world never settles: no craft waits longer to be
// opened, and none shows a course that is older, than busy_bounds.h allows (I20).
#pragma once

#include "simulation/busy_bounds.h"
#include "simulation/sim_client.h"
#include "simulation/sim_server.h"
#include "simulation/verdict.h"

#include <cstdint>
#include <map>

namespace replayout::test {

class StalenessJudge {
  public:
    StalenessJudge(const SwarmConfig& swarm, SimServer& server, Verdict& verdict)
        : swarm_(swarm), server_(server), verdict_(verdict) {}

    /// Once a tick, after the client's, of one that shows what it should.
    void look(SimClient& client, std::uint32_t tick);

    /// The most that was seen, as a share of what was allowed, in per cent.
    [[nodiscard]] std::uint64_t shown_percent_max() const noexcept { return shown_percent_max_; }
    [[nodiscard]] std::uint64_t opened_percent_max() const noexcept { return opened_percent_max_; }

  private:
    /// The load of a client that joined `joined_ticks` ago.
    [[nodiscard]] BusyLoad load(std::uint64_t joined_ticks) const;
    void judge(const SimClient& client, const CraftState& state, const char* what,
               std::uint64_t age, std::uint64_t bound, std::uint64_t& percent_max);

    const SwarmConfig& swarm_;
    SimServer& server_;
    Verdict& verdict_;
    std::map<std::uint32_t, std::uint32_t> joined_at_;  // ticks, by connection
    std::uint64_t shown_percent_max_ = 0;
    std::uint64_t opened_percent_max_ = 0;
};

}  // namespace replayout::test
