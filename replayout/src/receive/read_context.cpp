// SPDX-License-Identifier: MIT
#include "read_context.h"

namespace replayout {

// A sender cannot cut an atomic group, so it may be more than is granted, and goes alone then: only
// its first array asks. Which arrays of a layout that was described are in one is not known here,
// so there that is all of a block.
bool ReadContext::begin_keyed_array(RepHandle array) {
    if (array.value < unit_end_) {
        return !reader_.failed();
    }
    const RepGroup* group = layout_.find_group(layout_.root(), array);
    unit_end_ = group == nullptr ? array.value + 1u : group->handle_end;
    if (layout_.is_receive_only()) {
        unit_end_ = layout_.handle_count() + 1;
    }
    return reader_.begin_keyed_array();
}

}  // namespace replayout
