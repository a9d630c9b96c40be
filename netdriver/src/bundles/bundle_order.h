// SPDX-License-Identifier: MIT
//
// The order in which what changed is laid down: what is seen together lies together, so a client
// that sees a part of the world takes few copies. Which blocks it takes does not depend on this.
//
//     cells          | 2: 7 40 | 5: 12 |      objects of the interest grid, line by line
//     order     3  9 | 7  40   | 12    |      first what lies in no cell, then cell by cell
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

    /// After the compare of a flush: returns all that changed. Empty: it is to be laid down in the
    /// order of the objects. O(what changed), where the grid has any objects.
    [[nodiscard]] std::span<const ObjectIndex> find(const FlushChanges& changes);
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
