// SPDX-License-Identifier: MIT
//
// Reads a block, the set of handles and then their values, in one of two ways that take exactly the
// same steps through the bits: check, which writes nothing, and apply, which cannot fail on what
// was checked.
//
// Checking looks at the object for one thing, how many elements its arrays have: only growth takes
// memory, and so only growth is charged to the budget. Without an object, for a block that is
// thrown away, every array is empty at first and is charged in full.
#pragma once

#include <replayout/receive_properties.h>

#include "read_context.h"

namespace replayout {

class PropertyReader {
  public:
    /// To check what is to be applied to `object`, of which `state` is known. Null: to nothing, so
    /// that nothing will grow.
    PropertyReader(const RepLayout& layout, BitReader& reader, ReceiveContext& receiving,
                   const std::byte* object, const ReceivingRepState* state) noexcept
        : context_(layout, reader, receiving, object, state) {}

    /// To apply.
    PropertyReader(const RepLayout& layout, BitReader& reader, ReceiveContext& receiving,
                   std::byte* object, ReceivingRepState& state, NotifyQueue& notifies) noexcept
        : context_(layout, reader, receiving, object, state, notifies) {}

    /// One block up to its end. False: malformed.
    [[nodiscard]] bool check_block();
    [[nodiscard]] bool apply_block();
    /// Found when checking: the update so far must end before the block is applied, because it
    /// does not go on after the last part, or takes away from a keyed array that earlier parts
    /// changed, or brings back what they took away; or because its end would cost too much.
    [[nodiscard]] bool must_end_update() const noexcept { return context_.must_end_update(); }
    /// After checking: what its keyed arrays leave to be done when the update ends, in array steps.
    [[nodiscard]] std::size_t held_steps() const noexcept { return context_.held_steps(); }
    /// After checking a part: what it brings of its last leaf.
    [[nodiscard]] const detail::LeafSpan& last_span() const noexcept { return context_.span(); }

  private:
    void read_block();

    ReadContext context_;
};

}  // namespace replayout
