// SPDX-License-Identifier: MIT
//
// A real copy of what one receiver holds of one object, made of the blocks that reached it and of
// nothing else. The engine keeps no such copies (SendingRepState says why it need not); this one is
// for debugging and for tests, to prove it right.
//
//     MaterializedShadow copy(*layout, package_map, resource);   // the archetype: a fresh object
//     copy.apply(block);                                         // for each block, as it arrives
//     if (!copy.equals(changelist_state)) { ... }                // the receiver lacks something
//
// It reads blocks by code of its own, on purpose: shared with receive_properties() are the bit
// reader and the set of handles, and nothing above. So a mistake that writing and reading make
// alike shows here.
//
// A receiver's copy is the sender's shadow in form, and equal to it value by value:
//
//     plain               its bytes; a bool as true or false
//     Quantised           its integers
//     String              its text
//     Object              the id; whether the receiver has an object for it is not looked at
//     NetSerializeStruct  as its type says, or if both serialize to the same bits: a struct may
//                         round what it sends, and leave members out
//     NetDeltaStruct      as its type says
//     DynamicArray        the count, and every element
//     KeyedArray          the same elements by key, of the same ranks where order is kept
#pragma once

#include <replayout/changelist_state.h>
#include <replayout/package_map.h>
#include <replayout/rep_layout.h>
#include <replayout/shadow_state.h>

#include <cstddef>
#include <span>
#include <string>

namespace replayout {

class MaterializedShadow {
  public:
    /// Starts as the layout's archetype. `package_map` serves the references inside of
    /// NetSerializer structs: it should know every id that it ever gave. All three must outlive the
    /// copy.
    MaterializedShadow(const RepLayout& layout, PackageMap& package_map, MemoryResource* resource);

    /// Takes one whole property block, as send_properties() and send_part() write it. False:
    /// `block` is not one, and the copy is worth nothing any more.
    [[nodiscard]] bool apply(std::span<const std::byte> block);

    /// The first handle whose value is not the one in `state`, those in `excused` (bit i: handle
    /// i + 1) left out; 0 when there is none.
    [[nodiscard]] RepHandle find_difference(const ChangelistState& state,
                                            const ChangeMask& excused) const;
    /// Every value is the one in `state`, which must be of the same layout.
    [[nodiscard]] bool equals(const ChangelistState& state) const;
    [[nodiscard]] bool equals(RepHandle handle, const ChangelistState& state) const;

    /// Both values of a property, for people.
    [[nodiscard]] std::string describe(RepHandle handle, const ChangelistState& state) const;

    /// The values, in shadow form.
    [[nodiscard]] ConstShadowBuffer buffer() const noexcept { return values_.buffer(); }

  private:
    const RepLayout* layout_;
    PackageMap* package_map_;
    MemoryResource* resource_;
    ShadowState values_;
    /// By handle: of a delta what was taken last, of a keyed array where it began anew.
    FlatMap<std::uint32_t, Version> versions_;
};

}  // namespace replayout
