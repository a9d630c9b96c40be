// SPDX-License-Identifier: MIT
//
// Counts heap allocations between two points. The program that links allocation_counter.cpp
// replaces the global operator new; the library takes its memory from there by way of the default
// resource.
#pragma once

#include <cstdint>

namespace replayout::bench {

/// Calls of operator new so far, on any thread, in this process.
[[nodiscard]] std::uint64_t allocation_count() noexcept;

}  // namespace replayout::bench
