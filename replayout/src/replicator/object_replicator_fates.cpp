// SPDX-License-Identifier: MIT
//
// What becomes of packets, and of the objects that values name: either may make values owed again.
#include <replayout/object_replicator.h>

#include <algorithm>

namespace replayout {

void ObjectReplicator::packet_delivered(std::uint64_t packet) {
    while (!records_.empty() && records_.front().packet == packet) {
        const bool is_more = records_.front().is_more;
        records_.erase(records_.begin());
        if (!is_more) {
            pair_.delivered();
            resolve(true);
        }
    }
    REPLAYOUT_ASSERT(std::none_of(records_.begin(), records_.end(),
                                  [&](const Record& record) { return record.packet == packet; }));
}

void ObjectReplicator::packet_lost(std::uint64_t packet) {
    while (!records_.empty() && records_.front().packet == packet) {
        const Record record = records_.front();
        records_.erase(records_.begin());
        paused_.note_lost(layout(), record.carried.range, record.carried.versions);
        if (!record.is_more) {
            pair_.delivered();  // resolved; what is owed for it follows
        }
        owe(record.carried.range, record.carried.versions);
        if (record.is_initial) {
            owe_initial(record.carried.range);
        }
        if (!record.is_more) {
            resolve(false);
        }
    }
    REPLAYOUT_ASSERT(std::none_of(records_.begin(), records_.end(),
                                  [&](const Record& record) { return record.packet == packet; }));
}

void ObjectReplicator::resolve(bool is_delivered) {
    if (layout().needs_held_version()) {
        in_flight_.resolved();
    }
    if (layout().has_delta_structs()) {
        deltas_.block_resolved(is_delivered, missed_);
        owe_missed_deltas();
    }
}

void ObjectReplicator::owe_missed_deltas() {
    while (!missed_.empty()) {
        const RepHandle handle = missed_.back();
        missed_.pop_back();
        owe_again(handle);
    }
}

void ObjectReplicator::object_mapped(NetGUID guid) {
    const auto is_ready = [&](const WaitingValue& waiting) {
        return waiting.value.guid == guid && !paused_.contains(waiting.value.handle);
    };
    for (WaitingValue& waiting : waiting_) {
        if (is_ready(waiting)) {
            owe_again(waiting.value.handle);
        } else if (waiting.value.guid == guid) {
            waiting.is_mapped = true;
        }
    }
    waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), is_ready), waiting_.end());
}

void ObjectReplicator::object_removed(NetGUID guid) {
    waiting_.erase(
        std::remove_if(waiting_.begin(), waiting_.end(),
                       [&](const WaitingValue& waiting) { return waiting.value.guid == guid; }),
        waiting_.end());
}

}  // namespace replayout
