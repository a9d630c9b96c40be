// SPDX-License-Identifier: MIT
//
// The inside of the built-in battle: what stands in the arena, and how a tick of it goes. Not for
// callers; they want battle.h.
//
//     tick:  keep promises -> each player -> projectiles -> pickups -> doors
//            -> game state -> promise
//
// A promise is a slot that refers to an item which is spawned only in the next tick that is not
// empty. Its id is known because ids are given in order and nothing is spawned between the two.
//
// What is played here is no good game. It is there to change values in the rhythm of one.
#pragma once

#include "match/battle/battle.h"
#include "match/battle/battle_random.h"
#include "match/recording/recording_builder.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace replayout::match {

class BattleWorld {
  public:
    explicit BattleWorld(const BattleSettings& settings);

    /// Plays all ticks; once.
    [[nodiscard]] Recording play();

  private:
    struct Player {
        std::uint16_t row = 0;
        std::uint8_t team = 0;
        std::string name;
        bool is_connected = false;
        bool is_alive = false;
        std::uint32_t due_tick = 0;  // when the dead come back to life, or the gone to the game
        std::uint32_t object = 0;
        std::uint32_t inventory = 0;
        std::vector<std::uint32_t> slots;  // objects, not necessarily live; 0 where empty
        Fixed3 position;
        Fixed3 velocity;  // per tick
        HalfTurn yaw;
        HalfTurn pitch;
        std::int32_t speed = 0;
        std::int32_t climb = 0;
        std::int32_t health = 0;
        std::int32_t armor = 0;
        std::int32_t ammo = 0;
        std::uint8_t weapon = 0;
        std::int32_t score = 0;
        std::uint16_t kills = 0;
        std::uint16_t deaths = 0;
        std::uint32_t damage_done = 0;
        std::uint32_t shot_count = 0;
        std::uint32_t hit_count = 0;
    };

    struct Projectile {
        std::uint32_t object = 0;
        std::size_t shooter = 0;  // index in players_
        std::uint32_t end_tick = 0;
        std::uint16_t damage = 0;
        Fixed3 position;
        Fixed3 velocity;  // per tick
    };

    struct Pickup {
        std::uint32_t object = 0;
        bool is_available = true;
    };

    struct Door {
        std::uint32_t object = 0;
        HalfTurn turn;
        std::int32_t steps = 0;  // left in the swing under way
        bool is_open = false;
    };

    struct Promise {
        std::size_t player = 0;  // index in players_
        std::uint32_t item = 0;
    };

    // battle_world.cpp: time, things and the state of the game.
    void begin_tick(std::uint32_t tick);
    void set_up();
    void set_up_arena();
    void play_tick();
    void keep_promises();
    void make_promises();
    void update_pickups();
    void update_doors();
    void update_game_state();
    void announce();
    void update_scoreboard();
    [[nodiscard]] Fixed3 random_place();
    [[nodiscard]] std::uint32_t any_object();

    // battle_players.cpp: what players do and what happens to them.
    void join(Player& player);
    void leave(Player& player);
    void set_identity(const Player& player);
    void set_board_row(const Player& player);
    void revive(Player& player);
    void update_player(std::size_t index);
    void move(Player& player);
    [[nodiscard]] bool steer(Player& player);
    void act(Player& player);
    void switch_weapon(Player& player);
    void use_inventory(Player& player);
    void put_item(Player& player, std::uint32_t item);
    void fill_item(const Player& player, std::uint32_t item);
    void shoot(std::size_t index);
    void launch(std::size_t index, std::uint8_t kind);
    void update_projectiles();
    [[nodiscard]] bool hit_someone(const Projectile& projectile);
    void hurt(Player& victim, Player& shooter, std::int32_t damage);
    void kill(Player& victim, Player& shooter);

    BattleSettings settings_;
    std::uint16_t row_count_;
    BattleRandom random_;
    RecordingBuilder out_;
    std::uint32_t tick_ = 0;
    std::int64_t time_us_ = 0;
    std::uint32_t game_state_ = 0;
    std::uint32_t scoreboard_ = 0;
    std::array<std::int32_t, 2> team_scores_{};
    std::vector<Player> players_;
    std::vector<Projectile> projectiles_;
    std::vector<Pickup> pickups_;
    std::vector<Door> doors_;
    std::vector<Promise> promises_;
};

/// Field of the scoreboard.
[[nodiscard]] std::uint16_t board_field(std::uint16_t row, std::uint16_t column) noexcept;

inline constexpr std::int32_t battle_tick_rate_hz = 30;
inline constexpr std::int32_t arena_half_size = 64 * fixed_one;

}  // namespace replayout::match
