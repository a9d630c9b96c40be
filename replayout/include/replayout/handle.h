// SPDX-License-Identifier: MIT
//
// Integers that count different things and therefore do not mix.
#pragma once

#include <compare>
#include <cstdint>

namespace replayout {

/// Names one replicated leaf within its list: 1-based, 0 ends a list. Relative to the object, or
/// inside a dynamic array to that array: element_index * handles_per_element + handle_in_element.
struct RepHandle {
    std::uint32_t value = 0;

    friend constexpr auto operator<=>(RepHandle, RepHandle) noexcept = default;
};

/// Position of a command in RepLayout::cmds().
struct CmdIndex {
    std::uint16_t value = 0;

    friend constexpr auto operator<=>(CmdIndex, CmdIndex) noexcept = default;
};

/// Position of a function in RepLayout::functions().
struct FunctionIndex {
    std::uint16_t value = 0;

    friend constexpr auto operator<=>(FunctionIndex, FunctionIndex) noexcept = default;
};

/// Position of a top-level property (or one element of a C array) in RepLayout::parents().
struct ParentIndex {
    std::uint16_t value = 0;

    friend constexpr auto operator<=>(ParentIndex, ParentIndex) noexcept = default;
};

}  // namespace replayout
