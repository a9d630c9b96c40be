// SPDX-License-Identifier: MIT
//
// Objects whose turn it is to be compared, a few hundred at a time: so many that what each leads to
// is at hand when it comes to it, so few that it still is.
#pragma once

#include <replayout/netdriver/net_world.h>
#include <replayout/reflection/memory.h>

#include "kept_room.h"
#include "object_store.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

struct DueObject {
    using Known = ChangelistState::Known;

    /// `object_memory`: that of the object; null: it is asked for when it comes to it.
    DueObject(ObjectIndex due_index, ServerObject* due_info, Known known_of_it,
              const void* object_memory) noexcept
        : index(due_index), known(known_of_it), info(due_info), memory(object_memory) {}

    [[nodiscard]] bool is_polled() const noexcept { return known != Known::Nothing; }

    ObjectIndex index;
    Known known;  ///< of one that is polled; of any other nothing is
    // Of one that a lane left over:
    bool is_compared = false;
    bool has_changed = false;
    ServerObject* info;
    const void* memory;
};

/// Scratch of a lane.
struct DueObjects {
    explicit DueObjects(MemoryResource* resource) : listed(resource), left_over(resource) {}

    /// For each that is listed, in their order: `changed(due)`, where all that there is to be
    /// compared of it was compared, and it changed; `compare(due)` for the others. Then none is
    /// listed.
    template <typename Changed, typename Compare>
    void take_listed(NetWorld& world, ReplicationCounters& counters, Changed changed,
                     Compare compare) {
        std::span<DueObject> due(listed.data(), listed.size());
        while (!due.empty()) {
            const std::span<DueObject> some = due.first(std::min<std::size_t>(due.size(), 64));
            due = due.subspan(some.size());
            const std::uint64_t done = update_few_words(some, world, counters);
            for (std::size_t i = 0; i < some.size(); ++i) {
                if ((done >> i & 1) != 0) {
                    changed(some[i]);
                } else {
                    compare(some[i]);
                }
            }
        }
        listed.clear();
    }

    /// Between flushes, see KeptRoom.
    void trim() { trim_all(listed, left_over); }

    KeptVector<DueObject> listed;
    std::uint64_t count = 0;  ///< that were due, in this flush
    KeptVector<DueObject> left_over;

  private:
    /// See ChangelistState. Of all of them it asks for the memory.
    [[nodiscard]] static std::uint64_t update_few_words(std::span<DueObject> due, NetWorld& world,
                                                        ReplicationCounters& counters) {
        // What an object leads to is asked for some objects ahead. By measuring: far enough for
        // the memory to be there.
        constexpr std::size_t steps_ahead = 4;
        std::array<ChangelistState::ToUpdate, 64> objects;
        for (std::size_t i = 0; i < due.size() + steps_ahead; ++i) {
            if (i < due.size()) {
                due[i].info->prefetch();
            }
            if (const std::size_t now = i - steps_ahead; now < due.size()) {
                DueObject& one = due[now];
                if (one.memory == nullptr) {
                    one.memory = world.object_memory(one.info->object());
                }
                // An object without memory counts as known to differ, so the comparison handles it.
                objects[now] = {&one.info->changelist_state(), one.memory,
                                one.memory != nullptr ? one.known : DueObject::Known::Differs};
            }
        }
        return ChangelistState::update_few_words({objects.data(), due.size()}, counters);
    }
};

}  // namespace replayout
