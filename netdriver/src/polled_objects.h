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
          with_references_(resource),
          unasked_(resource),
          with_leaves_(resource),
          restless_(resource),
          handles_(Allocator<ObjectHandle>(resource)),
          scanned_(Allocator<ScannedObject>(resource)) {}

    /// A scan is all that an object needs that did not change; or it is not, any more.
    void set(std::uint32_t index, const NetworkObjectInfo& info, bool is_polled) {
        const ScannedObject scanned = info.changelist_state().scanned();
        if (!is_polled || scanned.plan == nullptr) {
            objects_.erase(index);
            with_references_.erase(index);
            with_leaves_.erase(index);
            restless_.erase(index);
            return;
        }
        objects_.insert(index);
        if (scanned.plan->asks_leaves()) {
            with_leaves_.insert(index);
            restless_.grow(index + 1);
        }
        if (info.changelist_state().layout().has_references()) {
            with_references_.insert(index);
            unasked_.insert(index);
        }
        grow_row(handles_, index + 1, ObjectHandle{});
        grow_row(scanned_, index + 1, ScannedObject{});
        handles_[index] = info.object();
        scanned_[index] = scanned;
    }
    void forget(std::uint32_t index) noexcept {
        objects_.erase(index);
        with_references_.erase(index);
        with_leaves_.erase(index);
        restless_.erase(index);
    }
    /// Before a tick's looks: PackageMap::binding_count(). When it has grown, a reference may mean
    /// another object than it did, which a look does not tell.
    void begin(std::uint64_t binding_count) {
        if (binding_count_ != binding_count) {
            binding_count_ = binding_count;
            unasked_.merge(with_references_);
        }
    }
    /// Those of the objects 64 * word and on that are compared now without a look: what their
    /// references mean is to be asked, or they changed the last time, and a look would ask leaves.
    [[nodiscard]] std::uint64_t take_unlooked(std::size_t word, std::uint64_t objects) noexcept {
        const std::uint64_t unasked = unasked_.word(word) & objects;
        if (unasked != 0) {
            unasked_.set_word(word, unasked_.word(word) & ~unasked);
        }
        return unasked | (restless_.word(word) & objects);
    }
    /// It was compared without a look, and did not change.
    void rests(std::uint32_t index) noexcept { restless_.erase(index); }

    /// Those among objects 64 * word and on.
    [[nodiscard]] std::uint64_t word(std::size_t word) const noexcept {
        return objects_.word(word);
    }
    /// Looks at polled objects 64 * word and on, and tells the memory of each. Leaves out of
    /// `objects` those of which the world has no memory.
    [[nodiscard]] ScanPlan::Findings changed_of(std::size_t word, std::uint64_t& objects,
                                                NetWorld& world,
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
    BitRow with_references_;  // of these
    BitRow unasked_;          // their references are to be asked; also of some that are not polled
    BitRow with_leaves_;      // of polled ones: ScanPlan::asks_leaves()
    BitRow restless_;         // of these: they changed when they were looked at last
    std::uint64_t binding_count_ = 0;
    // By index.
    Vector<ObjectHandle> handles_;
    Vector<ScannedObject> scanned_;
};

}  // namespace replayout
