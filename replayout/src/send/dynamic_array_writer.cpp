// SPDX-License-Identifier: MIT
#include "dynamic_array_writer.h"

#include <algorithm>

namespace replayout {

void DynamicArrayWriter::collect(ElementSpan span) {
    const std::uint32_t handle_count = elements_.scope().handle_count;
    changed_.reset(elements_.count() * handle_count);
    const std::uint32_t end = std::min(span.end, elements_.count());
    for (std::uint32_t i = span.begin; i < end; ++i) {
        const std::uint32_t offset = i * handle_count;
        elements_.collect_owed(i, elements_.owed_at(i), offset, changed_);
        elements_.complete_groups(i, offset, changed_);
    }
}

void DynamicArrayWriter::write(ElementSpan span, BitWriter& writer) {
    if (is_optional_) {
        writer.write_bool(elements_.count() != 0);
    } else {
        writer.write_packed_uint(elements_.count());
    }
    if (elements_.count() == 0) {
        return;
    }
    collect(span);
    if (is_optional_ && elements_.scope().handle_count == 1) {
        changed_.set(0);  // a set would cost more than the value does
    } else {
        write_change_mask(writer, changed_, EmptySet::Possible);
    }
    std::uint32_t run_end = 0;
    for (std::uint32_t bit = changed_.next(0); bit < changed_.bit_count() && !writer.overflowed();
         bit = changed_.next(run_end)) {
        run_end = changed_.next_clear(bit);
        elements_.write_run(bit, run_end, writer);
    }
}

}  // namespace replayout
