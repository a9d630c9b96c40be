// SPDX-License-Identifier: MIT
//
// From the bits of a block to an object.
//
// A block is read twice: once to check every count, length, text and run against its limits, then
// to apply it. What fails the first reading has touched nothing.
//
// One order, always: pre_net_receive; all values; the callbacks of fast arrays, and what they lost
// goes; post_net_receive; the notifies (on_rep), in the order of declaration, base first, once per
// property that really changed, or that was received and asks for RepNotify::Always;
// post_rep_notifies. The same order holds when references are bound later. Hooks and notifies may
// do anything to their object; they must not destroy it.
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/change_mask.h>
#include <replayout/package_map.h>
#include <replayout/receiving_rep_state.h>
#include <replayout/rep_layout.h>

#include <cstdint>
#include <utility>

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
    friend class KeyedArrayFinisher;
    friend class KeyedArrayReader;
    friend class NotifyQueue;
    friend class StructReader;
    /// What became of an element of a keyed array in this block.
    enum class ElementChange : std::uint8_t { Removed, Added, Changed };
    struct KeyedChange {
        CmdIndex array;
        ElementChange change;
        std::uint64_t key;
    };
    struct KeyPlace {
        std::uint64_t key;
        std::uint32_t index;
    };
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
    Vector<NetGUID> guids_;              // that one value names
    Vector<std::uint32_t> struct_bits_;  // lengths of the structs of a block, in order
    std::size_t next_struct_ = 0;        // that is to be applied
    Vector<PreviousValue> previous_values_;
    Vector<KeyedChange> keyed_changes_;                     // of the block, in order
    Vector<KeyPlace> places_;                               // of one keyed array, by ascending key
    Vector<std::uint64_t> removed_keys_;                    // of one keyed array
    Vector<std::uint32_t> element_indices_;                 // likewise
    Vector<std::pair<std::int64_t, std::uint32_t>> ranks_;  // likewise, with the index
};

struct ReceiveContext {
    PackageMap& package_map;
    ReceiveScratch& scratch;
    std::uint32_t references_max = 4'096;  ///< of one object, ids in kept values included
    /// Ids that references of this object were set to, and ids that they named before; appended. An
    /// id can be in both. May be null.
    Vector<NetGUID>* named = nullptr;
    Vector<NetGUID>* dropped = nullptr;
    /// The block must end where the reader does, or it is malformed.
    bool must_fill_reader = false;
    /// Of one object: bits of structs with a NetSerializer that name objects, kept to be read
    /// again.
    std::uint32_t kept_bytes_max = 1024 * 1024;
    /// Set when a limit was reached: a reference is null, whatever it should name, and a struct
    /// that names objects stayed as it was.
    bool has_too_many_references = false;
    /// Values that their own type would not take (StringOps::assign); they stayed as they were.
    std::uint64_t values_refused = 0;
    /// Values of which net_serialize said that it failed (ok = false).
    std::uint64_t values_failed = 0;
    /// Values of which net_serialize said that they are not fully mapped.
    std::uint64_t values_unmapped = 0;
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

/// The object behind `guid` appeared (`target` not null) or vanished (null), and the package map
/// answers so already: every reference of `object` that names it is set, every value of a
/// NetSerializer that named it is read again from its bits, and notifies and hooks run. Returns the
/// number of references and values that changed.
std::uint32_t rebind_references(const RepLayout& layout, void* object, ReceivingRepState& state,
                                NetGUID guid, ObjectHandle target, ReceiveContext& context);

}  // namespace replayout
