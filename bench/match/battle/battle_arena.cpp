// SPDX-License-Identifier: MIT
#include "match/battle/battle_arena.h"

namespace replayout::match {

namespace {

constexpr std::uint32_t pickup_count = 40;
constexpr std::uint32_t door_count = 8;
constexpr std::int32_t door_swing_steps = 12;

}  // namespace

void BattleArena::set_up() {
    for (std::uint32_t i = 0; i < pickup_count; ++i) {
        const std::uint32_t object = out_.spawn(battle_class::Pickup);
        out_.set_u8(object, pickup::Kind, static_cast<std::uint8_t>(i % 5));
        out_.set_vec3f(object, pickup::Position, to_vec3f(stage_.random_place()));
        out_.set_bool(object, pickup::Available, true);
        pickups_.push_back({.object = object, .is_available = true});
    }
    for (std::uint32_t i = 0; i < door_count; ++i) {
        const std::uint32_t object = out_.spawn(battle_class::Door);
        const HalfTurn turn = HalfTurn{1, 0}.then({64, random_.between(-64, 64)});
        out_.set_vec3f(object, door::Position, to_vec3f(stage_.random_place()));
        out_.set_quatf(object, door::Rotation, to_quatf(turn));
        out_.set_bool(object, door::Locked, random_.one_in(4));
        doors_.push_back({.object = object, .turn = turn});
    }
}

void BattleArena::update_pickups() {
    if (!random_.one_in(5)) {
        return;
    }
    Pickup& taken = pickups_[random_.below(pickup_count)];
    taken.is_available = !taken.is_available;
    out_.set_bool(taken.object, pickup::Available, taken.is_available);
    if (random_.one_in(8)) {
        // There and back within the tick: in the end nothing has changed.
        taken.is_available = !taken.is_available;
        out_.set_bool(taken.object, pickup::Available, taken.is_available);
        return;
    }
    if (!taken.is_available) {
        const std::uint32_t respawn_s = stage_.tick / battle_tick_rate_hz + random_.below(10);
        out_.set_f32(taken.object, pickup::RespawnTime, static_cast<float>(respawn_s));
        out_.set_ref(taken.object, pickup::TakenBy, stage_.any_object());
    }
}

void BattleArena::update_doors() {
    for (Door& swinging : doors_) {
        if (swinging.steps == 0 && random_.one_in(120)) {
            swinging.steps = door_swing_steps;
            swinging.is_open = !swinging.is_open;
            out_.set_bool(swinging.object, door::Open, swinging.is_open);
            out_.set_ref(swinging.object, door::OpenedBy, stage_.any_object());
        }
        if (swinging.steps > 0) {
            --swinging.steps;
            swinging.turn = swinging.turn.then({64, swinging.is_open ? 5 : -5});
            out_.set_quatf(swinging.object, door::Rotation, to_quatf(swinging.turn));
        }
    }
}

}  // namespace replayout::match
