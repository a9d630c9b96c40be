// SPDX-License-Identifier: MIT
//
// Object against shadow without touching either, to find what changed and was not marked as
// changed.
#pragma once

#include <replayout/rep_layout.h>

namespace replayout {

/// Whether a compare of the property would find a change. What it would leave out (see RepLimits)
/// is no change.
[[nodiscard]] bool differs_from_shadow(const RepLayout& layout, const RepParentCmd& parent,
                                       ConstObjectBuffer object, ConstShadowBuffer shadow);

/// Whether the leaf is what its shadow holds. Unlike differs_from_shadow(), a value that cannot be
/// sent counts as different. Compares handles of references, not which objects have them.
[[nodiscard]] bool is_same_leaf(const RepLayout& layout, CmdIndex index, ConstObjectBuffer object,
                                ConstShadowBuffer shadow);

/// Whether a fast array of the property holds a change that its own marks do not tell of: of an
/// item, or of which items there are. Of an item without an id nobody was ever told.
[[nodiscard]] bool misses_item_marks(const RepLayout& layout, const RepParentCmd& parent,
                                     ConstObjectBuffer object, ConstShadowBuffer shadow);

}  // namespace replayout
