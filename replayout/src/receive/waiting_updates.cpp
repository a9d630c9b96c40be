// SPDX-License-Identifier: MIT
#include <replayout/waiting_updates.h>

namespace replayout::detail {

void WaitingUpdates::add(const RepLayout& layout, OldValues& values) {
    const bool has_parts = values.has_earlier();
    const std::size_t begin = values_.size();
    values.move_to(values_);
    updates_.push_back({&layout, begin, values_.size(), has_parts});
}

void WaitingUpdates::drop() noexcept {
    for (const OldValue& value : values_) {
        release(memory_, value);
    }
    values_.clear();
    updates_.clear();
}

}  // namespace replayout::detail
