// SPDX-License-Identifier: MIT
//
// Objects that are looked at in every flush, and what it takes to see that they did not change: of
// each so little, and that so close together, that of most nothing else is touched.
//
//     due        1 1 1 0 1 1 1 1 ...
//     polled     1 1 1 0 1 1 0 1 ...    the others are compared
//     changed    0 1 0 0 0 0 . 0 ...    of the polled ones, found by a scan of object and shadow
#pragma once

#include <replayout/netdriver/net_world.h>
#include <replayout/reflection/memory.h>
#include <replayout/scan_plan.h>

#include "bit_row.h"
#include "object_store.h"

#include <array>
#include <bit>
#include <cstdint>

namespace replayout {

class PolledObjects {
  public:
    explicit PolledObjects(MemoryResource* resource)
        : objects_(resource),
          with_references_(resource),
          unasked_(resource),
          with_leaves_(resource),
          restless_(resource),
          handles_(Allocator<ObjectHandle>(resource)),
          scanned_(Allocator<ScannedObject>(resource)) {}

    /// From now on the object is scanned, and compared only if it differs; or no longer.
    void set(ObjectIndex index, const ServerObject& info, bool is_polled) {
        const ScannedObject scanned = info.changelist_state().scanned();
        if (!is_polled || scanned.plan == nullptr) {
            forget(index);
            return;
        }
        objects_.insert(index);
        if (scanned.plan->asks_leaves()) {
            with_leaves_.insert(index);
            restless_.grow_to(index);
        }
        if (info.changelist_state().layout().has_references()) {
            with_references_.insert(index);
            unasked_.insert(index);
        }
        handles_.grow_to(index, ObjectHandle{});
        scanned_.grow_to(index, ScannedObject{});
        handles_[index] = info.object();
        scanned_[index] = scanned;
    }
    void forget(ObjectIndex index) noexcept {
        objects_.erase(index);
        with_references_.erase(index);
        with_leaves_.erase(index);
        restless_.erase(index);
    }
    /// Call it once before the scans of a flush, with PackageMap::binding_count(). If it has grown,
    /// all objects with references are compared once instead of scanned.
    void begin(std::uint64_t binding_count) {
        if (binding_count_ != binding_count) {
            binding_count_ = binding_count;
            unasked_.merge(with_references_);
        }
    }
    /// Which of the objects 64 * word and on must be compared without a scan: their references must
    /// be asked, or they changed last time and a scan would cost as much as the compare.
    [[nodiscard]] std::uint64_t unscanned(std::size_t word, std::uint64_t objects) const noexcept {
        return (unasked_.word(word) | restless_.word(word)) & objects;
    }
    /// One of these was compared.
    void compared(ObjectIndex index, bool has_changed, bool has_unasked_references) noexcept {
        if (!has_unasked_references) {
            unasked_.erase(index);
        }
        if (!has_changed) {
            restless_.erase(index);
        }
    }

    /// Those among objects 64 * word and on.
    [[nodiscard]] std::uint64_t word(std::size_t word) const noexcept {
        return objects_.word(word);
    }
    /// Scans objects 64 * word and on, and sets `memory` of each. Removes from `objects` those
    /// without memory. Notes those that changed and whose leaves a scan asks, see unscanned().
    [[nodiscard]] ScanPlan::Findings scan(std::size_t word, std::uint64_t& objects, NetWorld& world,
                                          std::array<const void*, 64>& memory) {
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
        const ScanPlan::Findings found = find_changed(scanned, memory.data(), objects);
        if (const std::uint64_t restless = found.changed & with_leaves_.word(word); restless != 0) {
            restless_.merge_word(word, restless);
        }
        return found;
    }

  private:
    BitRow objects_;
    BitRow with_references_;  // polled objects whose layout has references
    BitRow unasked_;          // references must be asked; may hold objects that are not polled
    BitRow with_leaves_;      // polled objects with ScanPlan::asks_leaves()
    BitRow restless_;         // of with_leaves_: they changed when compared or scanned last
    std::uint64_t binding_count_ = 0;
    ByObject<ObjectHandle> handles_;
    ByObject<ScannedObject> scanned_;
};

}  // namespace replayout
