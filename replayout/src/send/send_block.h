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

/// A block of so many values stands. Its writer is done with it.
inline void count_block_values(std::uint32_t count, const BlockFindings& findings,
                               SendContext& context) {
    if (context.is_counting_sent) {
        context.counters.properties_sent += count;
        count_sent_values(findings.values, context);
    }
}

/// All but deltas: what the last send found out, which was nothing mostly.
inline void reset_findings(BlockFindings& findings) noexcept {
    findings.carried.clear();
    findings.unmapped.clear();
    findings.put_off.clear();
    findings.left_out.clear();
    findings.values.clear();
}

/// Forgets what the last send found out. Returns the room for what this one does.
[[nodiscard]] inline BlockFindings& begin_send(SendScratch& scratch) noexcept {
    BlockFindings& findings = findings_of(scratch);
    reset_findings(findings);
    if (!findings.deltas.empty() || !findings.unchanged.empty()) {
        findings.forget_deltas();
    }
    return findings;
}

/// What the value at `handle` can cost its receiver beyond its bytes: only keyed arrays do.
[[nodiscard]] std::size_t array_steps_of(const ChangelistState& state, const OwedVersions& position,
                                         RepHandle handle, std::size_t value_bits, bool is_cut);

/// Where a value of an atomic group was left out, so is what else is owed of the group.
void leave_out_groups(const RepLayout& layout, const ChangeMask& owed, Vector<RepHandle>& left_out);

}  // namespace replayout
