// SPDX-License-Identifier: MIT
#include "match/battle/battle_world.h"

#include "match/battle/battle_schema.h"
#include "match/battle/battle_text.h"

#include <replayout/reflection/diagnostics.h>

#include <algorithm>

namespace replayout::match {

namespace {

constexpr std::uint32_t pickup_count = 40;
constexpr std::uint32_t door_count = 8;
constexpr std::uint16_t row_count_min = 32;
constexpr std::int32_t door_swing_steps = 12;
constexpr std::int64_t tick_interval_us = 33'333;
constexpr std::int64_t jitter_max_us = 2'000;

[[nodiscard]] std::uint16_t row_count_for(const BattleSettings& settings) {
    REPLAYOUT_ASSERT(settings.player_count <= battle_player_count_max);
    return std::max(row_count_min, static_cast<std::uint16_t>(settings.player_count));
}

}  // namespace

std::uint16_t board_field(std::uint16_t row, std::uint16_t column) noexcept {
    return static_cast<std::uint16_t>(row * scoreboard::ColumnCount + column);
}

BattleWorld::BattleWorld(const BattleSettings& settings)
    : settings_(settings),
      row_count_(row_count_for(settings)),
      random_(settings.seed),
      out_("Built-in battle", "make_battle, seed " + std::to_string(settings.seed),
           static_cast<float>(battle_tick_rate_hz), battle_classes(row_count_)) {}

Recording BattleWorld::play() {
    for (std::uint32_t tick = 0; tick < settings_.tick_count; ++tick) {
        begin_tick(tick);
        const bool is_last = tick + 1 == settings_.tick_count;
        if (tick == 0) {
            set_up();
        } else if (is_last || !random_.one_in(60)) {
            play_tick();
        }
    }
    return out_.finish();
}

void BattleWorld::begin_tick(std::uint32_t tick) {
    tick_ = tick;
    // A server's frames are not even, and now and then two carry the same time.
    if (tick == 0 || !random_.one_in(200)) {
        time_us_ = tick * tick_interval_us + random_.between(0, jitter_max_us);
    }
    out_.begin_tick(static_cast<double>(time_us_) / 1e6);
}

void BattleWorld::set_up() {
    game_state_ = out_.spawn(battle_class::GameState);
    out_.set_string(game_state_, game_state::MapName, "arena_\xE7\xAB\x9C");
    out_.set_u8(game_state_, game_state::Phase, 0);
    out_.set_i32(game_state_, game_state::RedScore, 0);
    out_.set_i32(game_state_, game_state::BlueScore, 0);
    out_.set_vec3f(game_state_, game_state::Gravity, {0.0F, 0.0F, -9.8125F});
    out_.set_string(game_state_, game_state::Announcement, announcement(random_, true));
    scoreboard_ = out_.spawn(battle_class::Scoreboard);
    set_up_arena();
    for (std::uint32_t i = 0; i < settings_.player_count; ++i) {
        Player player;
        player.row = static_cast<std::uint16_t>(i);
        player.team = static_cast<std::uint8_t>(i % 2);
        player.name = player_name(random_, i);
        join(player);
        players_.push_back(std::move(player));
    }
}

void BattleWorld::set_up_arena() {
    for (std::uint32_t i = 0; i < pickup_count; ++i) {
        const std::uint32_t object = out_.spawn(battle_class::Pickup);
        out_.set_u8(object, pickup::Kind, static_cast<std::uint8_t>(i % 5));
        out_.set_vec3f(object, pickup::Position, to_vec3f(random_place()));
        out_.set_bool(object, pickup::Available, true);
        pickups_.push_back({.object = object, .is_available = true});
    }
    for (std::uint32_t i = 0; i < door_count; ++i) {
        const std::uint32_t object = out_.spawn(battle_class::Door);
        const HalfTurn turn = HalfTurn{1, 0}.then({64, random_.between(-64, 64)});
        out_.set_vec3f(object, door::Position, to_vec3f(random_place()));
        out_.set_quatf(object, door::Rotation, to_quatf(turn));
        out_.set_bool(object, door::Locked, random_.one_in(4));
        doors_.push_back({.object = object, .turn = turn});
    }
}

void BattleWorld::play_tick() {
    keep_promises();
    for (std::size_t i = 0; i < players_.size(); ++i) {
        update_player(i);
    }
    update_projectiles();
    update_pickups();
    update_doors();
    update_game_state();
    update_scoreboard();
    if (tick_ + 1 < settings_.tick_count) {
        make_promises();
    }
}

void BattleWorld::keep_promises() {
    for (const Promise& promise : promises_) {
        const std::uint32_t item = out_.spawn(battle_class::Item);
        REPLAYOUT_ASSERT(item == promise.item);
        fill_item(players_[promise.player], item);
    }
    promises_.clear();
}

// Nothing may be spawned after this in the same tick.
void BattleWorld::make_promises() {
    for (std::size_t i = 0; i < players_.size(); ++i) {
        if (players_[i].is_connected && random_.one_in(200)) {
            const auto ahead = static_cast<std::uint32_t>(promises_.size());
            const std::uint32_t item = out_.next_object() + ahead;
            promises_.push_back({.player = i, .item = item});
            put_item(players_[i], item);
        }
    }
}

Fixed3 BattleWorld::random_place() {
    const std::int32_t x = random_.between(-arena_half_size, arena_half_size);
    const std::int32_t y = random_.between(-arena_half_size, arena_half_size);
    return {x, y, 0};
}

// Live, destroyed, or none at all.
std::uint32_t BattleWorld::any_object() {
    return random_.one_in(8) ? 0 : random_.below(out_.next_object());
}

void BattleWorld::update_pickups() {
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
        const std::uint32_t respawn_s = tick_ / battle_tick_rate_hz + random_.below(10);
        out_.set_f32(taken.object, pickup::RespawnTime, static_cast<float>(respawn_s));
        out_.set_ref(taken.object, pickup::TakenBy, any_object());
    }
}

void BattleWorld::update_doors() {
    for (Door& swinging : doors_) {
        if (swinging.steps == 0 && random_.one_in(120)) {
            swinging.steps = door_swing_steps;
            swinging.is_open = !swinging.is_open;
            out_.set_bool(swinging.object, door::Open, swinging.is_open);
            out_.set_ref(swinging.object, door::OpenedBy, any_object());
        }
        if (swinging.steps > 0) {
            --swinging.steps;
            swinging.turn = swinging.turn.then({64, swinging.is_open ? 5 : -5});
            out_.set_quatf(swinging.object, door::Rotation, to_quatf(swinging.turn));
        }
    }
}

void BattleWorld::update_game_state() {
    if (tick_ % 10 == 0) {
        out_.set_u32(game_state_, game_state::TickNumber, tick_);
    }
    if (tick_ % battle_tick_rate_hz == 0) {
        const std::uint32_t round_s = 600 - tick_ / battle_tick_rate_hz % 600;
        out_.set_u16(game_state_, game_state::RoundTime, static_cast<std::uint16_t>(round_s));
    }
    if (tick_ % 600 == 0) {
        out_.set_u8(game_state_, game_state::Phase, static_cast<std::uint8_t>(tick_ / 600 % 4));
        out_.set_bool(game_state_, game_state::Overtime, tick_ / 600 % 4 == 3);
    }
    if (tick_ % 120 == 60) {
        announce();
    }
}

void BattleWorld::announce() {
    out_.set_string(game_state_, game_state::Announcement,
                    announcement(random_, random_.one_in(3)));
    const Player* leader = nullptr;
    for (const Player& candidate : players_) {
        if (leader == nullptr || candidate.score > leader->score) {
            leader = &candidate;
        }
    }
    if (leader != nullptr) {
        // Also when the leader has left: a reference to an object that is no more.
        out_.set_ref(game_state_, game_state::Leader, leader->object);
    }
}

void BattleWorld::update_scoreboard() {
    if (players_.empty()) {
        return;
    }
    const Player& seen = players_[tick_ % players_.size()];
    out_.set_i32(scoreboard_, board_field(seen.row, scoreboard::Health), seen.health);
    if (tick_ % 3 == 0) {
        out_.set_vec3f(scoreboard_, board_field(seen.row, scoreboard::LastSeenAt),
                       to_vec3f(seen.position));
    }
    if (random_.one_in(4)) {
        const auto ping = static_cast<std::uint16_t>(20 + random_.below(80));
        out_.set_u16(scoreboard_, board_field(seen.row, scoreboard::Ping), ping);
        if (seen.is_connected) {
            out_.set_u16(seen.object, player::Ping, ping);
        }
    }
}

}  // namespace replayout::match
