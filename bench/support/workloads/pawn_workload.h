// SPDX-License-Identifier: MIT
//
// The pawns of pawn.h, as a server replicates them: polled, or push based and marked.
#pragma once

#include "support/workloads/class_layout.h"
#include "support/workloads/pawn.h"
#include "support/workloads/workload.h"

#include <array>

namespace replayout::bench {

class PawnWorkload final : public Workload {
  public:
    /// `count` is a multiple of 50. Push based: the game marks each property that it sets.
    PawnWorkload(std::uint32_t count, bool is_push_based, std::uint64_t scene_seed);

    [[nodiscard]] PawnScene& scene() noexcept { return scene_; }

    [[nodiscard]] const std::string& error() const noexcept override { return error_; }
    [[nodiscard]] const RepLayout& layout() const noexcept override { return layout_.layout(); }
    [[nodiscard]] std::uint32_t object_count() const noexcept override {
        return static_cast<std::uint32_t>(scene_.pawns().size());
    }
    [[nodiscard]] void* object_memory(std::uint32_t object) noexcept override {
        return &scene_.pawns()[object];
    }
    Changes advance(std::uint32_t connection_count) override;
    /// With the usual changes.
    [[nodiscard]] std::uint32_t ticks_until_warm() const noexcept override;
    [[nodiscard]] bool is_push_based() const noexcept override { return is_push_based_; }
    void mark(NetDriver& driver, std::span<const NetObjectId> ids) override;

  private:
    ClassLayout layout_;
    PawnScene scene_;
    bool is_push_based_;
    std::array<ParentIndex, pawn_transform_count> transform_{};
    ParentIndex health_;
    std::string error_;
};

}  // namespace replayout::bench
