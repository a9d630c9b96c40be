// SPDX-License-Identifier: MIT
//
// A large world that each client sees in part: objects in a plane, of which a few walk in each
// tick, and viewers that may walk as well.
#pragma once

#include "support/workloads/class_layout.h"
#include "support/workloads/workload.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace replayout::bench {

struct Walker {
    float x = 0;
    float y = 0;
    float yaw = 0;
};

/// The plane that they stand in: rows as far from each other as the places in a row.
struct WalkerPlane {
    std::uint32_t row_length = 250;
    std::uint32_t row_count = 200;

    /// A tenth of that plane, for runs that count every instruction.
    [[nodiscard]] static constexpr WalkerPlane small() noexcept { return {100, 50}; }
    [[nodiscard]] constexpr std::uint32_t place_count() const noexcept {
        return row_length * row_count;
    }
};

/// In rows over the whole of a plane; those whose turn it is, one in a hundred of any place, go a
/// step, to and fro, and a few of them into another cell.
class WalkerWorkload final : public Workload {
  public:
    /// Ticks until each has walked once.
    static constexpr std::uint32_t turn_ticks = 100;

    /// A server's, whose clients see what is in cells within the radius.
    [[nodiscard]] static InterestSettings interest(float view_radius) noexcept {
        InterestSettings interest;
        interest.axes = InterestAxes::XY;
        interest.view_radius = view_radius;
        interest.cell_size = view_radius / 2;
        return interest;
    }

    /// The plane has a multiple of 100 places.
    explicit WalkerWorkload(bool are_viewers_walking, const WalkerPlane& plane = {});

    [[nodiscard]] const std::string& error() const noexcept override { return layout_.error(); }
    [[nodiscard]] const RepLayout& layout() const noexcept override { return layout_.layout(); }
    [[nodiscard]] std::uint32_t object_count() const noexcept override {
        return plane_.place_count();
    }
    [[nodiscard]] void* object_memory(std::uint32_t object) noexcept override {
        return &walkers_[object];
    }
    [[nodiscard]] std::uint32_t ticks_until_warm() const noexcept override;
    [[nodiscard]] bool is_push_based() const noexcept override { return true; }
    [[nodiscard]] bool is_exact() const noexcept override { return false; }

    void introduce(NetDriver& driver, std::span<const NetObjectId> ids,
                   std::span<const PeerId> peers) override;
    void welcome(NetDriver& driver, PeerId peer) override;

    Changes advance(std::uint32_t connection_count) override;
    void mark(NetDriver& driver, std::span<const NetObjectId> ids) override;

  private:
    static constexpr std::array<std::string_view, 3> names = {"x", "y", "yaw"};

    /// Viewers stand ten by ten in the middle of the plane, so that each sees as much as the next,
    /// and may walk to and fro, each at a moment of its own.
    void look(NetDriver& driver, std::size_t viewer);
    /// Ticks that a viewer walks one way.
    [[nodiscard]] std::uint64_t way_ticks() const noexcept {
        return std::uint64_t{plane_.row_length} * 8 / 5;
    }
    [[nodiscard]] static Vector3 place_of(const Walker& walker) noexcept;

    ClassLayout layout_;
    WalkerPlane plane_;
    std::vector<Walker> walkers_;
    bool are_viewers_walking_;
    std::array<ParentIndex, names.size()> properties_{};
    std::vector<PeerId> viewers_;
    std::uint32_t first_ = 0;
    std::uint64_t tick_ = 0;
};

}  // namespace replayout::bench
