// SPDX-License-Identifier: MIT
#include "simulation/twin_run.h"

#include <algorithm>

namespace replayout::test {

RunResult run_with_twin(const SwarmConfig& config) {
    RunResult result = Simulation(config).run();
    if (!result.is_good()) {
        return result;
    }
    TwinSettings other;
    other.sharing = SharingLevel::Off;
    other.is_pushed = false;
    other.worker_count = 2;
    const RunResult twin = Simulation(config, other).run();
    if (!twin.is_good()) {
        result.finding = twin.finding;
        return result;
    }
    const auto [here, there] = std::mismatch(result.tick_digests.begin(), result.tick_digests.end(),
                                             twin.tick_digests.begin(), twin.tick_digests.end());
    if (here != result.tick_digests.end() || there != twin.tick_digests.end()) {
        result.finding = {12, static_cast<std::uint32_t>(here - result.tick_digests.begin()),
                          "the twin does something else"};
    }
    return result;
}

}  // namespace replayout::test
