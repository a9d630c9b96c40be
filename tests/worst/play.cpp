// SPDX-License-Identifier: MIT
#include "worst/play.h"

#include "worst/hostile/hostile_client.h"
#include "worst/hostile/hostile_server.h"

namespace replayout::worst {

Costs play(const Script& script, std::uint32_t marked) {
    if (script.side == Side::Server) {
        return HostileClient(marked).play(script.steps);
    }
    return HostileServer(marked).play(script.steps);
}

Costs play_least(const Script& script, int times) {
    Costs least = play(script);
    for (int i = 1; i < times && !CostMeter::is_exact(); ++i) {
        least.take_least(play(script));
    }
    return least;
}

}  // namespace replayout::worst
