// SPDX-License-Identifier: MIT
//
// When a server looks at its objects. What is in `due_` is compared in the next flush; an object
// with a frequency of its own waits in the calendar in between.
#include "replication_server.h"

namespace replayout {

void ReplicationServer::set_due(std::uint32_t index) {
    if (dormancy_.dormant.test(index) || due_.test(index)) {
        return;
    }
    if (calendar_.is_paced(index)) {
        calendar_.wait(index);
    } else {
        due_.set(index);
    }
}

void ReplicationServer::force_due(std::uint32_t index) {
    if (!dormancy_.dormant.test(index)) {
        calendar_.cancel(index);
        due_.set(index);
    }
}

void ReplicationServer::force_paced(std::uint32_t index) {
    if (calendar_.is_paced(index)) {
        force_due(index);
    }
}

void ReplicationServer::take_due(NetTime now) {
    calendar_.advance(now, [&](std::uint32_t index) {
        if (!dormancy_.dormant.test(index)) {
            due_.set(index);
        }
    });
}

void ReplicationServer::compare_due_objects() {
    std::uint32_t count = 0;
    for (std::uint32_t index = due_.next(0); index != BitRow::no_bit;
         index = due_.next(index + 1)) {
        NetworkObjectInfo& info = *objects_.at(index);
        ChangelistState& state = info.changelist_state();
        const void* memory = world_.object_memory(info.object());
        const bool has_changed = state.update(memory, shadow_ids_, stats_.replication);
        if (has_changed) {
            changed_.set(index);
        }
        const bool is_paced = calendar_.is_paced(index);
        if (is_paced) {
            calendar_.looked(index, has_changed);
        }
        const bool is_due_again = state.is_due() && !info.is_torn_off();
        if (!is_due_again || is_paced) {
            due_.clear(index);
        }
        if (is_due_again && is_paced) {
            calendar_.wait(index);
        }
        ++count;
    }
    stats_.replication.objects_skipped += objects_.object_count() - count;
}

void ReplicationServer::set_net_update_frequency(const RepLayout& layout,
                                                 const NetUpdateFrequency& frequency) {
    REPLAYOUT_ASSERT(frequency.is_valid());
    const std::uint32_t number = layouts_.number_of(layout);
    if (class_frequencies_.empty()) {
        class_frequencies_.resize(layouts_.count());
    }
    class_frequencies_[number] = frequency;
}

void ReplicationServer::begin_updates(std::uint32_t index) {
    std::uint32_t whole = index;
    while (objects_.at(whole)->is_subobject()) {
        whole = objects_.at(whole)->family().outer;
    }
    NetUpdateFrequency frequency;
    if (whole != index) {
        frequency = calendar_.frequency_of(whole);
    } else if (!class_frequencies_.empty()) {
        frequency = class_frequencies_[objects_.at(index)->layout_number()];
    }
    calendar_.set(index, frequency, whole);
    force_due(index);
}

void ReplicationServer::set_net_update_frequency(NetObjectId id,
                                                 const NetUpdateFrequency& frequency) {
    REPLAYOUT_ASSERT(objects_.contains(id) && !objects_.at(id.index)->is_subobject());
    objects_.for_each_in_family(id.index, [&](std::uint32_t index) {
        calendar_.set(index, frequency, id.index);
        force_due(index);
    });
}

NetUpdateFrequency ReplicationServer::net_update_frequency_of(NetObjectId id) const {
    REPLAYOUT_ASSERT(objects_.contains(id));
    return calendar_.frequency_of(id.index);
}

void ReplicationServer::set_bytes_per_second_max(PeerId peer, std::uint32_t bytes) {
    const auto found = clients_by_peer_.find(peer.value);
    if (found != clients_by_peer_.end()) {
        found->second->connection.packets().set_bytes_per_second_max(bytes);
    }
}

void ReplicationServer::force_net_update(NetObjectId id) {
    flush_dormancy(id);
    objects_.for_each_in_family(id.index, [&](std::uint32_t index) { force_paced(index); });
}

}  // namespace replayout
