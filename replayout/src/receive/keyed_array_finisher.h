// SPDX-License-Identifier: MIT
//
// What is left to do with the keyed arrays of an object when all values of a block are written, and
// the ranks that both ends begin with.
#pragma once

#include <replayout/receive_properties.h>

#include <cstddef>
#include <cstdint>

namespace replayout {

/// Both ends begin with the archetype, and give its elements the same ranks.
[[nodiscard]] std::int64_t archetype_rank(const RepLayout& layout, const RepLayoutCmd& cmd,
                                          std::uint64_t key, std::int64_t otherwise) noexcept;

/// For each keyed array that the block changed, in order of declaration: tells a fast array what is
/// about to go, what was added and what changed; takes away what goes; brings the elements into
/// their order, where that is kept.
void finish_keyed_arrays(const RepLayout& layout, std::byte* object, ReceivingRepState& state,
                         ReceiveContext& context);

/// The same in the middle of an update in parts, for arrays of atomic structs alone: such a struct
/// is whole in its part, and is never seen otherwise.
void finish_grouped_arrays(const RepLayout& layout, std::byte* object, ReceivingRepState& state,
                           ReceiveContext& context);

}  // namespace replayout
