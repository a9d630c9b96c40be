// SPDX-License-Identifier: MIT
//
// Objects whose turn it is to be compared, a few hundred at a time: so many that what each leads to
// is at hand when it comes to it, so few that it still is.
#pragma once

#include <replayout/reflection/memory.h>

#include "kept_room.h"
#include "object_store.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

struct DueObject {
    DueObject(std::uint32_t due_index, NetworkObjectInfo* due_info, bool is_polled_one) noexcept
        : index(due_index), is_polled(is_polled_one), info(due_info) {}

    std::uint32_t index;
    bool is_polled;  ///< and is known to differ
    // Of one that a lane left over:
    bool is_compared = false;
    bool has_changed = false;
    NetworkObjectInfo* info;
};

/// Scratch of a lane.
struct DueObjects {
    explicit DueObjects(MemoryResource* resource)
        : listed(Allocator<DueObject>(resource)), left_over(Allocator<DueObject>(resource)) {}

    /// Calls `visit(due)` for each that is listed, when its memory is at hand. Then none is.
    template <typename Visitor>
    void take_listed(Visitor visit) {
        // What an object leads to is asked for some objects ahead. By measuring: far enough for
        // the memory of the state to be there, and what it leads to.
        constexpr std::size_t far_steps = 8;
        constexpr std::size_t near_steps = 4;
        const std::span<const DueObject> due(listed.data(), listed.size());
        for (std::size_t i = 0; i < due.size() + far_steps; ++i) {
            if (i < due.size()) {
                due[i].info->prefetch();
            }
            if (const std::size_t near = i + near_steps - far_steps; near < due.size()) {
                due[near].info->changelist_state().prefetch_values();
            }
            if (const std::size_t now = i - far_steps; now < due.size()) {
                visit(due[now]);
            }
        }
        listed_room.note(listed.size());
        listed.clear();
    }

    /// Between flushes, see KeptRoom.
    void trim() {
        left_over.clear();
        listed_room.trim(listed);
        left_over_room.trim(left_over);
    }

    Vector<DueObject> listed;
    KeptRoom listed_room;
    std::uint64_t count = 0;  ///< that were due, in this flush
    Vector<DueObject> left_over;
    KeptRoom left_over_room;
};

}  // namespace replayout
