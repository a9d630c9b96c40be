// SPDX-License-Identifier: MIT
//
// One value of a struct with a NetDeltaSerializer, see docs/wire_format.md, "Deltas": what
// net_delta_serialize writes from the state that the receiver holds, and the state that it makes.
#pragma once

#include <replayout/bit_writer.h>
#include <replayout/net_delta.h>
#include <replayout/shadow_state.h>

#include "write_context.h"

namespace replayout {

class DeltaWriter {
  public:
    /// The value at `leaf`, which is never in an array.
    DeltaWriter(WriteContext& context, const RepLayoutCmd& cmd, ConstShadowBuffer leaf) noexcept
        : context_(context), cmd_(cmd), leaf_(leaf) {}

    void write(BitWriter& writer);
    /// The delta stands in the block, whether it was written or copied.
    void note_sent();

  private:
    [[nodiscard]] RepHandle handle() const noexcept { return RepHandle{cmd_.relative_handle}; }
    /// There is nothing to send: the value is left out.
    void note_unchanged(Version from, Version to);
    void keep_state(const NetDeltaStatePtr& made);

    WriteContext& context_;
    const RepLayoutCmd& cmd_;
    ConstShadowBuffer leaf_;
};

}  // namespace replayout
