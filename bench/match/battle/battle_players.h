// SPDX-License-Identifier: MIT
//
// The players of the built-in battle, and what they shoot and carry: what they do and what happens
// to them.
//
// A promise is a slot that refers to an item which is spawned only in the next tick that is not
// empty. Its id is known because ids are given in order and nothing is spawned between the two.
#pragma once

#include "match/battle/battle_stage.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace replayout::match {

class BattlePlayers {
  public:
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

    explicit BattlePlayers(BattleStage& stage)
        : stage_(stage), random_(stage.random), out_(stage.out) {}

    /// All join.
    void set_up(std::uint32_t count);
    void keep_promises();
    /// Nothing may be spawned after this in the same tick.
    void make_promises();
    /// Each player in turn, then the projectiles.
    void update();

    [[nodiscard]] bool is_empty() const noexcept { return players_.empty(); }
    [[nodiscard]] const Player& in_turn(std::uint32_t number) const noexcept {
        return players_[number % players_.size()];
    }
    /// Also when the leader has left. Null: there are no players.
    [[nodiscard]] const Player* leader() const noexcept;

  private:
    struct Projectile {
        std::uint32_t object = 0;
        std::size_t shooter = 0;  // index in players_
        std::uint32_t end_tick = 0;
        std::uint16_t damage = 0;
        Fixed3 position;
        Fixed3 velocity;  // per tick
    };

    struct Promise {
        std::size_t player = 0;  // index in players_
        std::uint32_t item = 0;
    };

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

    BattleStage& stage_;
    BattleRandom& random_;
    RecordingBuilder& out_;
    std::array<std::int32_t, 2> team_scores_{};
    std::vector<Player> players_;
    std::vector<Projectile> projectiles_;
    std::vector<Promise> promises_;
};

/// Field of the scoreboard.
[[nodiscard]] inline std::uint16_t board_field(std::uint16_t row, std::uint16_t column) noexcept {
    return static_cast<std::uint16_t>(row * scoreboard::ColumnCount + column);
}

}  // namespace replayout::match
