// SPDX-License-Identifier: MIT
//
// What all parts of the built-in battle share: chance, the tick, and the recording that they write.
// Not for callers; they want battle.h.
#pragma once

#include "match/battle/battle_random.h"
#include "match/battle/battle_schema.h"
#include "match/recording/recording_builder.h"

#include <cstdint>

namespace replayout::match {

inline constexpr std::int32_t battle_tick_rate_hz = 30;
inline constexpr std::int32_t arena_half_size = 64 * fixed_one;

struct BattleStage {
    [[nodiscard]] Fixed3 random_place() {
        const std::int32_t x = random.between(-arena_half_size, arena_half_size);
        const std::int32_t y = random.between(-arena_half_size, arena_half_size);
        return {x, y, 0};
    }
    /// Live, destroyed, or none at all.
    [[nodiscard]] std::uint32_t any_object() {
        return random.one_in(8) ? 0 : random.below(out.next_object());
    }

    BattleRandom random;
    RecordingBuilder out;
    std::uint32_t tick = 0;
    std::uint32_t game_state = 0;  // objects
    std::uint32_t scoreboard = 0;
};

}  // namespace replayout::match
