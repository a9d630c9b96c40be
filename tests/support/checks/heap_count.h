// SPDX-License-Identifier: MIT
//
// Counts what the whole test program takes from the global heap, for whoever reaches past the
// memory resources.
#pragma once

#include <cstdint>

namespace replayout {

/// Calls of operator new so far, in all its forms.
[[nodiscard]] std::uint64_t heap_allocation_count() noexcept;
/// Bytes that these asked for, given back or not.
[[nodiscard]] std::uint64_t heap_bytes_taken() noexcept;

}  // namespace replayout
