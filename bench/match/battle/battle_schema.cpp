// SPDX-License-Identifier: MIT
#include "match/battle/battle_schema.h"

#include <string>

namespace replayout::match {

namespace {

[[nodiscard]] std::string two_digits(std::uint32_t number) {
    std::string digits = number < 10 ? "0" : "";
    digits += std::to_string(number);
    return digits;
}

[[nodiscard]] ClassInfo game_state_class() {
    return {"GameState",
            {{"MapName", FieldType::String},
             {"Phase", FieldType::U8},
             {"RoundTime", FieldType::U16},
             {"Overtime", FieldType::Bool},
             {"RedScore", FieldType::I32},
             {"BlueScore", FieldType::I32},
             {"Leader", FieldType::ObjectRef},
             {"Announcement", FieldType::String},
             {"Gravity", FieldType::Vec3f},
             {"TickNumber", FieldType::U32}}};
}

[[nodiscard]] ClassInfo scoreboard_class(std::uint16_t rows) {
    const std::vector<FieldInfo> columns{
        {"Name", FieldType::String},    {"Connected", FieldType::Bool},
        {"Team", FieldType::U8},        {"Score", FieldType::I32},
        {"Kills", FieldType::U16},      {"Deaths", FieldType::U16},
        {"Ping", FieldType::U16},       {"Health", FieldType::I32},
        {"Accuracy", FieldType::F32},   {"Pawn", FieldType::ObjectRef},
        {"DamageDone", FieldType::U32}, {"LastSeenAt", FieldType::Vec3f}};
    ClassInfo scoreboard{"Scoreboard", {}};
    scoreboard.fields.reserve(columns.size() * rows);
    for (std::uint32_t row = 0; row < rows; ++row) {
        for (const FieldInfo& column : columns) {
            scoreboard.fields.push_back(
                {"Rows." + two_digits(row) + "." + column.name, column.type});
        }
    }
    return scoreboard;
}

[[nodiscard]] ClassInfo player_class() {
    // Nobody promises that names are plain ASCII.
    return {"Player_K\xC3\xA4mpfer",
            {{"Name", FieldType::String},
             {"Team", FieldType::U8},
             {"Position", FieldType::Vec3f},
             {"Rotation", FieldType::Quatf},
             {"Velocity", FieldType::Vec3f},
             {"Health", FieldType::I32},
             {"Armor", FieldType::U16},
             {"Ammo", FieldType::U16},
             {"Weapon", FieldType::U8},
             {"Alive", FieldType::Bool},
             {"Score", FieldType::I32},
             {"Target", FieldType::ObjectRef},
             {"Inventory", FieldType::ObjectRef},
             {"Chat", FieldType::String},
             {"Ping", FieldType::U16}}};
}

[[nodiscard]] ClassInfo inventory_class() {
    ClassInfo inventory{"Inventory",
                        {{"Owner", FieldType::ObjectRef},
                         {"ItemCount", FieldType::U8},
                         {"Weight", FieldType::F32}}};
    for (std::uint32_t slot = 0; slot < inventory::slot_count; ++slot) {
        inventory.fields.push_back({"Slots." + two_digits(slot), FieldType::ObjectRef});
    }
    return inventory;
}

[[nodiscard]] ClassInfo item_class() {
    return {"Item",
            {{"Kind", FieldType::U8},
             {"Durability", FieldType::U16},
             {"Owner", FieldType::ObjectRef},
             {"Label", FieldType::String}}};
}

[[nodiscard]] ClassInfo projectile_class() {
    return {"Projectile",
            {{"Owner", FieldType::ObjectRef},
             {"Kind", FieldType::U8},
             {"Position", FieldType::Vec3f},
             {"Velocity", FieldType::Vec3f},
             {"Rotation", FieldType::Quatf},
             {"Damage", FieldType::U16}}};
}

[[nodiscard]] ClassInfo pickup_class() {
    return {"Pickup",
            {{"Kind", FieldType::U8},
             {"Position", FieldType::Vec3f},
             {"Available", FieldType::Bool},
             {"RespawnTime", FieldType::F32},
             {"TakenBy", FieldType::ObjectRef}}};
}

[[nodiscard]] ClassInfo door_class() {
    return {"Door",
            {{"Position", FieldType::Vec3f},
             {"Rotation", FieldType::Quatf},
             {"Open", FieldType::Bool},
             {"Locked", FieldType::Bool},
             {"OpenedBy", FieldType::ObjectRef}}};
}

}  // namespace

std::vector<ClassInfo> battle_classes(std::uint16_t scoreboard_rows) {
    return {game_state_class(), scoreboard_class(scoreboard_rows),
            player_class(),     inventory_class(),
            item_class(),       projectile_class(),
            pickup_class(),     door_class()};
}

}  // namespace replayout::match
