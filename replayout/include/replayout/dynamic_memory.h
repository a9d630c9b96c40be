// SPDX-License-Identifier: MIT
//
// What the arrays and texts of an object take beside the object itself, for callers that bound the
// sum over many objects.
#pragma once

#include <replayout/rep_layout.h>

#include <cstdint>

namespace replayout {

/// Bytes of elements and of texts, as DecodeBudget::allocation_bytes counts them: an array by its
/// elements, a text by its length, what lies in elements included. What structs with a
/// NetSerializer keep is not known. O(properties, and elements that hold arrays or texts).
[[nodiscard]] std::uint64_t dynamic_bytes(const RepLayout& layout, const void* object);

}  // namespace replayout
