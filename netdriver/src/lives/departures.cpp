// SPDX-License-Identifier: MIT
#include "departures.h"

#include <algorithm>

namespace replayout {

Departures::Departures(const ServerEnvironment& environment, ServerObjects& objects,
                       ServerClients& clients, Relevancy& relevancy, CallWaits& waits)
    : all_(objects),
      objects_(objects.store),
      clients_(clients),
      relevancy_(relevancy),
      waits_(waits),
      departures_(Allocator<Departure>(&environment.memory.objects)),
      family_(Allocator<ObjectIndex>(&environment.memory.scratch)) {}

bool Departures::must_depart(ObjectIndex index) const {
    bool has_departing_part = false;
    if (!departures_.empty()) {
        objects_.for_each_there_is(index, [&](ObjectIndex member) {
            has_departing_part = has_departing_part || objects_.at(member)->is_removed();
        });
    }
    return has_departing_part ||
           std::any_of(clients_.begin(), clients_.end(), [&](const ServerClient* client) {
               return client->is_joined() && client->sender.may_hold_objects() &&
                      (client->sender.is_leaving(index) ||
                       waits_.is_family_called(client->sender, index));
           });
}

void Departures::depart(NetObjectId id, ChannelCloseReason reason) {
    waits_.note_leaving();
    family_.clear();
    objects_.for_each_in_family(slot_of(id), [&](ObjectIndex index) { family_.push_back(index); });
    // Inner before outer.
    std::reverse(family_.begin(), family_.end());
    clients_.for_each_joined([&](ServerClient& client) {
        // A part that is hidden with its outer goes with it.
        const bool waits = client.sender.is_leaving(slot_of(id)) ||
                           waits_.is_family_called(client.sender, slot_of(id));
        for (const ObjectIndex index : family_) {
            if (waits) {
                client.sender.leave_behind_calls(index, reason);
            } else {
                client.sender.exclude(index, reason);
            }
        }
    });
    // Only after that: a regular pair counts as having been sent what its object is.
    for (const ObjectIndex index : family_) {
        waits_.compare_before_departure(index);
    }
    for (const ObjectIndex index : family_) {
        begin(index, reason);
    }
}

void Departures::begin(ObjectIndex index, ChannelCloseReason reason) {
    ServerObject& info = *objects_.at(index);
    objects_.retire_id(objects_.id_at(index));
    info.set_removed();
    info.hand_back();
    all_.guids.unbind(info.guid());
    all_.tables.end_for_game(index);
    departures_.push_back({index, reason});
}

void Departures::introduce(ServerClient& client) {
    for (const Departure& departure : departures_) {
        client.sender.exclude(departure.index, departure.reason);
    }
}

void Departures::close_left() {
    if (!waits_.take_leaving()) {
        return;  // most often
    }
    clients_.for_each_joined([&](ServerClient& client) {
        waits_.note_dropped(client, client.sender.close_left());
        for (const ObjectIndex index : client.sender.leaving_channels().returned()) {
            show_returned(client, index);
        }
        if (!client.sender.leaving_channels().is_empty()) {
            waits_.note_leaving();
        }
    });
    if (!departures_.empty()) {
        remove_departed();
    }
}

void Departures::show_returned(ServerClient& client, ObjectIndex index) {
    if (objects_.is_part(index)) {
        relevancy_.show_part(client, index);
    } else {
        relevancy_.show_family(client, index, true);
    }
    relevancy_.changed(client, index);
}

void Departures::remove_departed() {
    const auto is_over = [&](const Departure& departure) {
        return objects_.first_part_of(departure.index) == no_object &&
               std::none_of(clients_.begin(), clients_.end(), [&](const ServerClient* client) {
                   return client->is_joined() && client->sender.is_leaving(departure.index);
               });
    };
    std::size_t kept_count = 0;
    for (const Departure departure : departures_) {
        if (!is_over(departure)) {
            departures_[kept_count++] = departure;
            continue;
        }
        for (ServerClient* client : clients_) {
            client->sender.object_removed(departure.index, departure.reason);
        }
        if (objects_.is_part(departure.index)) {
            objects_.detach(departure.index);
        }
        all_.forget(departure.index);
    }
    departures_.resize(kept_count);
}

void Departures::end_oldest() {
    if (departures_.empty()) {
        return;
    }
    const ObjectIndex index = departures_.front().index;
    clients_.for_each_joined([&](ServerClient& client) {
        waits_.note_dropped(client, client.sender.edit_leaving_channels().close_now(index));
    });
    remove_departed();
}

}  // namespace replayout
