// SPDX-License-Identifier: MIT
#include "match/battle/battle_world.h"

#include "match/battle/battle_text.h"

#include <replayout/reflection/diagnostics.h>

#include <algorithm>

namespace replayout::match {

namespace {

constexpr std::uint16_t row_count_min = 32;
constexpr std::int64_t tick_interval_us = 33'333;
constexpr std::int64_t jitter_max_us = 2'000;

[[nodiscard]] std::uint16_t row_count_for(const BattleSettings& settings) {
    REPLAYOUT_ASSERT(settings.player_count <= battle_player_count_max);
    return std::max(row_count_min, static_cast<std::uint16_t>(settings.player_count));
}

}  // namespace

BattleWorld::BattleWorld(const BattleSettings& settings)
    : settings_(settings),
      stage_{
          BattleRandom(settings.seed),
          RecordingBuilder("Built-in battle", "make_battle, seed " + std::to_string(settings.seed),
                           static_cast<float>(battle_tick_rate_hz),
                           battle_classes(row_count_for(settings)))} {}

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
    stage_.tick = tick;
    // A server's frames are not even, and now and then two carry the same time.
    if (tick == 0 || !random_.one_in(200)) {
        time_us_ = tick * tick_interval_us + random_.between(0, jitter_max_us);
    }
    out_.begin_tick(static_cast<double>(time_us_) / 1e6);
}

void BattleWorld::set_up() {
    stage_.game_state = out_.spawn(battle_class::GameState);
    out_.set_string(stage_.game_state, game_state::MapName, "arena_\xE7\xAB\x9C");
    out_.set_u8(stage_.game_state, game_state::Phase, 0);
    out_.set_i32(stage_.game_state, game_state::RedScore, 0);
    out_.set_i32(stage_.game_state, game_state::BlueScore, 0);
    out_.set_vec3f(stage_.game_state, game_state::Gravity, {0.0F, 0.0F, -9.8125F});
    out_.set_string(stage_.game_state, game_state::Announcement, announcement(random_, true));
    stage_.scoreboard = out_.spawn(battle_class::Scoreboard);
    arena_.set_up();
    players_.set_up(settings_.player_count);
}

void BattleWorld::play_tick() {
    players_.keep_promises();
    players_.update();
    arena_.update_pickups();
    arena_.update_doors();
    update_game_state();
    update_scoreboard();
    if (stage_.tick + 1 < settings_.tick_count) {
        players_.make_promises();
    }
}

void BattleWorld::update_game_state() {
    if (stage_.tick % 10 == 0) {
        out_.set_u32(stage_.game_state, game_state::TickNumber, stage_.tick);
    }
    if (stage_.tick % battle_tick_rate_hz == 0) {
        const std::uint32_t round_s = 600 - stage_.tick / battle_tick_rate_hz % 600;
        out_.set_u16(stage_.game_state, game_state::RoundTime, static_cast<std::uint16_t>(round_s));
    }
    if (stage_.tick % 600 == 0) {
        out_.set_u8(stage_.game_state, game_state::Phase,
                    static_cast<std::uint8_t>(stage_.tick / 600 % 4));
        out_.set_bool(stage_.game_state, game_state::Overtime, stage_.tick / 600 % 4 == 3);
    }
    if (stage_.tick % 120 == 60) {
        announce();
    }
}

void BattleWorld::announce() {
    out_.set_string(stage_.game_state, game_state::Announcement,
                    announcement(random_, random_.one_in(3)));
    const BattlePlayers::Player* leader = players_.leader();
    if (leader != nullptr) {
        // Also when the leader has left: a reference to an object that is no more.
        out_.set_ref(stage_.game_state, game_state::Leader, leader->object);
    }
}

void BattleWorld::update_scoreboard() {
    if (players_.is_empty()) {
        return;
    }
    const BattlePlayers::Player& seen = players_.in_turn(stage_.tick);
    out_.set_i32(stage_.scoreboard, board_field(seen.row, scoreboard::Health), seen.health);
    if (stage_.tick % 3 == 0) {
        out_.set_vec3f(stage_.scoreboard, board_field(seen.row, scoreboard::LastSeenAt),
                       to_vec3f(seen.position));
    }
    if (random_.one_in(4)) {
        const auto ping = static_cast<std::uint16_t>(20 + random_.below(80));
        out_.set_u16(stage_.scoreboard, board_field(seen.row, scoreboard::Ping), ping);
        if (seen.is_connected) {
            out_.set_u16(seen.object, player::Ping, ping);
        }
    }
}

Recording make_battle(const BattleSettings& settings) {
    return BattleWorld(settings).play();
}

}  // namespace replayout::match
