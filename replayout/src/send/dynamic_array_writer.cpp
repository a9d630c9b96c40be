// SPDX-License-Identifier: MIT
#include "dynamic_array_writer.h"

#include <algorithm>

namespace replayout {

void write_dynamic_array(WriteContext& context, CmdIndex index, const ShadowArray& array,
                         const OwedVersions& position, std::uint32_t depth, ElementSpan span,
                         BitWriter& writer) {
    const bool is_optional = context.layout().cmd(index).property->kind == PropertyKind::Optional;
    const ArrayElements elements(context, index, array, position, depth);
    if (is_optional) {
        writer.write_bool(elements.count() != 0);
    } else {
        writer.write_packed_uint(elements.count());
    }
    if (elements.count() == 0) {
        return;
    }
    const std::uint32_t handle_count = elements.scope().handle_count;
    ChangeMask& changed = context.scratch().elements[depth];  // leaves of all elements
    changed.reset(elements.count() * handle_count);
    const std::uint32_t end = std::min(span.end, elements.count());
    for (std::uint32_t i = span.begin; i < end; ++i) {
        const std::uint32_t offset = i * handle_count;
        elements.collect_owed(i, elements.owed_at(i), offset, changed);
        elements.complete_groups(i, offset, changed);
    }
    if (is_optional && handle_count == 1) {
        changed.set(0);  // a set would cost more than the value does
    } else {
        write_change_mask(writer, changed, EmptySet::Possible);
    }
    elements.write_leaves(0, changed, writer);
}

}  // namespace replayout
