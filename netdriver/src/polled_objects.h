// SPDX-License-Identifier: MIT
//
// Objects that are looked at in every flush, and what it takes to see that they did not change: of
// each so little, and that so close together, that of most nothing else is touched.
//
//     due        1 1 1 0 1 1 1 1 ...
//     polled     1 1 1 0 1 1 0 1 ...    of the others all is asked
//     changed    0 1 0 0 0 0 . 0 ...    of these, by a look at object and shadow
#pragma once

#include <replayout/netdriver/net_world.h>
#include <replayout/reflection/memory.h>
#include <replayout/scan_plan.h>

#include "bit_row.h"
#include "object_store.h"
#include "row_growth.h"

#include <array>
#include <bit>
#include <cstdint>

namespace replayout {

class PolledObjects {
  public:
    explicit PolledObjects(MemoryResource* resource)
        : objects_(resource),
          handles_(Allocator<ObjectHandle>(resource)),
          scanned_(Allocator<ScannedObject>(resource)) {}

    /// A scan is all that an object needs that did not change; or it is not, any more.
    void set(std::uint32_t index, const NetworkObjectInfo& info, bool is_polled) {
        const ScannedObject scanned = info.changelist_state().scanned();
        if (!is_polled || scanned.plan == nullptr) {
            objects_.erase(index);
            return;
        }
        objects_.insert(index);
        grow_row(handles_, index + 1, ObjectHandle{});
        grow_row(scanned_, index + 1, ScannedObject{});
        handles_[index] = info.object();
        scanned_[index] = scanned;
    }
    void forget(std::uint32_t index) noexcept { objects_.erase(index); }

    /// Those among objects 64 * word and on.
    [[nodiscard]] std::uint64_t word(std::size_t word) const noexcept {
        return objects_.word(word);
    }
    /// Looks at polled objects 64 * word and on, and tells the memory of each. Leaves out of
    /// `objects` those of which the world has no memory.
    [[nodiscard]] ScanPlan::Findings changed_of(std::size_t word, std::uint64_t& objects,
                                                NetWorld& world,
                                                std::array<const void*, 64>& memory) const {
        if (objects == 0) {
            return {};
        }
        const ObjectHandle* const handles = handles_.data() + 64 * word;
        const ScannedObject* const scanned = scanned_.data() + 64 * word;
        // All are asked for before the first is looked at, so that none has to be waited for.
        for (std::uint64_t left = objects; left != 0; left &= left - 1) {
            const auto i = static_cast<std::uint32_t>(std::countr_zero(left));
            memory[i] = world.object_memory(handles[i]);
            if (memory[i] == nullptr) [[unlikely]] {
                objects &= ~(std::uint64_t{1} << i);
                continue;
            }
            scanned[i].plan->prefetch(memory[i], scanned[i].shadow);
        }
        return find_changed(scanned, memory.data(), objects);
    }

  private:
    BitRow objects_;
    // By index.
    Vector<ObjectHandle> handles_;
    Vector<ScannedObject> scanned_;
};

}  // namespace replayout
