// SPDX-License-Identifier: MIT
#include <replayout/update_under_way.h>

namespace replayout::detail {

void UpdateUnderWay::hold(const LeafSpan& last_span, std::size_t held_steps) {
    keyed_changes_.end_part();
    old_values_.end_part();
    last_span_ = last_span;
    held_steps_ += held_steps;
}

void UpdateUnderWay::drop() noexcept {
    old_values_.clear();
    keyed_changes_.clear();
    held_steps_ = 0;
    layout_ = nullptr;
    state_ = nullptr;
}

}  // namespace replayout::detail
