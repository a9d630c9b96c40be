// SPDX-License-Identifier: MIT
#include "put_off_values.h"

#include <algorithm>

namespace replayout {

void PutOffValues::add(ObjectIndex index, RepHandle handle) {
    Wait& wait = values_[{index, handle.value}];
    wait.flushes = wait.flushes == 0 ? 1 : std::min(2 * wait.flushes, flushes_max);
    wait.flushes_left = wait.flushes;
}

bool PutOffValues::contains(ObjectIndex index) const noexcept {
    const auto value = values_.lower_bound({index, 0});
    return value != values_.end() && value->first.first == index;
}

bool PutOffValues::mark(ObjectIndex index, ChangeMask& handles) const noexcept {
    bool is_any = false;
    for (auto value = values_.lower_bound({index, 0});
         value != values_.end() && value->first.first == index; ++value) {
        handles.set(value->first.second - 1);
        is_any = true;
    }
    return is_any;
}

}  // namespace replayout
