// SPDX-License-Identifier: MIT
//
// Who is near a cell: blocks of 2^n cells, hashed, each with a list of who is in it. Lists go
// through nodes that stand beside what is listed, so a move takes no memory, nor does an empty
// block. Lists are in the order of nothing: only bits may follow from a walk.
#pragma once

#include <replayout/reflection/memory.h>

#include "lattice.h"

#include <cstdint>

namespace replayout {

struct SpatialNode {
    static constexpr std::uint32_t none = 0xFFFF'FFFF;

    LatticePoint at;
    std::uint32_t next = none;
    std::uint32_t previous = none;
};

class SpatialHash {
  public:
    enum class Blocks : std::uint8_t {
        Few,   ///< 9, or 27, around a point: for few things, which are looked for often
        Fine,  ///< more of smaller ones, so fewer things that are too far: for many things
    };

    /// Of `nodes`, by number, those that were inserted. A walk reaches what is within `reach`
    /// cells along each axis.
    SpatialHash(Vector<SpatialNode>& nodes, std::uint32_t reach, Blocks blocks, bool is_flat,
                MemoryResource* resource);

    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

    /// May take memory; nothing else does.
    void insert(std::uint32_t number, const LatticePoint& at);
    void erase(std::uint32_t number) noexcept;
    void move(std::uint32_t number, const LatticePoint& to) noexcept;
    /// All that is in it, at once. Keeps its memory.
    void clear() noexcept;

    /// Calls `visit(number)` for all within reach, and others that are not much farther. Nothing
    /// may be inserted, erased or moved meanwhile.
    template <typename Visitor>
    void for_each_near(const LatticePoint& at, Visitor&& visit) const {
        for_each_block(box_around(at),
                       [&](const LatticePoint& block) { for_each_in(block, visit); });
    }
    /// The same of two points, and each once.
    template <typename Visitor>
    void for_each_near_either(const LatticePoint& at, const LatticePoint& other,
                              Visitor&& visit) const {
        const Box near = box_around(at);
        for_each_block(near, [&](const LatticePoint& block) { for_each_in(block, visit); });
        for_each_block(box_around(other), [&](const LatticePoint& block) {
            if (!near.contains(block)) {
                for_each_in(block, visit);
            }
        });
    }

  private:
    /// Blocks, both corners included.
    struct Box {
        LatticePoint low;
        LatticePoint high;

        [[nodiscard]] bool contains(const LatticePoint& block) const noexcept {
            return block.x >= low.x && block.x <= high.x && block.y >= low.y && block.y <= high.y &&
                   block.z >= low.z && block.z <= high.z;
        }
    };

    [[nodiscard]] Box box_around(const LatticePoint& at) const noexcept {
        const auto reach = static_cast<std::int32_t>(reach_);
        const std::int32_t up = is_flat_ ? 0 : reach;
        return {block_of({at.x - reach, at.y - reach, at.z - up}),
                block_of({at.x + reach, at.y + reach, at.z + up})};
    }
    template <typename Visitor>
    static void for_each_block(const Box& box, Visitor&& visit) {
        for (std::int32_t z = box.low.z; z <= box.high.z; ++z) {
            for (std::int32_t y = box.low.y; y <= box.high.y; ++y) {
                for (std::int32_t x = box.low.x; x <= box.high.x; ++x) {
                    visit(LatticePoint{x, y, z});
                }
            }
        }
    }
    template <typename Visitor>
    void for_each_in(const LatticePoint& block, Visitor& visit) const {
        if (heads_.empty()) {
            return;
        }
        std::uint32_t number = heads_[head_of(block)];
        while (number != SpatialNode::none) {
            if (block_of(nodes_[number].at) == block) {  // others share its head
                visit(number);
            }
            number = nodes_[number].next;
        }
    }
    [[nodiscard]] std::uint32_t shift_for(std::uint32_t reach) const noexcept;
    [[nodiscard]] LatticePoint block_of(const LatticePoint& at) const noexcept {
        return {at.x >> shift_, at.y >> shift_, at.z >> shift_};
    }
    [[nodiscard]] std::size_t head_of(const LatticePoint& block) const noexcept;
    void link(std::uint32_t number) noexcept;
    void unlink(std::uint32_t number) noexcept;
    /// Everything is linked anew, by so many heads.
    void relink(std::size_t head_count);

    Vector<SpatialNode>& nodes_;
    Vector<std::uint32_t> heads_;  // a power of two of them
    std::uint32_t count_ = 0;
    Blocks blocks_;
    bool is_flat_;
    std::uint32_t reach_;
    std::uint32_t shift_;
};

}  // namespace replayout
