// SPDX-License-Identifier: MIT
//
// One leaf of an object or of an element out of the shadow, and runs of plain leaves, see
// docs/wire_format.md, "Values".
#pragma once

#include <replayout/bit_writer.h>
#include <replayout/quantise.h>
#include <replayout/shadow_state.h>

#include "write_context.h"

#include <cstddef>

namespace replayout {

/// The value at `leaf`, which is no array.
void write_leaf(WriteContext& context, const RepLayoutCmd& cmd, ConstShadowBuffer leaf,
                BitWriter& writer);

[[nodiscard]] inline QuantisedValue load_quantised_leaf(const RepLayoutCmd& cmd,
                                                        ConstShadowBuffer leaf) noexcept {
    return load_quantised(leaf.data(), quantised_size(cmd.property->quantisation));
}

/// The bits of a value that is_written_in_place().
[[nodiscard]] inline std::size_t bit_count_in_place(const RepLayoutCmd& cmd,
                                                    ConstShadowBuffer leaf) noexcept {
    switch (cmd.type) {
        case RepLayoutCmdType::Bool:
        case RepLayoutCmdType::BitBool:
            return 1;
        case RepLayoutCmdType::Quantised:
            return quantised_bit_count(cmd.property->quantisation, load_quantised_leaf(cmd, leaf));
        default:
            return std::size_t{cmd.element_size} * 8;
    }
}

/// Leaves of the scope at `memory` from `begin` to `end`, which lie in one run of plain leaves.
inline void write_plain_leaves(const RepLayout& layout, const RepScope& scope,
                               ConstShadowBuffer memory, RepHandle begin, RepHandle end,
                               BitWriter& writer) noexcept {
    const ShadowOffset first = layout.plain_leaf(scope, begin).shadow_begin;
    const ShadowOffset last = layout.plain_leaf(scope, RepHandle{end.value - 1}).shadow_end;
    writer.write_bytes({(memory + first).data(), last.value - first.value});
}

}  // namespace replayout
