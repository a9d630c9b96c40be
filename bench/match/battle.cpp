// SPDX-License-Identifier: MIT
#include "match/battle.h"

#include "match/battle_world.h"

namespace replayout::match {

Recording make_battle(const BattleSettings& settings) {
    return BattleWorld(settings).play();
}

}  // namespace replayout::match
