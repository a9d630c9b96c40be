// SPDX-License-Identifier: MIT
#include "match/battle/battle_players.h"

#include "match/battle/battle_text.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace replayout::match {

namespace {

constexpr std::int32_t full_health = 100;
constexpr std::int32_t full_ammo = 50;
constexpr std::int32_t run_speed = 12;  // 1/64 m per tick: 5.6 m/s
constexpr std::int32_t jump_speed = 14;
constexpr std::int32_t fall_per_tick = 2;
constexpr std::int32_t muzzle_height = 96;
constexpr std::int32_t hit_distance = 2 * fixed_one;
constexpr std::uint8_t weapon_count = 5;
constexpr std::uint32_t starting_items = 4;

enum ProjectileKind : std::uint8_t { Tracer, Pellet, Rocket };

struct ProjectileTraits {
    std::int32_t speed;
    std::int32_t ticks_min;
    std::int32_t ticks_max;
    std::uint16_t damage;
};

// By ProjectileKind. A tracer is there and gone within the tick.
constexpr std::array<ProjectileTraits, 3> projectile_traits{
    {{256, 0, 0, 5}, {160, 1, 3, 20}, {40, 10, 40, 60}}};

// Keeps a coordinate inside the arena; true if it was outside.
[[nodiscard]] bool clamp_to_arena(std::int32_t& coordinate) {
    const std::int32_t before = coordinate;
    coordinate = std::clamp(coordinate, -arena_half_size, arena_half_size);
    return coordinate != before;
}

}  // namespace

void BattlePlayers::set_up(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        Player player;
        player.row = static_cast<std::uint16_t>(i);
        player.team = static_cast<std::uint8_t>(i % 2);
        player.name = player_name(random_, i);
        join(player);
        players_.push_back(std::move(player));
    }
}

void BattlePlayers::update() {
    for (std::size_t i = 0; i < players_.size(); ++i) {
        update_player(i);
    }
    update_projectiles();
}

const BattlePlayers::Player* BattlePlayers::leader() const noexcept {
    const auto first = std::max_element(
        players_.begin(), players_.end(),
        [](const Player& left, const Player& right) { return left.score < right.score; });
    return first == players_.end() ? nullptr : &*first;
}

void BattlePlayers::keep_promises() {
    for (const Promise& promise : promises_) {
        const std::uint32_t item = out_.spawn(battle_class::Item);
        REPLAYOUT_ASSERT(item == promise.item);
        fill_item(players_[promise.player], item);
    }
    promises_.clear();
}

void BattlePlayers::make_promises() {
    for (std::size_t i = 0; i < players_.size(); ++i) {
        if (players_[i].is_connected && random_.one_in(200)) {
            const auto ahead = static_cast<std::uint32_t>(promises_.size());
            const std::uint32_t item = out_.next_object() + ahead;
            promises_.push_back({.player = i, .item = item});
            put_item(players_[i], item);
        }
    }
}

void BattlePlayers::join(Player& player) {
    player.object = out_.spawn(battle_class::Player);
    player.is_connected = true;
    set_identity(player);
    // The player refers to an inventory that comes right after, as a server sends them.
    out_.set_ref(player.object, player::Inventory, out_.next_object());
    player.inventory = out_.spawn(battle_class::Inventory);
    out_.set_ref(player.inventory, inventory::Owner, player.object);
    player.slots.assign(inventory::slot_count, 0);
    for (std::uint32_t i = 0; i < starting_items; ++i) {
        const std::uint32_t item = out_.spawn(battle_class::Item);
        fill_item(player, item);
        put_item(player, item);
    }
    set_board_row(player);
    revive(player);
}

void BattlePlayers::set_identity(const Player& player) {
    out_.set_string(player.object, player::Name, player.name);
    out_.set_u8(player.object, player::Team, player.team);
    out_.set_i32(player.object, player::Score, player.score);
}

void BattlePlayers::set_board_row(const Player& player) {
    const auto field = [&player](std::uint16_t column) { return board_field(player.row, column); };
    out_.set_string(stage_.scoreboard, field(scoreboard::Name), player.name);
    out_.set_bool(stage_.scoreboard, field(scoreboard::Connected), true);
    out_.set_u8(stage_.scoreboard, field(scoreboard::Team), player.team);
    out_.set_i32(stage_.scoreboard, field(scoreboard::Score), player.score);
    out_.set_u16(stage_.scoreboard, field(scoreboard::Kills), player.kills);
    out_.set_u16(stage_.scoreboard, field(scoreboard::Deaths), player.deaths);
    out_.set_ref(stage_.scoreboard, field(scoreboard::Pawn), player.object);
}

// The scoreboard goes on to refer to the player who is gone, and items may be left behind.
void BattlePlayers::leave(Player& player) {
    for (const std::uint32_t item : player.slots) {
        if (out_.is_live(item) && !random_.one_in(4)) {
            out_.destroy(item);
        }
    }
    out_.destroy(player.inventory);
    out_.destroy(player.object);
    out_.set_bool(stage_.scoreboard, board_field(player.row, scoreboard::Connected), false);
    player.is_connected = false;
    player.is_alive = false;
    player.due_tick = stage_.tick + static_cast<std::uint32_t>(random_.between(30, 240));
}

void BattlePlayers::revive(Player& player) {
    player.is_alive = true;
    player.position = stage_.random_place();
    player.velocity = {};
    player.speed = 0;
    player.climb = 0;
    player.health = full_health;
    player.armor = random_.between(0, 100);
    player.ammo = full_ammo;
    out_.set_bool(player.object, player::Alive, true);
    out_.set_i32(player.object, player::Health, player.health);
    out_.set_u16(player.object, player::Armor, static_cast<std::uint16_t>(player.armor));
    out_.set_u16(player.object, player::Ammo, static_cast<std::uint16_t>(player.ammo));
    out_.set_u8(player.object, player::Weapon, player.weapon);
    out_.set_vec3f(player.object, player::Position, to_vec3f(player.position));
    out_.set_vec3f(player.object, player::Velocity, to_vec3f(player.velocity));
    out_.set_quatf(player.object, player::Rotation, to_quatf(player.yaw, player.pitch));
}

void BattlePlayers::update_player(std::size_t index) {
    Player& player = players_[index];
    if (!player.is_connected) {
        if (stage_.tick >= player.due_tick) {
            join(player);
        }
        return;
    }
    if (!player.is_alive) {
        if (stage_.tick >= player.due_tick) {
            revive(player);
        }
        return;
    }
    move(player);
    act(player);
    use_inventory(player);
    if (random_.one_in(20)) {
        shoot(index);
    }
    if (random_.one_in(6000)) {
        leave(player);
    }
}

// New directions and speeds; true if the velocity has to be worked out anew.
bool BattlePlayers::steer(Player& player) {
    const bool is_turning = random_.one_in(3);
    if (is_turning) {
        player.yaw = player.yaw.then({64, random_.between(-6, 6)});
        if (random_.one_in(6)) {
            player.pitch = HalfTurn{64, random_.between(-16, 16)};
        }
        out_.set_quatf(player.object, player::Rotation, to_quatf(player.yaw, player.pitch));
    }
    const bool is_changing_pace = random_.one_in(45);
    if (is_changing_pace) {
        player.speed = random_.between(0, 2) * run_speed / 2;
    }
    const bool is_jumping = player.position.z == 0 && player.speed != 0 && random_.one_in(50);
    if (is_jumping) {
        player.climb = jump_speed;
    }
    return is_turning || is_changing_pace || is_jumping;
}

void BattlePlayers::move(Player& player) {
    const bool is_airborne = player.position.z > 0;
    bool is_new_velocity = steer(player) || is_airborne;
    if (is_airborne) {
        player.climb -= fall_per_tick;
    }
    if (is_new_velocity) {
        player.velocity = player.yaw.direction(player.speed);
        player.velocity.z = player.climb;
    }
    Fixed3 next = player.position;
    next.x += player.velocity.x;
    next.y += player.velocity.y;
    next.z += player.velocity.z;
    // Only one wall turns a player round in a tick; turned twice he would run on into the corner.
    if (clamp_to_arena(next.x) || clamp_to_arena(next.y)) {
        player.yaw = player.yaw.then({0, 1});
        out_.set_quatf(player.object, player::Rotation, to_quatf(player.yaw, player.pitch));
        player.velocity = player.yaw.direction(player.speed);
        is_new_velocity = true;
    }
    if (next.z <= 0 && player.climb < 0) {
        next.z = 0;
        player.climb = 0;
        player.velocity.z = 0;
        is_new_velocity = true;
    }
    const bool is_moved =
        next.x != player.position.x || next.y != player.position.y || next.z != player.position.z;
    player.position = next;
    if (is_moved) {
        out_.set_vec3f(player.object, player::Position, to_vec3f(player.position));
    }
    if (is_new_velocity && player.speed != 0) {
        out_.set_vec3f(player.object, player::Velocity,
                       to_vec3f(player.velocity, battle_tick_rate_hz));
    }
}

void BattlePlayers::act(Player& player) {
    if (random_.one_in(150)) {
        switch_weapon(player);
    }
    if (random_.one_in(80)) {
        // As a game does that re-sends what it has: a set that changes nothing.
        out_.set_i32(player.object, player::Health, player.health);
    }
    if (random_.one_in(90)) {
        out_.set_ref(player.object, player::Target, stage_.any_object());
    }
    if (random_.one_in(700)) {
        out_.set_string(player.object, player::Chat, chat_line(random_));
    }
}

void BattlePlayers::switch_weapon(Player& player) {
    const std::uint8_t before = player.weapon;
    player.weapon = static_cast<std::uint8_t>((before + 1) % weapon_count);
    out_.set_u8(player.object, player::Weapon, player.weapon);
    if (random_.one_in(3)) {
        player.weapon = before;
        out_.set_u8(player.object, player::Weapon, player.weapon);
    }
}

void BattlePlayers::use_inventory(Player& player) {
    if (!random_.one_in(120)) {
        return;
    }
    const std::uint32_t slot = random_.below(inventory::slot_count);
    const std::uint32_t item = player.slots[slot];
    if (!out_.is_live(item)) {
        const std::uint32_t found = out_.spawn(battle_class::Item);
        fill_item(player, found);
        put_item(player, found);
    } else if (random_.one_in(2)) {
        // The slot refers to it until something else is put there.
        out_.destroy(item);
    } else {
        const auto durability = static_cast<std::uint16_t>(random_.below(1000));
        out_.set_u16(item, item::Durability, durability);
    }
}

void BattlePlayers::put_item(Player& player, std::uint32_t item) {
    const std::uint32_t slot = random_.below(inventory::slot_count);
    if (out_.is_live(player.slots[slot])) {
        out_.destroy(player.slots[slot]);
    }
    player.slots[slot] = item;
    const auto field = static_cast<std::uint16_t>(inventory::FirstSlot + slot);
    out_.set_ref(player.inventory, field, item);
    const auto used = player.slots.size() - static_cast<std::size_t>(std::count(
                                                player.slots.begin(), player.slots.end(), 0U));
    out_.set_u8(player.inventory, inventory::ItemCount, static_cast<std::uint8_t>(used));
    out_.set_f32(player.inventory, inventory::Weight, static_cast<float>(used) * 1.25F);
}

// `player` may be gone by the time when a promised item comes; the item then refers to what he was.
void BattlePlayers::fill_item(const Player& player, std::uint32_t item) {
    const auto kind = static_cast<std::uint8_t>(random_.below(12));
    out_.set_u8(item, item::Kind, kind);
    out_.set_u16(item, item::Durability, 1000);
    out_.set_ref(item, item::Owner, player.object);
    out_.set_string(item, item::Label, item_label(random_, kind));
}

void BattlePlayers::shoot(std::size_t index) {
    Player& player = players_[index];
    const std::uint32_t shots = random_.one_in(4) ? 3 : 1;
    const auto kind = static_cast<std::uint8_t>(random_.below(3));
    for (std::uint32_t i = 0; i < shots; ++i) {
        // A burst sets the ammunition several times in the tick.
        player.ammo = player.ammo > 0 ? player.ammo - 1 : full_ammo;
        out_.set_u16(player.object, player::Ammo, static_cast<std::uint16_t>(player.ammo));
        launch(index, kind);
    }
}

void BattlePlayers::launch(std::size_t index, std::uint8_t kind) {
    Player& player = players_[index];
    ++player.shot_count;
    const ProjectileTraits& traits = projectile_traits[kind];
    Projectile shot;
    shot.object = out_.spawn(battle_class::Projectile);
    shot.shooter = index;
    shot.damage = traits.damage;
    shot.position = player.position;
    shot.position.z += muzzle_height;
    shot.velocity = player.yaw.then({64, random_.between(-3, 3)}).direction(traits.speed);
    out_.set_ref(shot.object, projectile::Owner, player.object);
    out_.set_u8(shot.object, projectile::Kind, kind);
    out_.set_vec3f(shot.object, projectile::Position, to_vec3f(shot.position));
    out_.set_vec3f(shot.object, projectile::Velocity, to_vec3f(shot.velocity, battle_tick_rate_hz));
    out_.set_quatf(shot.object, projectile::Rotation, to_quatf(player.yaw, player.pitch));
    out_.set_u16(shot.object, projectile::Damage, shot.damage);
    if (kind == Tracer) {
        out_.destroy(shot.object);
        return;
    }
    const std::int32_t ticks = random_.between(traits.ticks_min, traits.ticks_max);
    shot.end_tick = stage_.tick + static_cast<std::uint32_t>(ticks);
    projectiles_.push_back(shot);
}

void BattlePlayers::update_projectiles() {
    std::vector<Projectile> flying;
    flying.reserve(projectiles_.size());
    for (Projectile& shot : projectiles_) {
        shot.position.x += shot.velocity.x;
        shot.position.y += shot.velocity.y;
        bool is_bouncing = false;
        if (clamp_to_arena(shot.position.x)) {
            shot.velocity.x = -shot.velocity.x;
            is_bouncing = true;
        }
        if (clamp_to_arena(shot.position.y)) {
            shot.velocity.y = -shot.velocity.y;
            is_bouncing = true;
        }
        out_.set_vec3f(shot.object, projectile::Position, to_vec3f(shot.position));
        if (is_bouncing) {
            out_.set_vec3f(shot.object, projectile::Velocity,
                           to_vec3f(shot.velocity, battle_tick_rate_hz));
        }
        if (stage_.tick >= shot.end_tick || hit_someone(shot)) {
            out_.destroy(shot.object);
        } else {
            flying.push_back(shot);
        }
    }
    projectiles_ = std::move(flying);
}

bool BattlePlayers::hit_someone(const Projectile& projectile) {
    for (std::size_t i = 0; i < players_.size(); ++i) {
        Player& victim = players_[i];
        if (i == projectile.shooter || !victim.is_alive) {
            continue;
        }
        const std::int32_t distance = std::max(std::abs(victim.position.x - projectile.position.x),
                                               std::abs(victim.position.y - projectile.position.y));
        if (distance < hit_distance) {
            hurt(victim, players_[projectile.shooter], projectile.damage);
            return true;
        }
    }
    return false;
}

void BattlePlayers::hurt(Player& victim, Player& shooter, std::int32_t damage) {
    const std::int32_t absorbed = std::min(victim.armor, damage / 2);
    if (absorbed > 0) {
        victim.armor -= absorbed;
        out_.set_u16(victim.object, player::Armor, static_cast<std::uint16_t>(victim.armor));
    }
    victim.health = std::max(0, victim.health - (damage - absorbed));
    out_.set_i32(victim.object, player::Health, victim.health);

    ++shooter.hit_count;
    shooter.damage_done += static_cast<std::uint32_t>(damage);
    out_.set_u32(stage_.scoreboard, board_field(shooter.row, scoreboard::DamageDone),
                 shooter.damage_done);
    out_.set_f32(stage_.scoreboard, board_field(shooter.row, scoreboard::Accuracy),
                 static_cast<float>(shooter.hit_count) / static_cast<float>(shooter.shot_count));
    if (victim.health == 0) {
        kill(victim, shooter);
    }
}

void BattlePlayers::kill(Player& victim, Player& shooter) {
    victim.is_alive = false;
    victim.due_tick = stage_.tick + static_cast<std::uint32_t>(random_.between(60, 150));
    ++victim.deaths;
    out_.set_bool(victim.object, player::Alive, false);
    out_.set_u16(stage_.scoreboard, board_field(victim.row, scoreboard::Deaths), victim.deaths);

    const bool is_own_side = victim.team == shooter.team;
    shooter.score += is_own_side ? -1 : 1;
    ++shooter.kills;
    out_.set_u16(stage_.scoreboard, board_field(shooter.row, scoreboard::Kills), shooter.kills);
    out_.set_i32(stage_.scoreboard, board_field(shooter.row, scoreboard::Score), shooter.score);
    if (shooter.is_connected) {
        out_.set_i32(shooter.object, player::Score, shooter.score);
    }
    std::int32_t& team_score = team_scores_[shooter.team];
    team_score += is_own_side ? -1 : 1;
    out_.set_i32(stage_.game_state,
                 shooter.team == 0 ? game_state::RedScore : game_state::BlueScore, team_score);
}

}  // namespace replayout::match
