// SPDX-License-Identifier: MIT
#include "match/battle/battle.h"

#include "match/battle/battle_world.h"

namespace replayout::match {

Recording make_battle(const BattleSettings& settings) {
    return BattleWorld(settings).play();
}

}  // namespace replayout::match
