// SPDX-License-Identifier: MIT
//
// Plays a script: the door to hostile_client.h and hostile_server.h.
#pragma once

#include "worst/cost.h"
#include "worst/measured_end.h"
#include "worst/step.h"

namespace replayout::worst {

/// Each time from the beginning, with ends of its own.
[[nodiscard]] Costs play(const Script& script, std::uint32_t marked = no_place);

/// The same where instructions are counted. Elsewhere the least of `times` plays, since the clock
/// counts what else the machine does.
[[nodiscard]] Costs play_least(const Script& script, int times);

}  // namespace replayout::worst
