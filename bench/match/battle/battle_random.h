// SPDX-License-Identifier: MIT
//
// Chance and turns for the built-in battle, such that a seed gives the same bytes on every
// compiler, optimisation level and machine.
//
// Randomness is the 64-bit Mersenne twister, whose output the standard fixes, taken modulo: the
// distributions of <random> are left to the library's author. The world is counted in integers
// (1/64 m, 1/64 m per tick); a float appears only when a value is written, by conversions and
// divisions that are exact or correctly rounded, so there is no sum of products that a compiler
// might fuse. A turn is an integer complex number instead of an angle, because sin and cos differ
// from one libm to the next.
#pragma once

#include "match/recording/recording_builder.h"

#include <replayout/reflection/diagnostics.h>

#include <cmath>
#include <cstdint>
#include <random>

namespace replayout::match {

class BattleRandom {
  public:
    explicit BattleRandom(std::uint64_t seed) : engine_(seed) {}

    /// 0 ... count - 1; count is above 0. The bias of the modulo is below 2^-32 and of no concern.
    [[nodiscard]] std::uint32_t below(std::uint32_t count) {
        REPLAYOUT_ASSERT(count > 0);
        return static_cast<std::uint32_t>(engine_() % count);
    }

    [[nodiscard]] bool one_in(std::uint32_t count) { return below(count) == 0; }

    /// low ... high, both included.
    [[nodiscard]] std::int32_t between(std::int32_t low, std::int32_t high) {
        REPLAYOUT_ASSERT(low <= high);
        return low + static_cast<std::int32_t>(below(static_cast<std::uint32_t>(high - low) + 1));
    }

  private:
    std::mt19937_64 engine_;
};

/// A place or a speed in 1/64 m. Any that the battle uses converts to float exactly.
struct Fixed3 {
    std::int32_t x = 0;
    std::int32_t y = 0;
    std::int32_t z = 0;
};

inline constexpr std::int32_t fixed_one = 64;

/// `times` is 1 for a place, the tick rate for a speed per tick.
[[nodiscard]] inline Vec3f to_vec3f(const Fixed3& value, std::int32_t times = 1) noexcept {
    constexpr float unit = 1.0F / static_cast<float>(fixed_one);
    return {static_cast<float>(value.x * times) * unit, static_cast<float>(value.y * times) * unit,
            static_cast<float>(value.z * times) * unit};
}

/// Half of a turn about an axis: cosine and sine of half the angle, times any common factor.
struct HalfTurn {
    std::int64_t cosine = 1;
    std::int64_t sine = 0;

    /// This turn and then `more`. Factors multiply, so they are cut back to 2^12; what that rounds
    /// away is a fraction of a degree, and the same everywhere.
    [[nodiscard]] HalfTurn then(const HalfTurn& more) const noexcept {
        HalfTurn sum{cosine * more.cosine - sine * more.sine,
                     cosine * more.sine + sine * more.cosine};
        constexpr std::int64_t factor_max = 1 << 12;
        while (sum.cosine > factor_max || sum.cosine < -factor_max || sum.sine > factor_max ||
               sum.sine < -factor_max) {
            sum.cosine /= 2;
            sum.sine /= 2;
        }
        return sum;
    }

    /// Where the x axis ends up after the whole turn about z, as a speed of `length`.
    [[nodiscard]] Fixed3 direction(std::int32_t length) const noexcept {
        const std::int64_t square = cosine * cosine + sine * sine;
        return {static_cast<std::int32_t>(length * (cosine * cosine - sine * sine) / square),
                static_cast<std::int32_t>(length * (2 * cosine * sine) / square), 0};
    }
};

/// Yaw about z, after a pitch about y, as a quaternion of unit length. The integer product is
/// exact, its squares fit into a double, and sqrt and division are correctly rounded everywhere.
[[nodiscard]] inline Quatf to_quatf(const HalfTurn& yaw, const HalfTurn& pitch = {}) {
    const std::int64_t x = -yaw.sine * pitch.sine;
    const std::int64_t y = yaw.cosine * pitch.sine;
    const std::int64_t z = yaw.sine * pitch.cosine;
    const std::int64_t w = yaw.cosine * pitch.cosine;
    const double length = std::sqrt(static_cast<double>(x * x + y * y + z * z + w * w));
    const auto component = [length](std::int64_t part) {
        return static_cast<float>(static_cast<double>(part) / length);
    };
    return {component(x), component(y), component(z), component(w)};
}

}  // namespace replayout::match
