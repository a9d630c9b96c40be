// SPDX-License-Identifier: MIT
//
// Where a value stands, for the log: "shots[1]", "loadout.ammo[3].kind". Elements of keyed arrays
// stand in another order at each end, so of those there is no number: "stock[].count".
#pragma once

#include <replayout/data_buffer.h>
#include <replayout/handle.h>
#include <replayout/receiving_rep_state.h>
#include <replayout/rep_layout.h>

#include <cstddef>
#include <string>

namespace replayout {

/// Of a value that is received.
[[nodiscard]] std::string value_path(const RepLayout& layout, const RepPath& path);

/// Of the value that lies at `value` in the shadow, below the root leaf `handle`. Walks its
/// elements.
[[nodiscard]] std::string value_path(const RepLayout& layout, RepHandle handle,
                                     ConstShadowBuffer shadow, const std::byte* value);

}  // namespace replayout
