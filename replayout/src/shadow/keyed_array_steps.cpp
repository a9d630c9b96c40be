// SPDX-License-Identifier: MIT
#include "keyed_array_steps.h"

#include <replayout/shadow_state.h>

#include <utility>

namespace replayout {

namespace {

/// What has its own memory, or may have, takes so many times as long as a number.
[[nodiscard]] std::size_t move_weight(RepLayoutCmdType type) noexcept {
    return is_written_in_place(type) ? 1 : 16;
}

}  // namespace

std::size_t move_steps(const RepLayout& layout, const RepScope& element,
                       std::size_t count) noexcept {
    std::size_t weight = 0;
    for (std::uint32_t bit = 0; bit < element.handle_count; ++bit) {
        weight += move_weight(layout.cmd(layout.cmd_of(element, RepHandle{bit + 1})).type);
    }
    return count * weight / 64;
}

std::size_t keyed_array_steps_max(const RepLayout& layout, CmdIndex index,
                                  const ShadowKeyedArray& array, const OwedVersions& position,
                                  std::size_t value_bits, bool is_cut) noexcept {
    Version oldest = position.held_version;
    if (!position.lost.is_empty()) {
        oldest = std::min(oldest, position.lost.after);
    }
    // What the receiver has, and what it is told of: all that is here, and all that is gone.
    std::size_t count = std::size_t{array.count()} + array.deletions.size();
    const bool is_restarted = array.restart_version(position) != 0;
    if (is_restarted ||
        (oldest < array.forgotten_through && position.joined_version < array.forgotten_through)) {
        // Four times the limit is what a receiver may have (full_set_parts_factor); the fifth is
        // what the array has now.
        count = std::size_t{layout.limits().array_count_max} * (full_set_parts_factor + 1);
    } else if (oldest < array.forgotten_through && !array.begins_empty) {
        // Who was sent nothing before has what the archetype had.
        const ConstShadowBuffer archetype = std::as_const(layout.archetype()).buffer();
        count +=
            shadow_value<ShadowKeyedArray>(archetype + layout.cmd(index).shadow_offset).count();
    }
    const bool is_full = is_cut || is_restarted || array.is_forgotten(position, oldest);
    // Each key takes eight bits at least, behind a bit and two counts; a full set takes away what
    // it does not name.
    const std::size_t key_count =
        is_full ? count : std::min((value_bits - std::min<std::size_t>(value_bits, 17)) / 8, count);
    std::size_t steps = 1;
    if (is_full) {
        steps += sort_steps(count * 2);  // a full set may make it forget as many
    } else if (is_worth_sorting(count, key_count)) {
        steps += sort_steps(count);
    } else {
        // Twice, as a receiver that has fewer elements may sort them already.
        steps += search_steps(count, key_count) * 2;
    }
    steps += change_steps(key_count);
    if (layout.cmd(index).property->array_key.order != ArrayOrder::Kept) {
        return steps + tell_steps(count);
    }
    return steps + merge_steps(count, key_count) +
           move_steps(layout, layout.element_scope(index), count);
}

}  // namespace replayout
