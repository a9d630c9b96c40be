// SPDX-License-Identifier: MIT
//
// One value of a struct with a NetSerializer, see docs/wire_format.md, "Values": what net_serialize
// writes, and what becomes of a value that it refuses, or that it does not map fully.
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/bit_writer.h>
#include <replayout/shadow_state.h>

#include "write_context.h"

namespace replayout {

class StructWriter {
  public:
    /// The value at `leaf`, in an array maybe.
    StructWriter(WriteContext& context, const RepLayoutCmd& cmd, ConstShadowBuffer leaf) noexcept
        : context_(context), cmd_(cmd), leaf_(leaf) {}

    void write(BitWriter& writer);

  private:
    /// net_serialize answered that the value is not fully mapped.
    void note_unmapped();
    /// Logs once for each property.
    void log_put_off();
    /// Writes the value again, see SendContext::is_validating. `bits` are those of the first time.
    void check_purity(BitReader bits);
    /// All receivers get the same bits.
    [[nodiscard]] bool is_shared() const noexcept {
        return has_flag(cmd_.flags, RepLayoutCmdFlags::IsSharedSerialization);
    }

    WriteContext& context_;
    const RepLayoutCmd& cmd_;
    ConstShadowBuffer leaf_;
};

}  // namespace replayout
