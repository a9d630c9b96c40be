// SPDX-License-Identifier: MIT
//
// The memory of the arrays and texts of an object, without that of the object itself, for callers
// that bound the sum over many objects.
#pragma once

#include <replayout/rep_layout.h>

#include <cstdint>

namespace replayout {

/// Bytes of elements and of texts, as DecodeBudget::allocation_bytes counts them: an array by its
/// elements, a text by its length, with those inside elements. Memory of structs with
/// a NetSerializer is not counted. O(properties, and elements that hold arrays or texts).
[[nodiscard]] std::uint64_t dynamic_bytes(const RepLayout& layout, const void* object);

}  // namespace replayout
