// SPDX-License-Identifier: MIT
#include "received_batch.h"

#include "control_message.h"

#include <algorithm>

namespace replayout {

bool ReceivedBatch::receive(std::span<const std::byte> message) {
    std::uint32_t count = 0;
    if (!count_.has_value() && read_initial_batch_started(message, count)) {
        count_ = count;
        objects_.begin_initial_batch();
        return true;
    }
    if (count_.has_value() && !is_finished_ && read_initial_batch_finished(message)) {
        is_finished_ = true;
        return true;
    }
    return false;
}

void ReceivedBatch::tell_end(NetWorld& world) {
    if (is_finished_ && !is_end_told_) {
        is_end_told_ = true;
        world.initial_batch_finished();
    }
}

InitialBatchProgress ReceivedBatch::progress() const noexcept {
    InitialBatchProgress progress;
    progress.object_count = count_.value_or(0);
    progress.spawned_count = objects_.opened_count();
    if (count_.has_value()) {
        progress.spawned_count = std::min(progress.spawned_count, *count_);
    }
    progress.is_started = objects_.has_begun_initial_batch();
    progress.is_finished = is_end_told_;
    return progress;
}

void ReceivedBatch::begin_anew() noexcept {
    count_.reset();
    is_finished_ = false;
}

}  // namespace replayout
