// SPDX-License-Identifier: MIT
//
// The classes of the built-in battle: what each holds and under which index. Shaped after recorded
// games: a few small moving classes, a game state with texts, an inventory of references, and a
// scoreboard of several hundred fields with a row for each player, as the Source engine has it.
//
// An index below and its line in the table of battle_schema.cpp belong together; the recording
// builder asserts at every set that the type fits.
#pragma once

#include "match/recording/recording.h"

#include <cstdint>
#include <vector>

namespace replayout::match {

namespace battle_class {
enum : std::uint16_t { GameState, Scoreboard, Player, Inventory, Item, Projectile, Pickup, Door };
}

namespace game_state {
enum : std::uint16_t {
    MapName,
    Phase,
    RoundTime,
    Overtime,
    RedScore,
    BlueScore,
    Leader,
    Announcement,
    Gravity,
    TickNumber
};
}

/// A row of the scoreboard; the field index is row * ColumnCount + column.
namespace scoreboard {
enum : std::uint16_t {
    Name,
    Connected,
    Team,
    Score,
    Kills,
    Deaths,
    Ping,
    Health,
    Accuracy,
    Pawn,
    DamageDone,
    LastSeenAt,
    ColumnCount
};
}

namespace player {
enum : std::uint16_t {
    Name,
    Team,
    Position,
    Rotation,
    Velocity,
    Health,
    Armor,
    Ammo,
    Weapon,
    Alive,
    Score,
    Target,
    Inventory,
    Chat,
    Ping
};
}

namespace inventory {
enum : std::uint16_t { Owner, ItemCount, Weight, FirstSlot };
inline constexpr std::uint16_t slot_count = 48;
}  // namespace inventory

namespace item {
enum : std::uint16_t { Kind, Durability, Owner, Label };
}

namespace projectile {
enum : std::uint16_t { Owner, Kind, Position, Velocity, Rotation, Damage };
}

namespace pickup {
enum : std::uint16_t { Kind, Position, Available, RespawnTime, TakenBy };
}

namespace door {
enum : std::uint16_t { Position, Rotation, Open, Locked, OpenedBy };
}

/// The class table, by battle_class. The scoreboard has `scoreboard_rows` rows.
[[nodiscard]] std::vector<ClassInfo> battle_classes(std::uint16_t scoreboard_rows);

}  // namespace replayout::match
