// SPDX-License-Identifier: MIT
//
// What a keyed array of a block makes its receiver do, in array steps of a DecodeBudget. The
// receiver counts it, and the sender beforehand, so that no packet asks for more than is granted.
// docs/wire_format.md, section 14, has the same in words.
#pragma once

#include <replayout/keyed_array.h>
#include <replayout/owed_versions.h>
#include <replayout/rep_layout.h>

#include <algorithm>
#include <bit>
#include <cstddef>

namespace replayout {

/// Putting `count` elements in order, once to check and once to apply.
[[nodiscard]] constexpr std::size_t sort_steps(std::size_t count) noexcept {
    return count * static_cast<std::size_t>(std::bit_width(count)) / 2;
}

/// A few keys are looked for one by one.
[[nodiscard]] constexpr bool is_worth_sorting(std::size_t count, std::size_t key_count) noexcept {
    return key_count > static_cast<std::size_t>(std::bit_width(count));
}

/// Looking for each of `key_count` keys among `count` elements.
[[nodiscard]] constexpr std::size_t search_steps(std::size_t count,
                                                 std::size_t key_count) noexcept {
    return count * key_count / 4;
}

/// Bringing `count` elements into their order, of which `key_count` came, went or moved: a look at
/// each, and the sorting of those and of as many that they drove out.
[[nodiscard]] constexpr std::size_t merge_steps(std::size_t count, std::size_t key_count) noexcept {
    return count * 2 + sort_steps(std::min(count, key_count) * 4);
}

/// Noting that `key_count` elements come or go, and looking for them once more when they do. A set
/// of what is left has no byte for one that goes.
[[nodiscard]] constexpr std::size_t change_steps(std::size_t key_count) noexcept {
    return key_count * 8;
}

/// Telling a game which of `count` elements changed.
[[nodiscard]] constexpr std::size_t tell_steps(std::size_t count) noexcept {
    return count / 2;
}

/// What a part of an update leaves for its end, of an array of `count` elements of which it changed
/// `key_count`: the passes through the array are made once, however many parts changed it.
[[nodiscard]] constexpr std::size_t held_steps(std::size_t count, std::size_t key_count,
                                               bool has_order, bool is_going_on) noexcept {
    const std::size_t sorting = has_order ? sort_steps(std::min(count, key_count) * 4) : 0;
    return change_steps(key_count) + sorting + (is_going_on ? 0 : count * 2);
}

/// Moving each of `count` elements once, which merge_steps() has not: that grows with what an
/// element has. By its leaves, as an element need not be of one size on both ends.
[[nodiscard]] std::size_t move_steps(const RepLayout& layout, const RepScope& element,
                                     std::size_t count) noexcept;

/// Of one keyed array in a block for a receiver at `position`, in at most `value_bits`: what it
/// can cost at most. `is_cut`: written as a part (send_part), so it may be a full set.
[[nodiscard]] std::size_t keyed_array_steps_max(const RepLayout& layout, CmdIndex index,
                                                const ShadowKeyedArray& array,
                                                const OwedVersions& position,
                                                std::size_t value_bits, bool is_cut) noexcept;

}  // namespace replayout
