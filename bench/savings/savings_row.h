// SPDX-License-Identifier: MIT
//
// A row of the table of ./run savings: a game that is played to many connections, and what is
// written by hand for the same, where the class of the game's objects is known.
#pragma once

#include "instructions/counted_game.h"
#include "instructions/running_server.h"
#include "instructions/workload_game.h"
#include "savings/hand_written.h"
#include "support/workloads/rotating_class.h"
#include "support/workloads/rotating_workload.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace replayout::bench {

/// A game and how it is played. `alone_ticks`: without clients, until histories are full.
struct SavingsGame {
    std::unique_ptr<CountedGame> game;
    RunningServerSettings settings;  ///< all but clients and sharing
    std::uint32_t alone_ticks = 0;
    std::uint32_t warm_ticks = 10;
    std::uint32_t ticks_max = 0xFFFF'FFFF;  ///< beyond them the game is over
};

struct SavingsRow {
    std::string name;
    std::string changes;
    std::function<SavingsGame()> make_game;
    /// Empty: the class is not known. `connections` of them.
    std::function<std::unique_ptr<HandWritten>(HandWrittenKind, std::uint32_t connections)>
        make_hand_written;
    /// What is timed is not a tick but all ticks in which all clients join.
    bool is_join = false;
};

/// A row of one's own class. `loss`: the share of the packets that clients do not get.
template <typename Object>
[[nodiscard]] SavingsRow make_row(const RotatingClass<Object>& row, double loss = 0) {
    SavingsRow made;
    made.name = row.name;
    made.changes = row.changes;
    made.make_game = [row, loss] {
        auto workload = std::make_unique<RotatingWorkload<Object>>(row);
        SavingsGame game;
        game.alone_ticks = workload->ticks_until_warm();
        game.warm_ticks = 4 * row.period_ticks + (loss > 0 ? 60u : 0u);
        game.settings.loss = loss;
        game.game = std::make_unique<WorkloadGame>(std::move(workload));
        return game;
    };
    if (loss == 0) {
        made.make_hand_written = [row](HandWrittenKind kind, std::uint32_t connections) {
            return std::make_unique<HandWrittenFor<Object>>(row, kind, connections);
        };
    }
    return made;
}

}  // namespace replayout::bench
