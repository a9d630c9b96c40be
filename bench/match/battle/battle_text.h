// SPDX-License-Identifier: MIT
//
// What is written and said in the built-in battle: names, chat and announcements in several
// scripts, of all lengths that recorded games have and some beyond.
#pragma once

#include "match/battle/battle_random.h"

#include <cstdint>
#include <string>

namespace replayout::match {

/// The name of the player of that number. Every seventh has more than 600 bytes.
[[nodiscard]] std::string player_name(BattleRandom& random, std::uint32_t number);

/// A few words, now and then none.
[[nodiscard]] std::string chat_line(BattleRandom& random);

/// One line, or with `is_long` a text of more than 2,000 bytes.
[[nodiscard]] std::string announcement(BattleRandom& random, bool is_long);

/// What stands on an item.
[[nodiscard]] std::string item_label(BattleRandom& random, std::uint8_t kind);

}  // namespace replayout::match
