// SPDX-License-Identifier: MIT
//
// Objects that the game removed while reliable calls of them were on their way. The game is done
// with such an object; the server keeps its shadow, and its slot, until each client that has it has
// those calls too, or the wait is over. The state that the calls mean is in the shadow: an object
// that was called since it was compared is compared once more, while the game still has it.
#include "replication_server_client.h"

#include <algorithm>
#include <string>

#include "value_scope.h"

namespace replayout {

bool ReplicationServer::is_family_called(const ReplicationSender& sender,
                                         std::uint32_t index) const {
    bool is_called = false;
    objects_.for_each_there_is(
        index, [&](std::uint32_t member) { is_called = is_called || sender.is_called(member); });
    return is_called;
}

bool ReplicationServer::must_depart(std::uint32_t index) const {
    bool has_departing_part = false;
    if (!departures_.empty()) {
        objects_.for_each_there_is(index, [&](std::uint32_t member) {
            has_departing_part = has_departing_part || objects_.at(member)->is_removed();
        });
    }
    return has_departing_part ||
           std::any_of(clients_.begin(), clients_.end(), [&](const Client* client) {
               return is_joined(*client) &&
                      (client->sender.is_leaving(index) || is_family_called(client->sender, index));
           });
}

void ReplicationServer::depart_family(NetObjectId id, ChannelCloseReason reason) {
    is_any_leaving_ = true;
    family_.clear();
    objects_.for_each_in_family(id.index, [&](std::uint32_t index) { family_.push_back(index); });
    // Inner before outer.
    std::reverse(family_.begin(), family_.end());
    for_each_joined([&](Client& client) {
        // A part that is hidden with its outer goes with it.
        const bool waits =
            client.sender.is_leaving(id.index) || is_family_called(client.sender, id.index);
        for (const std::uint32_t index : family_) {
            if (waits) {
                client.sender.leave_behind_calls(index, reason);
            } else {
                client.sender.exclude(index, reason);
            }
        }
    });
    // Only after that: a regular pair counts as having been sent what its object is.
    for (const std::uint32_t index : family_) {
        compare_before_departure(index);
    }
    for (const std::uint32_t index : family_) {
        depart(index, reason);
    }
}

void ReplicationServer::compare_before_departure(std::uint32_t index) {
    NetworkObjectInfo& info = *objects_.at(index);
    const bool is_meant = std::any_of(clients_.begin(), clients_.end(), [&](const Client* client) {
        return is_joined(*client) && client->sender.has_fresh_call(index);
    });
    if (!is_meant || !info.changelist_state().is_due()) {
        return;
    }
    const ValueScope calling_out(is_calling_out_, true);
    if (const void* memory = world_.object_memory(info.object())) {
        (void)info.changelist_state().update(memory, shadow_ids_, stats_.replication);
    }
}

void ReplicationServer::compare_before_hiding(std::uint32_t index) {
    NetworkObjectInfo& info = *objects_.at(index);
    if (!info.changelist_state().is_due()) {
        return;
    }
    // The flush may compare the object once more, but a regular pair expects one new version a
    // flush.
    for_each_joined([&](Client& client) { client.sender.leave_bundles(index); });
    const ValueScope calling_out(is_calling_out_, true);
    const void* memory = world_.object_memory(info.object());
    if (memory != nullptr &&
        info.changelist_state().update(memory, shadow_ids_, stats_.replication)) {
        changes_.objects.set(index);
    }
}

void ReplicationServer::depart(std::uint32_t index, ChannelCloseReason reason) {
    NetworkObjectInfo& info = *objects_.at(index);
    objects_.retire_id(objects_.id_at(index));
    info.set_removed();
    info.hand_back();
    guids_.unbind(info.guid());
    live_.clear(index);
    due_.clear(index);
    calendar_.forget(index);
    polled_.forget(index);
    dormancy_.forget(index);
    conditional_.erase(index);
    interest_.forget(index);
    changes_.objects.clear(index);
    departures_.push_back({index, reason});
}

void ReplicationServer::introduce_departing(Client& client) {
    for (const Departure& departure : departures_) {
        client.sender.exclude(departure.index, departure.reason);
    }
}

void ReplicationServer::close_left() {
    if (!is_any_leaving_) {
        return;  // most often
    }
    is_any_leaving_ = false;
    for_each_joined([&](Client& client) {
        note_dropped_calls(client, client.sender.close_left());
        for (const std::uint32_t index : client.sender.returned()) {
            show_returned(client, index);
        }
        is_any_leaving_ = is_any_leaving_ || client.sender.has_leaving();
    });
    if (!departures_.empty()) {
        remove_departed_objects();
    }
}

void ReplicationServer::show_returned(Client& client, std::uint32_t index) {
    if (objects_.is_part(index)) {
        show_part(client, index);
    } else {
        show_family(client, index, true);
    }
    interest_.relevancy_changed(client.interest, index);
}

void ReplicationServer::remove_departed_objects() {
    const auto is_over = [&](const Departure& departure) {
        return objects_.first_part_of(departure.index) == ObjectStore::no_index &&
               std::none_of(clients_.begin(), clients_.end(), [&](const Client* client) {
                   return is_joined(*client) && client->sender.is_leaving(departure.index);
               });
    };
    std::size_t kept_count = 0;
    for (const Departure departure : departures_) {
        if (!is_over(departure)) {
            departures_[kept_count++] = departure;
            continue;
        }
        for (Client* client : clients_) {
            client->sender.object_removed(departure.index, departure.reason);
        }
        if (objects_.is_part(departure.index)) {
            objects_.detach(departure.index);
        }
        forget_object(objects_.id_at(departure.index));
    }
    departures_.resize(kept_count);
}

void ReplicationServer::end_oldest_departure() {
    if (departures_.empty()) {
        return;
    }
    const std::uint32_t index = departures_.front().index;
    for_each_joined(
        [&](Client& client) { note_dropped_calls(client, client.sender.close_left_now(index)); });
    remove_departed_objects();
}

void ReplicationServer::note_dropped_calls(const Client& client,
                                           std::span<const LeavingChannels::DroppedCalls> dropped) {
    for (const LeavingChannels::DroppedCalls& object : dropped) {
        if (told_of_dropped_calls_.test(object.index)) {
            continue;
        }
        told_of_dropped_calls_.insert(object.index);
        const NetworkObjectInfo& info = *objects_.at(object.index);
        const PeerId peer = client.connection.peer();
        peer_log_.write_printable(
            LogLevel::Warning, peer,
            "object " + std::to_string(info.guid().value) + " of class \"" +
                std::string(info.changelist_state().layout().name()) + "\" went before " +
                std::to_string(object.count) + " of its reliable calls had arrived at peer " +
                std::to_string(peer.value) +
                ": a close waits for NetConfig::close_waits_for_calls_ms at most, and no longer "
                "than until there are channels_max objects",
            now_);
    }
}

}  // namespace replayout
