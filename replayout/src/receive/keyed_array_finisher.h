// SPDX-License-Identifier: MIT
//
// What is left to do with the keyed arrays of an object when all values of a block are written, and
// the ranks that both ends begin with.
#pragma once

#include <replayout/keyed_array.h>
#include <replayout/receive_properties.h>
#include <replayout/shadow_state.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace replayout {

/// Both ends begin with the archetype, and give its elements the same ranks.
[[nodiscard]] inline const ShadowKeyedArray& archetype_array(const RepLayout& layout,
                                                             const RepLayoutCmd& cmd) noexcept {
    return shadow_value<ShadowKeyedArray>(std::as_const(layout.archetype()).buffer() +
                                          cmd.shadow_offset);
}

/// InGroups, in the middle of an update in parts: arrays of atomic structs alone, as such a struct
/// is whole in its part, and is never seen otherwise.
enum class FinishedArrays : std::uint8_t { All, InGroups };

/// For each keyed array that the block changed, in order of declaration: tells a fast array what is
/// about to go, what was added and what changed; takes away what goes; brings the elements into
/// their order, where that is kept.
void finish_keyed_arrays(const RepLayout& layout, std::byte* object, ReceivingRepState& state,
                         ReceiveContext& context, FinishedArrays which = FinishedArrays::All);

}  // namespace replayout
