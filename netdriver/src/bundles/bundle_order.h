// SPDX-License-Identifier: MIT
//
// The order in which what changed is laid down in bundles: what is seen together lies together.
//
//     cells          | 2: 7 40 | 5: 12 |          objects of the interest grid, line by line
//     order     3  9 | 7  40   | 12    |          first who lies in no cell, then cell by cell
//
// It decides where blocks lie, and with that how many copies a client takes that sees a part of the
// world; which blocks it takes follows from its pairs alone. Where nothing that changed is in the
// grid the order is that of the objects, which costs nothing.
#pragma once

#include <replayout/reflection/memory.h>

#include "flush_changes.h"
#include "interest_manager.h"
#include "kept_room.h"
#include "object_store.h"

#include <cstdint>
#include <span>

namespace replayout {

class BundleOrder {
  public:
    BundleOrder(const ObjectStore& objects, const InterestManager& interest,
                MemoryResource* resource);

    /// Behind the compare of a flush. O(what changed), where the grid has any objects.
    void find(const FlushChanges& changes);
    /// All that changed. Empty: in the order of the objects.
    [[nodiscard]] std::span<const ObjectIndex> indices() const noexcept {
        return {indices_.data(), indices_.size()};
    }
    /// Between flushes, see KeptRoom.
    void trim();

  private:
    struct ObjectInCell {
        std::uint64_t cell = 0;  // InterestGrid::cell_number_of()
        ObjectIndex index{};
    };

    /// By cell, and within that as they stand. `differing`: the bits in which cells differ.
    void sort_by_cell(std::uint64_t differing);

    const ObjectStore& objects_;
    const InterestManager& interest_;
    KeptVector<ObjectInCell> in_cells_;  // scratch
    KeptVector<ObjectInCell> sorted_;    // scratch
    KeptVector<ObjectIndex> indices_;
};

}  // namespace replayout
