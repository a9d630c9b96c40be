// SPDX-License-Identifier: MIT
//
// From the bits of a block to an object.
//
// A block is read twice: once to check every count, length, text and run against its limits, then
// to apply it. What fails the first reading has touched nothing.
//
// Notifies (on_rep) run after all properties of the block were applied, once per property whose
// value really changed, in the order of declaration, base first. A notify may do anything to its
// object; it must not destroy it.
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/change_mask.h>
#include <replayout/package_map.h>
#include <replayout/receiving_rep_state.h>
#include <replayout/rep_layout.h>

#include <cstdint>

namespace replayout {

/// Memory that reading needs and that one reader after another may use.
class ReceiveScratch {
  public:
    explicit ReceiveScratch(MemoryResource* resource);
    ~ReceiveScratch();
    ReceiveScratch(const ReceiveScratch&) = delete;
    ReceiveScratch& operator=(const ReceiveScratch&) = delete;

    /// For values that live no longer than the reading of a block. Keeps what it took.
    [[nodiscard]] MemoryResource* resource() noexcept { return &values_; }

  private:
    friend class PropertyReader;
    friend class NotifyQueue;
    struct PreviousValue {
        std::uint32_t parent_index;
        void* value;
        bool is_changed;
    };

    // One block is much like the one before: its values fit where that one's were.
    std::pmr::unsynchronized_pool_resource values_;
    ChangeMask handles_;
    Vector<ChangeMask> elements_;  // by depth
    Vector<std::byte> text_;
    Vector<PreviousValue> previous_values_;
};

struct ReceiveContext {
    PackageMap& package_map;
    ReceiveScratch& scratch;
    std::uint32_t references_max = 4'096;  ///< of one object
    /// Ids that references of this object were set to, and ids that they named before; appended. An
    /// id can be in both. May be null.
    Vector<NetGUID>* named = nullptr;
    Vector<NetGUID>* dropped = nullptr;
    /// The block must end where the reader does, or it is malformed.
    bool must_fill_reader = false;
    /// Set when references_max was reached: a reference is null, whatever it should name.
    bool has_too_many_references = false;
    /// Values that their own type would not take (StringOps::assign); they stayed as they were.
    std::uint64_t values_refused = 0;
};

/// Reads one block, which ends at a byte boundary, and applies it to `object`, of the layout's
/// type. False: the block is malformed, the reader has failed, and neither object nor state was
/// touched.
[[nodiscard]] bool receive_properties(const RepLayout& layout, BitReader& reader, void* object,
                                      ReceivingRepState& state, ReceiveContext& context);

/// Reads one block and throws it away, with the same checks: for an object that does not exist
/// here.
[[nodiscard]] bool skip_properties(const RepLayout& layout, BitReader& reader,
                                   ReceiveContext& context);

/// The object behind `guid` appeared (`target` not null) or vanished (null): every reference of
/// `object` that names it is set, and its notify runs. Returns the number of references set.
std::uint32_t rebind_references(const RepLayout& layout, void* object, ReceivingRepState& state,
                                NetGUID guid, ObjectHandle target, ReceiveScratch& scratch);

}  // namespace replayout
