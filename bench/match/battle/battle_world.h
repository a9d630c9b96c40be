// SPDX-License-Identifier: MIT
//
// The inside of the built-in battle: how a tick of it goes. Not for callers; they want battle.h.
//
//     tick:  keep promises -> each player -> projectiles -> pickups -> doors
//            -> game state -> promise
//
// What is played here is no good game. It is there to change values in the rhythm of one.
#pragma once

#include "match/battle/battle.h"
#include "match/battle/battle_arena.h"
#include "match/battle/battle_players.h"
#include "match/battle/battle_stage.h"

#include <cstdint>

namespace replayout::match {

class BattleWorld {
  public:
    explicit BattleWorld(const BattleSettings& settings);

    /// Plays all ticks; once.
    [[nodiscard]] Recording play();

  private:
    void begin_tick(std::uint32_t tick);
    void set_up();
    void play_tick();
    void update_game_state();
    void announce();
    void update_scoreboard();

    BattleSettings settings_;
    BattleStage stage_;
    BattleRandom& random_{stage_.random};
    RecordingBuilder& out_{stage_.out};
    BattlePlayers players_{stage_};
    BattleArena arena_{stage_};
    std::int64_t time_us_ = 0;
};

}  // namespace replayout::match
