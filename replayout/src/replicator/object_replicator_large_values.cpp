// SPDX-License-Identifier: MIT
//
// Values that are too large for a packet travel reliably, beside the packets of blocks, and are
// paused meanwhile. A value that nobody takes is left out.
#include <replayout/block_counts.h>
#include <replayout/object_replicator.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace replayout {

RepHandle ObjectReplicator::large_value() const noexcept {
    REPLAYOUT_ASSERT(parts_.has_large_value);
    return RepHandle{parts_.large_value.handle_begin};
}

void ObjectReplicator::collect_large_value(ChangeMask& only) const {
    REPLAYOUT_ASSERT(parts_.has_large_value && object_->version() == pair_.sent_version);
    only.reset(layout().handle_count());
    for (std::uint32_t bit = parts_.owed.next(parts_.large_value.handle_begin - 1);
         bit + 1 < parts_.large_value.handle_end; bit = parts_.owed.next(bit + 1)) {
        only.set(bit);
    }
}

std::size_t ObjectReplicator::measure_large_value(const SendContext& context) {
    SendContext own = own_context(context);
    collect_large_value(own.scratch.owed);
    return measure_block(*object_, parts_position(), own.scratch.owed, own);
}

SendResult ObjectReplicator::replicate_large_value(BitWriter& writer, const SendContext& context) {
    REPLAYOUT_ASSERT(writer.bit_count() % 8 == 0 && !writer.overflowed());
    SendContext own = own_context(context);
    const std::size_t begin_bytes = writer.byte_count();
    const RepHandle value = large_value();
    if (!is_as_taken()) {
        // Another value by now, or not for this receiver any more: what is owed is found anew.
        parts_.has_large_value = false;
        owe(parts_.large_value, parts_.taken.all_versions());
        is_initial_ = is_initial_ || parts_.taken.is_initial;
        return SendResult::Nothing;
    }
    collect_large_value(own.scratch.owed);
    own.array_steps_left = std::numeric_limits<std::size_t>::max();  // a message pays for itself
    const OwedVersions position = parts_position();
    const SendResult result = send_properties(*object_, position, own.scratch.owed, writer, own);
    if (result == SendResult::DoesNotFit) {
        return result;
    }
    parts_.has_large_value = false;
    note_sent_values(own.scratch, own.scratch.owed, parts_.large_value, position);
    if (result == SendResult::Whole) {
        has_sent_ = true;
        deltas_.value_sent(own.scratch.deltas);
        paused_.add(parts_.large_value, object_->version(), 1);
        // It was written for where the pair stood when the parts began.
        paused_.note_lost(layout(), parts_.large_value, this->position().at(value).lost);
        pair_.send_part();  // until it is delivered, the pair is not exact
        count_block(writer.byte_count() - begin_bytes, BlockMiss::TooLarge, own);
    }
    return result;
}

void ObjectReplicator::leave_out_large_value(SendContext& context) {
    if (!std::exchange(parts_.has_large_value, false)) {
        return;
    }
    ++context.counters.values_over_limit;
    log(LogLevel::Error, "a value of \"" + std::string(layout().type().name()) +
                             "\" is larger than a packet and is not sent");
    for (std::uint32_t bit = parts_.owed.next(parts_.large_value.handle_begin - 1);
         bit + 1 < parts_.large_value.handle_end; bit = parts_.owed.next(bit + 1)) {
        const RepHandle handle{bit + 1};
        left_out_.note(layout(), {&handle, 1}, parts_position(), pair_.sent_version);
    }
}

void ObjectReplicator::large_value_delivered(RepHandle value) {
    paused_.fragment_delivered(value);
    while (const auto delivered = paused_.take_delivered()) {
        resume(*delivered);
    }
}

void ObjectReplicator::resume(const PausedValues::Entry& value) {
    pair_.delivered();
    // Whatever it became while it was paused is owed now, and what was lost of it, and only that.
    owe(value.handles, value.missed(pair_.sent_version));
    deltas_.value_delivered(RepHandle{value.handles.handle_begin}, missed_);
    owe_missed_deltas();
    // What it named may have come while it was paused.
    const auto is_ready = [&](const WaitingValue& waiting) {
        return waiting.is_mapped && value.handles.contains(waiting.value.handle);
    };
    for (const WaitingValue& waiting : waiting_) {
        if (is_ready(waiting)) {
            owe_again(waiting.value.handle);
        }
    }
    waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), is_ready), waiting_.end());
}

}  // namespace replayout
