// SPDX-License-Identifier: MIT
//
// One run of a server whose instructions are counted, phase by phase. All of it is decided by its
// settings, so each phase is the same in every process: the ticks of `play` are what a run of
// twice the ticks has more than a run of the first half.
//
//     alone   the game plays without clients: histories, caches and buffers fill
//     still   without clients alone: some ticks in which the game does not play
//     join    the clients join, while nothing changes, until everybody has everything
//     warm    the game plays with all clients
//     play    the same, steady: what is counted
//
// A run has either `still` or `join`.
#pragma once

#include "instructions/counted_game.h"
#include "instructions/running_server.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace replayout::bench {

/// `loss` begins with the phase `warm`.
struct CountedRunSettings : RunningServerSettings {
    // Ticks of the phases.
    std::uint32_t alone_ticks = 0;
    std::uint32_t warm_ticks = 0;
    std::uint32_t play_ticks = 0;
    /// Ticks in which all clients must have joined; beyond them the run fails.
    std::uint32_t join_ticks_max = 0;
};

/// What the server counted in a phase, in the units of NetStats.
struct CountedPhase {
    std::string_view name;
    std::uint32_t ticks = 0;
    std::uint64_t objects_compared = 0;
    std::uint64_t channels_opened = 0;
    std::uint64_t records_sent = 0;
    std::uint64_t records_lost = 0;
    std::uint64_t bytes_sent = 0;
};

struct CountedRunResult {
    std::string error;  ///< empty: all phases are there
    std::vector<CountedPhase> phases;
};

/// Each phase ends with replayout_phase_ends(). The game is as new.
[[nodiscard]] CountedRunResult play_counted_run(const CountedRunSettings& settings,
                                                CountedGame& game);

}  // namespace replayout::bench
