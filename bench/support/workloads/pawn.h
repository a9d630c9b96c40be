// SPDX-License-Identifier: MIT
//
// The workload of the benchmarks: N pawns of fifteen properties. In each tick a rotating fifth of
// them moves and turns (seven floats), and a rotating fiftieth changes health.
//
//     tick        0            1            2                  N = 1,000
//     moves       0..199       200..399     400..599           comes round after 5 ticks
//     is hurt     0..19        20..39       40..59             comes round after 50 ticks
//
// In one tick of five the hurt are among those that move, so on average 216 of 1,000 pawns change.
// By another share of changes more or fewer move, and nobody is hurt.
#pragma once

#include <replayout/reflection/type_registry.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace replayout::bench {

struct Pawn {
    float px = 0;
    float py = 0;
    float pz = 0;
    float qx = 0;
    float qy = 0;
    float qz = 0;
    float qw = 0;
    float vx = 0;
    float vy = 0;
    float vz = 0;
    std::int32_t health = 0;
    std::uint8_t state = 0;
    std::uint16_t ammo = 0;
    std::uint32_t owner = 0;
    std::string name;  // 8 to 16 characters
};

inline constexpr std::uint32_t pawn_property_count = 15;
inline constexpr std::uint32_t pawn_transform_count = 7;  // px to qw, handles 1 to 7
inline constexpr std::uint32_t pawn_health_handle = 11;

/// The class as the library sees it. Push based: all fifteen properties are.
[[nodiscard]] Result<const Type*> declare_pawn(TypeRegistry& registry);
[[nodiscard]] Result<const Type*> declare_push_based_pawn(TypeRegistry& registry);

/// What a tick changed: exact, so that a benchmark can tell whether all of it was sent.
struct PawnChanges {
    std::uint64_t pawns = 0;
    std::uint64_t properties = 0;
};

/// Neighbours.
struct PawnRange {
    std::uint32_t first = 0;
    std::uint32_t count = 0;

    [[nodiscard]] std::uint32_t end() const noexcept { return first + count; }
};

class PawnScene {
  public:
    /// After so many ticks the same pawns change again.
    static constexpr std::uint32_t period_ticks = 50;

    /// `count` is a multiple of 50. No property of a pawn has its default value, then or later.
    PawnScene(std::uint32_t count, std::uint64_t seed);

    /// From the next tick on `moving_count` pawns move in each, which divides their number, or 0;
    /// and nobody is hurt.
    void set_moving_count(std::uint32_t moving_count);
    /// As at first: a fifth moves, a fiftieth is hurt.
    void set_usual_changes();

    [[nodiscard]] std::span<const Pawn> pawns() const noexcept { return pawns_; }
    [[nodiscard]] std::span<Pawn> pawns() noexcept { return pawns_; }

    /// Plays a tick.
    PawnChanges advance();

    // Of the last tick.

    [[nodiscard]] PawnRange moved() const noexcept { return moved_; }  ///< the transform changed
    [[nodiscard]] PawnRange hurt() const noexcept { return hurt_; }    ///< health changed
    /// Who is in one of these or in both, once, in order of indices.
    [[nodiscard]] std::span<const std::uint32_t> changed() const noexcept { return changed_; }

    /// Gives another value to all properties of a pawn, to the transform, to health.
    void change_all(Pawn& pawn);
    void change_transform(Pawn& pawn);
    void change_health(Pawn& pawn);

  private:
    [[nodiscard]] PawnRange in_turn(std::uint32_t count) const noexcept;
    void note_changed(PawnRange range);
    [[nodiscard]] std::uint32_t random();
    [[nodiscard]] float other_float(float old);

    std::vector<Pawn> pawns_;
    std::uint32_t moving_count_ = 0;
    std::uint32_t hurt_count_ = 0;
    PawnRange moved_;
    PawnRange hurt_;
    std::vector<std::uint32_t> changed_;
    std::uint64_t random_state_;
    std::uint64_t tick_ = 0;
};

}  // namespace replayout::bench
