// SPDX-License-Identifier: MIT
#include "property_reader.h"

#include "notify_queue.h"
#include "read_value.h"
#include "struct_reader.h"

namespace replayout {

bool PropertyReader::check_block() {
    REPLAYOUT_ASSERT(context_.is_checking());
    BitReader& reader = context_.reader();
    StructReader::begin_check(context_.receiving().scratch);
    read_block();
    if (context_.receiving().must_fill_reader && reader.bits_left() != 0) {
        reader.fail();
    }
    return !reader.failed();
}

bool PropertyReader::apply_block() {
    REPLAYOUT_ASSERT(!context_.is_checking());
    StructReader::begin_apply(context_.receiving().scratch);
    read_block();
    return !context_.reader().failed();
}

void PropertyReader::read_block() {
    const RepLayout& layout = context_.layout();
    BitReader& reader = context_.reader();
    const detail::UpdateUnderWay& update = context_.parts().update;
    ChangeMask& handles = context_.parts().handles;
    read_change_mask(reader, handles, layout.handle_count(), EmptySet::Impossible);
    const bool is_part =
        context_.is_checking() && (context_.receiving().more_parts_follow || update.has_begun());
    bool is_first = true;
    for (std::uint32_t bit = handles.next(0); bit < handles.bit_count() && !reader.failed();
         bit = handles.next(bit + 1)) {
        const CmdIndex index = layout.cmd_of(layout.root(), RepHandle{bit + 1});
        const ParentIndex parent = layout.cmd(index).parent_index;
        const bool is_written = !context_.is_checking() && !is_skipped(layout.cmd(index));
        ReadPlace place = context_.place();
        place.path.handles[0] = bit + 1;
        if (is_written) {
            context_.notifies().before_write(parent);
        }
        if (is_part) {
            context_.span() = {};
            context_.span().handle = bit + 1;
        }
        if (read_value(context_, index, place) && is_written) {
            context_.notifies().mark_changed(parent);
        }
        if (is_first && is_part && update.has_begun()) {
            context_.end_update_before(!context_.span().follows(update.last_span()));
        }
        is_first = false;
    }
    reader.finish_byte();
}

}  // namespace replayout
