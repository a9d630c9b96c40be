// SPDX-License-Identifier: MIT
//
// Hints to the machine. An object that changed lies in a dozen places; where there are many objects
// none of them is near, and to wait for one after the other costs more than all that is done with
// them. Who walks over objects says some steps ahead which come.
//
// Always inline, here and in what does nothing but this: gcc takes such a function for one without
// effect, and leaves out the call.
#pragma once

#include <cstddef>
#include <cstdint>

namespace replayout {

/// These bytes are read or written soon. Never changes anything, whatever the address: null too, so
/// that who walks ahead need not ask. Counted in integers, as steps from null are no pointers.
[[gnu::always_inline]] inline void prefetch(const void* begin, std::size_t size) noexcept {
    constexpr std::size_t line_bytes = 64;
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    for (std::size_t offset = 0; offset < size; offset += line_bytes) {
        __builtin_prefetch(reinterpret_cast<const void*>(address + offset), 1);
    }
}

}  // namespace replayout
