// SPDX-License-Identifier: MIT
//
// Object against shadow without touching either, to find properties that changed and were not
// marked as changed.
#pragma once

#include <replayout/rep_layout.h>

namespace replayout {

/// Whether a compare of the property would find a change. What it would leave out (see RepLimits)
/// is no change.
[[nodiscard]] bool differs_from_shadow(const RepLayout& layout, const RepParentCmd& parent,
                                       ConstObjectBuffer object, ConstShadowBuffer shadow);

}  // namespace replayout
