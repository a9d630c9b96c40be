// SPDX-License-Identifier: MIT
//
// One value of a struct with a NetSerializer, see docs/wire_format.md, "Values": what net_serialize
// writes, and what becomes of a value that it refuses, or that it does not map fully. For a struct
// with a NetDeltaSerializer, see "Deltas": what net_delta_serialize writes from the state that the
// receiver holds, and the state that it makes.
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/bit_writer.h>
#include <replayout/net_delta.h>
#include <replayout/shadow_state.h>

#include "write_context.h"

namespace replayout {

class StructWriter {
  public:
    /// The value at `leaf`, in an array maybe where it is no delta.
    StructWriter(WriteContext& context, const RepLayoutCmd& cmd, ConstShadowBuffer leaf) noexcept
        : context_(context), cmd_(cmd), leaf_(leaf) {}

    void write(BitWriter& writer);
    void write_delta(BitWriter& writer);
    /// The delta stands in the block, whether it was written or copied.
    void note_delta_sent();

  private:
    [[nodiscard]] RepHandle handle() const noexcept { return RepHandle{cmd_.relative_handle}; }
    /// Writing does not change the value; the one function of the game serves both directions and
    /// so takes it mutable.
    [[nodiscard]] void* value() const noexcept { return const_cast<std::byte*>(leaf_.data()); }
    /// The serializer failed: the property that is being written is left out, and the failure is
    /// logged once for all receivers.
    void note_failure();
    void keep_state(const NetDeltaStatePtr& made);
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
