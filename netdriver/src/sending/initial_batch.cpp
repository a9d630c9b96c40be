// SPDX-License-Identifier: MIT
#include "initial_batch.h"

#include <replayout/reflection/diagnostics.h>

#include <algorithm>
#include <functional>

namespace replayout {

void InitialBatch::add(ObjectIndex index, float order) {
    REPLAYOUT_ASSERT(state_ == State::Before);
    candidates_.push_back({order, index});
    waiting_.insert(index);
}

void InitialBatch::begin() {
    REPLAYOUT_ASSERT(state_ == State::Before);
    state_ = State::Sending;
    is_by_index_ =
        std::adjacent_find(candidates_.begin(), candidates_.end(),
                           [](const Candidate& left, const Candidate& right) {
                               return left.order != right.order || left.index > right.index;
                           }) == candidates_.end();
    if (is_by_index_) {
        return;
    }
    // Not sorted: most of the order is needed only in later ticks, and whoever joins in this one
    // with others would pay for all of it now.
    std::make_heap(candidates_.begin(), candidates_.end(), std::greater<>());
}

ObjectIndex InitialBatch::next() noexcept {
    if (is_by_index_) {
        while (next_ < candidates_.size() && !waiting_.test(candidates_[next_].index)) {
            ++next_;
        }
        return next_ < candidates_.size() ? candidates_[next_].index : BitRow::no_bit;
    }
    while (!candidates_.empty()) {
        const ObjectIndex index = candidates_.front().index;
        if (waiting_.test(index)) {
            return index;
        }
        std::pop_heap(candidates_.begin(), candidates_.end(), std::greater<>());
        candidates_.pop_back();
    }
    return BitRow::no_bit;
}

void InitialBatch::take_sent(std::size_t number) noexcept {
    whole_.erase(slot_of(sent_[number].id));
    pieces_.erase(slot_of(sent_[number].id));
    sent_[number] = sent_.back();
    sent_.pop_back();
}

void InitialBatch::finish() {
    REPLAYOUT_ASSERT(is_over());
    state_ = State::Finished;
    // A session is much longer than its beginning.
    candidates_.clear();
    next_ = 0;
    candidates_.shrink_to_fit();
    sent_.shrink_to_fit();
    waiting_.release();
    whole_.release();
    pieces_.release();
}

}  // namespace replayout
