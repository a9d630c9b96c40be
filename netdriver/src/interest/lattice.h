// SPDX-License-Identifier: MIT
//
// Where something is, in whole cells. All that interest decides is decided in these, so it is the
// same on every machine, and no coordinate is too large or strange for it.
//
// A cell is always one of some lattice, and each layer of InterestGrid has its own: only in that of
// NetRelevancy::Grid is it as large as InterestSettings says.
#pragma once

#include <replayout/netdriver/interest.h>
#include <replayout/reflection/math.h>

#include <array>
#include <cstdint>

namespace replayout {

/// A cell. What does not count is 0 everywhere.
struct LatticePoint {
    std::int32_t x = 0;
    std::int32_t y = 0;
    std::int32_t z = 0;

    friend constexpr bool operator==(const LatticePoint&, const LatticePoint&) noexcept = default;
};

/// How far two things are from each other.
enum class LatticeMetric : std::uint8_t {
    Centres,  ///< of their cells
    Gap,      ///< between their cells; neighbours touch
};

class Lattice {
  public:
    /// Cells beyond are counted as these, so that a square of any distance fits into 64 bits.
    static constexpr std::int32_t border = 1 << 28;

    /// `margin`: in cells, how far something may be outside of its cell and still count as in it.
    Lattice(double cell_size, double margin, InterestAxes axes) noexcept
        : cell_size_(cell_size), margin_(margin), axes_(axes) {}

    [[nodiscard]] LatticePoint at(const Vector3& location) const noexcept {
        const std::array<double, 3> cells = in_cells(location);
        return {floor(cells[0]), floor(cells[1]), floor(cells[2])};
    }
    /// What was in that cell counts as in it still.
    [[nodiscard]] bool holds(const LatticePoint& point, const Vector3& location) const noexcept {
        const std::array<double, 3> cells = in_cells(location);
        return is_held(point.x, cells[0]) && is_held(point.y, cells[1]) &&
               is_held(point.z, cells[2]);
    }
    [[nodiscard]] bool is_flat() const noexcept { return axes_ != InterestAxes::XYZ; }

  private:
    [[nodiscard]] std::array<double, 3> in_cells(const Vector3& location) const noexcept {
        const double x = static_cast<double>(location.x);
        const double y = static_cast<double>(axes_ == InterestAxes::XZ ? location.z : location.y);
        const double z = static_cast<double>(axes_ == InterestAxes::XYZ ? location.z : 0.0f);
        return {x / cell_size_, y / cell_size_, z / cell_size_};
    }
    [[nodiscard]] bool is_held(std::int32_t cell, double at) const noexcept {
        return at >= cell - margin_ && at < cell + 1 + margin_;
    }
    /// Not a number is at the border, too.
    [[nodiscard]] static std::int32_t floor(double at) noexcept {
        if (!(at > -border)) {
            return -border;
        }
        if (!(at < border)) {
            return border;
        }
        const auto towards_zero = static_cast<std::int32_t>(at);
        return towards_zero > at ? towards_zero - 1 : towards_zero;
    }

    double cell_size_;
    double margin_;
    InterestAxes axes_;
};

/// In cells.
[[nodiscard]] constexpr std::uint64_t distance_squared(const LatticePoint& from,
                                                       const LatticePoint& to,
                                                       LatticeMetric metric) noexcept {
    const std::int64_t gap = metric == LatticeMetric::Gap ? 1 : 0;
    const auto square = [gap](std::int64_t a, std::int64_t b) {
        const std::int64_t apart = a < b ? b - a : a - b;
        const std::int64_t counted = apart > gap ? apart - gap : 0;
        return static_cast<std::uint64_t>(counted * counted);
    };
    return square(from.x, to.x) + square(from.y, to.y) + square(from.z, to.z);
}

}  // namespace replayout
