// SPDX-License-Identifier: MIT
//
// Object against shadow. What differs is copied into the shadow and reported: as a handle of the
// object, and inside arrays as a version per element leaf.
#pragma once

#include <replayout/change_mask.h>
#include <replayout/package_map.h>
#include <replayout/previous_values.h>
#include <replayout/rep_layout.h>
#include <replayout/shadow_state.h>

namespace replayout {

/// Why a value cannot be sent.
struct OverLimit {
    enum class Reason : std::uint8_t {
        Size,     ///< of a text in bytes, of an array in elements
        NotUtf8,  ///< a text
        Other,    ///< something of its group, its keys, or what a struct says of itself
    };

    const RepLayoutCmd* cmd = nullptr;  ///< its own, its group's or array's; null: there is none
    Reason reason = Reason::Other;
    std::size_t size = 0;
    std::size_t size_max = 0;
};

struct CompareContext {
    const RepLayout& layout;
    const ShadowMemory& memory;
    /// Gives references their ids. Null only for an archetype.
    PackageMap* package_map;
    Version version;  ///< what a change is stamped with
    /// Parents that are compared: those that are marked, and RepLayout::polled_parents(). Null:
    /// all.
    const ChangeMask* due = nullptr;
    /// Of these, handles that are left as they are. Null: none.
    const ChangeMask* inactive = nullptr;
    /// Is told what root leaves were, which needs last_changed. Null: nobody is.
    PreviousValues* previous = nullptr;
    /// Of root leaves, by handle: when each changed last. Null: nobody asks.
    Version* last_changed = nullptr;
    /// Values that were left out because they exceed a limit or are not UTF-8; see RepLimits.
    std::uint64_t over_limit_count = 0;
    OverLimit over_limit = {};  ///< the first of these
    /// Where `due` is null: runs of the object before this one are known to be equal.
    std::uint32_t run_start = 0;
    /// Handles were given to objects since the last comparison: the same one may mean another.
    bool are_handles_new = false;
    /// What Identical tolerates counts as changed, in properties with Property::sent_within_us.
    bool is_exact = false;
    /// Something in such a property was tolerated.
    bool has_tolerated = false;
};

/// New: the element did not exist before, so every leaf counts as changed, whatever its value. A
/// regrown element may equal a fresh shadow while some client still holds the old one.
enum class ElementAge : std::uint8_t { Known, New };

/// An element of an array against its shadow, with a version for each leaf. Returns whether
/// anything changed. CompareContext::previous must be null: what elements were is not kept.
[[nodiscard]] bool update_element(CompareContext& context, const RepScope& element,
                                  ConstObjectBuffer object, ShadowBuffer shadow,
                                  Version* leaf_versions, ElementAge age);

/// The keyed array at `object` against its shadow at `shadow`. Returns whether anything changed.
[[nodiscard]] bool update_keyed_array(CompareContext& context, CmdIndex index,
                                      ConstObjectBuffer object, ShadowBuffer shadow);

/// Whether no key comes twice in the keyed array at `object`, as far as update_keyed_array() would
/// look at it. What the shadow holds stays as it is.
[[nodiscard]] bool has_unique_keys(CompareContext& context, CmdIndex index,
                                   ConstObjectBuffer object, ShadowBuffer shadow);

/// One pass over the object. `changed` has a bit per handle, and gets those that changed. Returns
/// whether any did.
[[nodiscard]] bool compare_properties(CompareContext& context, ConstObjectBuffer object,
                                      ShadowBuffer shadow, ChangeMask& changed);

}  // namespace replayout
