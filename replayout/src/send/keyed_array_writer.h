// SPDX-License-Identifier: MIT
//
// One keyed array on the wire, whole or in parts, see docs/wire_format.md, "Keyed arrays". What
// goes out, and how, KeyedArrayPlan decides.
#pragma once

#include <replayout/bit_writer.h>
#include <replayout/change_mask.h>

#include "array_elements.h"
#include "keyed_array_plan.h"
#include "write_context.h"

#include <cstdint>

namespace replayout {

/// What is written of a keyed array, in one part of it or at once.
struct KeyedPart {
    PlaceSpan places;      ///< a full set speaks of these
    ElementSpan span;      ///< the elements there, by ascending key
    bool is_full = false;  ///< all of them are listed: the receiver drops others
    bool has_deletions = false;
};

class KeyedArrayWriter {
  public:
    /// For the array at command `index`. All must outlive the writer.
    KeyedArrayWriter(WriteContext& context, CmdIndex index, const ShadowKeyedArray& array,
                     const OwedVersions& position) noexcept
        : context_(context), plan_(context, index, array, position) {}

    /// Writes all that is owed, for one block.
    void write_whole(BitWriter& writer);

    // In parts; see KeyedArrayCutter.
    void plan_parts() { plan_.plan_parts(); }
    [[nodiscard]] const KeyedArrayPlan& plan() const noexcept { return plan_; }
    void write_part(const KeyedPart& part, BitWriter& writer);

  private:
    /// Deletions and what changed, or the full set of the keys from the first to the last that
    /// there is anything to say of.
    [[nodiscard]] KeyedPart whole_part() const;
    void encode(const KeyedPart& part, BitWriter& writer) const;
    /// What precedes the elements, of which there are so many (`count`).
    void encode_head(const KeyedPart& part, std::uint32_t count, BitWriter& writer) const;
    [[nodiscard]] std::uint32_t count_listed(const KeyedPart& part) const;

    WriteContext& context_;
    KeyedArrayPlan plan_;
};

}  // namespace replayout
