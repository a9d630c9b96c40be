// SPDX-License-Identifier: MIT
#include "reorder_buffer.h"

#include <replayout/reflection/diagnostics.h>

#include <algorithm>

namespace replayout {

void ReorderBuffer::hold(std::uint64_t sequence, std::span<const std::byte> datagram) {
    REPLAYOUT_ASSERT(!is_full());
    const auto end = held_.begin() + count_;
    const auto position = std::lower_bound(
        held_.begin(), end, sequence,
        [](const Held& held, std::uint64_t number) { return held.sequence < number; });
    if (position != end && position->sequence == sequence) {
        return;
    }
    const auto index = position - held_.begin();
    if (held_.size() == count_) {
        held_.push_back({0, Vector<std::byte>(held_.get_allocator())});
    }
    std::rotate(held_.begin() + index, held_.begin() + count_, held_.begin() + count_ + 1);
    held_[static_cast<std::size_t>(index)].sequence = sequence;
    held_[static_cast<std::size_t>(index)].bytes.assign(datagram.begin(), datagram.end());
    ++count_;
}

std::span<const std::byte> ReorderBuffer::take_first() noexcept {
    REPLAYOUT_ASSERT(count_ > 0);
    // To the end of those in use, where its memory waits for the next one.
    std::rotate(held_.begin(), held_.begin() + 1, held_.begin() + count_);
    --count_;
    return {held_[count_].bytes.data(), held_[count_].bytes.size()};
}

}  // namespace replayout
