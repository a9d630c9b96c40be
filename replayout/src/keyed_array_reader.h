// SPDX-License-Identifier: MIT
//
// Keyed arrays at a receiver: what is left to do when all values of a block are written.
#pragma once

#include <replayout/receive_properties.h>

#include <cstddef>

namespace replayout {

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
