// SPDX-License-Identifier: MIT
//
// The things that stand in the arena of the built-in battle: pickups and doors.
#pragma once

#include "match/battle/battle_stage.h"

#include <cstdint>
#include <vector>

namespace replayout::match {

class BattleArena {
  public:
    explicit BattleArena(BattleStage& stage)
        : stage_(stage), random_(stage.random), out_(stage.out) {}

    void set_up();
    void update_pickups();
    void update_doors();

  private:
    struct Pickup {
        std::uint32_t object = 0;
        bool is_available = true;
    };

    struct Door {
        std::uint32_t object = 0;
        HalfTurn turn;
        std::int32_t steps = 0;  // left in the swing under way
        bool is_open = false;
    };

    BattleStage& stage_;
    BattleRandom& random_;
    RecordingBuilder& out_;
    std::vector<Pickup> pickups_;
    std::vector<Door> doors_;
};

}  // namespace replayout::match
