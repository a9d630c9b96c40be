// SPDX-License-Identifier: MIT
#include "simulation/twin_run.h"

#include <algorithm>

namespace replayout::test {

RunResult run_with_twin(const SwarmConfig& config) {
    TwinSettings other;
    other.sharing = SharingLevel::Off;
    other.is_pushed = false;
    other.worker_count = 2;
    RunResult result = Simulation(config).run();
    if (result.is_good()) {
        result.finding = compare_runs(result, Simulation(config, other).run());
    }
    return result;
}

Finding compare_runs(const RunResult& run, const RunResult& twin) {
    if (!run.is_good() || !twin.is_good()) {
        return run.is_good() ? twin.finding : run.finding;
    }
    const auto [here, there] = std::mismatch(run.tick_digests.begin(), run.tick_digests.end(),
                                             twin.tick_digests.begin(), twin.tick_digests.end());
    if (here == run.tick_digests.end() && there == twin.tick_digests.end()) {
        return {};
    }
    return {Invariant::EqualTwin, static_cast<std::uint32_t>(here - run.tick_digests.begin()),
            "the twin does something else"};
}

}  // namespace replayout::test
