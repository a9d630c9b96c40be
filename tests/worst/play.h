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

/// The same where instructions are counted. Elsewhere the least of `times` plays, dispatch by
/// dispatch: the clock of a thread counts what else the machine does, and in a script of many
/// dispatches that disturbs one of them in each play.
[[nodiscard]] Costs play_least(const Script& script, int times);

}  // namespace replayout::worst
