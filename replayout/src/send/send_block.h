// SPDX-License-Identifier: MIT
//
// What a whole block and a part have in common, see send_properties.h.
#pragma once

#include <replayout/block_counts.h>
#include <replayout/send_properties.h>

#include "property_writer.h"

#include <cstddef>
#include <cstdint>

namespace replayout {

/// A block of `handles` stands, of so many values. Its writer is done with it.
inline void count_block_values(const ChangeMask& handles, std::uint32_t count,
                               SendContext& context) {
    if (context.is_counting_sent) {
        context.counters.properties_sent += count;
        count_sent_values(handles, context);
    }
}

/// Apart, and not inline, as releasing states takes more registers than all else in a send.
[[gnu::noinline]] void forget_deltas(SendScratch& scratch) noexcept;

/// All but deltas: what the last send found out, which was nothing mostly.
inline void reset_findings(SendScratch& scratch) noexcept {
    scratch.unmapped.clear();
    scratch.put_off.clear();
    scratch.left_out.clear();
    scratch.carried.clear();
    scratch.array_steps = 0;
}

/// What the last send found out is no more.
inline void begin_send(SendScratch& scratch) noexcept {
    reset_findings(scratch);
    if (!scratch.deltas.empty() || !scratch.unchanged.empty()) {
        forget_deltas(scratch);
    }
}

/// What the value at `handle` can cost its receiver beyond its bytes: only keyed arrays do.
[[nodiscard]] std::size_t array_steps_of(const ChangelistState& state, const OwedVersions& position,
                                         RepHandle handle, std::size_t value_bits, bool is_cut);

/// Where a value of an atomic group was left out, so is what else is owed of the group.
void leave_out_groups(const RepLayout& layout, const ChangeMask& owed, Vector<RepHandle>& left_out);

}  // namespace replayout
