// SPDX-License-Identifier: MIT
//
// The built-in battle: a match that nobody played, for machines that have no recording at hand. It
// has the shape of the recorded ones and each of their difficulties:
//
//  * a first tick with a burst of spawns, then mostly small changes, now and then an empty tick;
//  * players who move, turn, shoot, die, come back, chat, leave and return as new objects;
//  * projectiles that live from less than one tick to a few dozen;
//  * pickups and doors that toggle, also there and back within one tick;
//  * inventories full of references: to items spawned only in a later tick, and to items long gone;
//  * a scoreboard of several hundred fields of which few ever change;
//  * several sets of one field in a tick, sets that change nothing, names of over 600 bytes and
//    announcements of over 2,000, in many scripts.
//
// Equal settings give an equal Recording, bit for bit, with every compiler (battle_random.h says
// how); a test pins the checksum. The result keeps all rules of recording.h.
#pragma once

#include "match/recording/recording.h"

#include <cstdint>

namespace replayout::match {

inline constexpr std::uint32_t battle_player_count_max = 1000;

struct BattleSettings {
    std::uint64_t seed = 1;
    std::uint32_t tick_count = 1800;  ///< at 30 Hz
    std::uint32_t player_count = 32;  ///< at most battle_player_count_max
};

/// Plays a battle. A minute of 32 players has about 140,000 sets; as a trace it is 2.7 MB.
[[nodiscard]] Recording make_battle(const BattleSettings& settings);

}  // namespace replayout::match
