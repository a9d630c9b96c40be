// SPDX-License-Identifier: MIT
//
// When a server looks at its objects. What is in `due_` is compared in the next flush; an object
// with a frequency of its own waits in the calendar in between.
#include "replication_server_client.h"

namespace replayout {

namespace {

/// Each is half of the one before, down to an eighth and below.
[[nodiscard]] std::uint8_t band_of_priority(float priority) noexcept {
    float least = 8;
    std::uint8_t band = 0;
    while (priority < least && band + 1u < SendOrder::band_count) {
        ++band;
        least /= 2;
    }
    return band;
}

}  // namespace

void ReplicationServer::begin_due(std::uint32_t index) {
    if (dormancy_.dormant.test(index)) {
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
    tolerated_.advance(now, [&](std::uint32_t index) {
        if (dormancy_.dormant.test(index)) {
            return false;  // it stays what it was when it fell asleep
        }
        objects_.at(index)->changelist_state().mark_exact();
        set_due(index);
        return true;
    });
    calendar_.advance(now, [&](std::uint32_t index) {
        if (!dormancy_.dormant.test(index)) {
            due_.set(index);
        }
    });
}

void ReplicationServer::update_polled(std::uint32_t index) {
    const NetworkObjectInfo& info = *objects_.at(index);
    polled_.set(index, info, !info.is_torn_off() && !calendar_.is_paced(index));
}

void ReplicationServer::set_class_net_update_frequency(const RepLayout& layout,
                                                       const NetUpdateFrequency& frequency) {
    const std::uint32_t number = layouts_.number_of_added(layout);
    if (class_frequencies_.empty()) {
        class_frequencies_.resize(layouts_.count());
    }
    class_frequencies_[number] = frequency;
}

void ReplicationServer::begin_updates(std::uint32_t index) {
    const std::uint32_t whole = objects_.root_of(index);
    NetUpdateFrequency frequency;
    if (whole != index) {
        frequency = calendar_.frequency_of(whole);
    } else if (!class_frequencies_.empty()) {
        frequency = class_frequencies_[objects_.at(index)->layout_number()];
    }
    calendar_.set(index, frequency, whole);
    if (whole == index && !class_bands_.empty()) {
        objects_.set_band(index, class_bands_[objects_.at(index)->layout_number()]);
    }
    update_polled(index);
    force_due(index);
}

void ReplicationServer::set_class_net_priority(const RepLayout& layout, float priority) {
    if (class_bands_.empty()) {
        class_bands_.resize(layouts_.count(), SendOrder::ordinary_band);
    }
    class_bands_[layouts_.number_of_added(layout)] = band_of_priority(priority);
}

void ReplicationServer::set_net_priority(NetObjectId id, float priority) {
    REPLAYOUT_ASSERT(objects_.contains(id) && !objects_.at(id.index)->is_subobject());
    objects_.set_band(id.index, band_of_priority(priority));
}

PriorityInputs ReplicationServer::priority_inputs(const Client& client) const noexcept {
    return {calendar_, interest_, client.interest, priority_distance_};
}

OwedUpdate ReplicationServer::owed_to(PeerId peer, NetObjectId id) const {
    REPLAYOUT_ASSERT(objects_.contains(id));
    const Client* client = find_joined(peer);
    if (client == nullptr) {
        return {OwedReason::NotJoined, 0};
    }
    const PriorityInputs inputs = priority_inputs(*client);
    return {client->sender.owed_reason(id.index, inputs),
            client->sender.step_down(id.index, inputs)};
}

void ReplicationServer::set_net_update_frequency(NetObjectId id,
                                                 const NetUpdateFrequency& frequency) {
    REPLAYOUT_ASSERT(objects_.contains(id) && !objects_.at(id.index)->is_subobject());
    objects_.for_each_in_family(id.index, [&](std::uint32_t index) {
        calendar_.set(index, frequency, id.index);
        update_polled(index);
        force_due(index);
    });
}

NetUpdateFrequency ReplicationServer::net_update_frequency_of(NetObjectId id) const {
    REPLAYOUT_ASSERT(objects_.contains(id));
    return calendar_.frequency_of(id.index);
}

void ReplicationServer::set_bytes_per_second_max(PeerId peer, std::uint32_t bytes) {
    if (Client* const client = find_client(peer)) {
        client->connection.packets().set_bytes_per_second_max(bytes);
    }
}

void ReplicationServer::force_net_update(NetObjectId id) {
    flush_dormancy(id);
    objects_.for_each_in_family(id.index, [&](std::uint32_t index) {
        force_paced(index);
        for_each_joined([&](Client& client) { client.sender.force(index); });
    });
}

}  // namespace replayout
