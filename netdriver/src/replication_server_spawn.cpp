// SPDX-License-Identifier: MIT
//
// Objects of a server as they come and go: for all clients, for one that does not see them any
// more, and for good, under a name that all ends know.
#include "replication_server.h"

#include <algorithm>
#include <array>

namespace replayout {

namespace {

/// It looks at nothing but what a connection is to the object.
[[nodiscard]] constexpr bool may_be_of_subobject(LifetimeCondition condition) noexcept {
    return !is_initial_condition(condition) && condition != LifetimeCondition::Custom &&
           condition != LifetimeCondition::Dynamic;
}

}  // namespace

NetObjectId ReplicationServer::add_object(const RepLayout& layout, ObjectHandle object,
                                          const SpawnParameters& parameters) {
    return add(layout, object, {}, parameters);
}

NetObjectId ReplicationServer::add(const RepLayout& layout, ObjectHandle object, NetObjectId outer,
                                   const SpawnParameters& parameters) {
    REPLAYOUT_ASSERT(!object.is_null());
    if (objects_.object_count() >= settings_.config.channels_max) {
        log(LogLevel::Error, "an object was not added: there are channels_max of them");
        return {};
    }
    const NetGUID guid = guids_.assign_to_new(object);
    guids_.bind(guid, object);
    const NetObjectId id = objects_.add(layout, layouts_.number_of(layout), object, guid);
    const bool is_part = outer.generation != 0;
    if (is_part) {
        objects_.attach(id.index, outer.index);
    }
    encode_spawn_record(layouts_.archetype_of(layout),
                        is_part ? objects_.at(outer.index)->guid() : NetGUID(), parameters,
                        objects_.at(id.index)->spawn_record());
    objects_.at(id.index)->set_location(parameters.location);
    live_.grow(objects_.slot_count());
    due_.grow(objects_.slot_count());
    changed_.grow(objects_.slot_count());
    live_.set(id.index);
    begin_updates(id.index);
    changed_.set(id.index);
    return id;
}

NetObjectId ReplicationServer::add_subobject(NetObjectId outer, const RepLayout& layout,
                                             ObjectHandle object,
                                             const SubobjectParameters& parameters) {
    REPLAYOUT_ASSERT(objects_.contains(outer));
    REPLAYOUT_ASSERT(may_be_of_subobject(parameters.condition));
    SpawnParameters spawn;
    spawn.stable_name = parameters.stable_name;
    const NetObjectId id = add(layout, object, outer, spawn);
    if (id.generation == 0) {
        return id;
    }
    NetworkObjectInfo& info = *objects_.at(id.index);
    const NetworkObjectInfo& whole = *objects_.at(outer.index);
    info.family().condition = parameters.condition;
    info.set_facts(whole.facts());
    if (parameters.condition != LifetimeCondition::None) {
        conditional_.insert(id.index);
    }
    show_parts_to_all(outer.index);
    if (whole.dormancy() != NetDormancy::Awake) {
        set_dormancy_of(id.index, whole.dormancy());
    }
    return id;
}

void ReplicationServer::remove_object(NetObjectId id, ChannelCloseReason reason) {
    REPLAYOUT_ASSERT(objects_.contains(id));
    REPLAYOUT_ASSERT(reason == ChannelCloseReason::Destroyed ||
                     reason == ChannelCloseReason::LevelUnloaded ||
                     reason == ChannelCloseReason::Migrated);
    while (objects_.at(id.index)->family().first != ObjectStore::no_index) {
        remove_object(objects_.id_at(objects_.at(id.index)->family().first), reason);
    }
    const bool is_part = objects_.at(id.index)->is_subobject();
    if (reason == ChannelCloseReason::Destroyed && !is_part) {
        note_destroyed(id.index);
    }
    for (Client* client : clients_) {
        if (client->connection.state() == ConnectionState::Joined) {
            client->sender.object_removed(id.index, reason);
        }
    }
    if (is_part) {
        objects_.detach(id.index);
    }
    forget_object(id);
}

void ReplicationServer::forget_object(NetObjectId id) {
    guids_.unbind(objects_.at(id.index)->guid());
    live_.clear(id.index);
    due_.clear(id.index);
    calendar_.forget(id.index);
    dormancy_.forget(id.index);
    conditional_.erase(id.index);
    changed_.clear(id.index);
    objects_.remove(id);
}

ReplicationServer::Client* ReplicationServer::find_joined(PeerId peer) const {
    const auto found = clients_by_peer_.find(peer.value);
    return found != clients_by_peer_.end() &&
                   found->second->connection.state() == ConnectionState::Joined
               ? found->second
               : nullptr;
}

void ReplicationServer::set_relevant_for(PeerId peer, NetObjectId id, bool is_relevant) {
    REPLAYOUT_ASSERT(objects_.contains(id) && !objects_.at(id.index)->is_subobject());
    if (Client* client = find_joined(peer)) {
        show_family(*client, id.index, is_relevant);
    }
}

bool ReplicationServer::is_relevant_for(PeerId peer, NetObjectId id) const {
    REPLAYOUT_ASSERT(objects_.contains(id));
    const Client* client = find_joined(peer);
    return client != nullptr && !client->sender.dormancy().irrelevant.test(id.index);
}

bool ReplicationServer::is_shown(const Client& client, const NetworkObjectInfo& info) const {
    const NetworkObjectInfo::Family& family = info.family();
    if (family.condition == LifetimeCondition::NetGroup) {
        return std::any_of(info.groups().begin(), info.groups().end(),
                           [&](NetGroup group) { return client.groups.contains(group); });
    }
    return passes(family.condition, client.sender.flags_for(info.facts()));
}

void ReplicationServer::show_family(Client& client, std::uint32_t index, bool is_relevant) {
    ReplicationSender& sender = client.sender;
    if (!is_relevant) {
        // Parts first: a client that has them has the whole.
        std::uint32_t part = objects_.at(index)->family().first;
        for (; part != ObjectStore::no_index; part = objects_.at(part)->family().next) {
            show_family(client, part, false);
        }
        sender.set_relevant(index, false);
        return;
    }
    if (sender.dormancy().irrelevant.test(index)) {
        sender.set_relevant(index, true);
        if (dormancy_.candidates.test(index)) {
            apply_dormancy(sender, index);
            if (!is_dormant_for_all(index)) {
                resume_compare(index);
            }
        }
    }
    show_parts(client, index);
}

void ReplicationServer::show_parts(Client& client, std::uint32_t index) {
    const bool is_shown_whole = !client.sender.dormancy().irrelevant.test(index);
    std::uint32_t part = objects_.at(index)->family().first;
    for (; part != ObjectStore::no_index; part = objects_.at(part)->family().next) {
        show_family(client, part, is_shown_whole && is_shown(client, *objects_.at(part)));
    }
}

void ReplicationServer::add_to_group(NetObjectId id, NetGroup group) {
    REPLAYOUT_ASSERT(objects_.contains(id) && objects_.at(id.index)->is_subobject());
    Vector<NetGroup>& groups = objects_.at(id.index)->groups();
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) {
        groups.push_back(group);
        show_parts_to_all(objects_.at(id.index)->family().outer);
    }
}

void ReplicationServer::remove_from_group(NetObjectId id, NetGroup group) {
    REPLAYOUT_ASSERT(objects_.contains(id) && objects_.at(id.index)->is_subobject());
    Vector<NetGroup>& groups = objects_.at(id.index)->groups();
    const auto found = std::find(groups.begin(), groups.end(), group);
    if (found != groups.end()) {
        groups.erase(found);
        show_parts_to_all(objects_.at(id.index)->family().outer);
    }
}

void ReplicationServer::set_in_group(PeerId peer, NetGroup group, bool is_in_group) {
    Client* client = find_joined(peer);
    if (client == nullptr) {
        return;
    }
    if (is_in_group) {
        client->groups.insert(group);
    } else {
        client->groups.erase(group);
    }
    show_conditional(*client);
}

void ReplicationServer::show_parts_to_all(std::uint32_t index) {
    for (Client* client : clients_) {
        if (client->connection.state() == ConnectionState::Joined) {
            show_parts(*client, index);
        }
    }
}

void ReplicationServer::show_conditional(Client& client) {
    for (std::uint32_t index = conditional_.next(0); index != BitRow::no_bit;
         index = conditional_.next(index + 1)) {
        show_parts(client, objects_.at(index)->family().outer);
    }
}

void ReplicationServer::tear_off(NetObjectId id) {
    REPLAYOUT_ASSERT(objects_.contains(id) && !objects_.at(id.index)->is_subobject());
    // Outer before inner.
    torn_family_.clear();
    objects_.for_each_in_family(id.index,
                                [&](std::uint32_t index) { torn_family_.push_back(index); });
    for (const std::uint32_t index : torn_family_) {
        tear_off_one(index);
    }
}

void ReplicationServer::tear_off_one(std::uint32_t index) {
    (void)objects_.rename(objects_.id_at(index));
    objects_.at(index)->tear_off();
    dormancy_.forget(index);
    conditional_.erase(index);
    torn_off_.insert(index);
    calendar_.forget(index);
    due_.set(index);  // what it is now goes out, and nothing of what it becomes
    for (Client* client : clients_) {
        if (client->connection.state() == ConnectionState::Joined) {
            client->sender.tear_off(index);
        }
    }
}

void ReplicationServer::remove_torn_off_objects() {
    for (std::uint32_t index = torn_off_.next(0); index != BitRow::no_bit;
         index = torn_off_.next(index + 1)) {
        const auto is_over_for = [&](const Client* client) {
            return client->connection.state() != ConnectionState::Joined ||
                   client->sender.is_torn_off(index);
        };
        const NetworkObjectInfo::Family& family = objects_.at(index)->family();
        if (family.first != ObjectStore::no_index ||
            !std::all_of(clients_.begin(), clients_.end(), is_over_for)) {
            continue;  // parts go before their outer, or it is still on its way
        }
        torn_off_.clear(index);
        for (Client* client : clients_) {
            client->sender.object_removed(index, ChannelCloseReason::TearOff);
        }
        if (family.outer != ObjectStore::no_index) {
            objects_.detach(index);
        }
        forget_object(objects_.id_at(index));
    }
}

void ReplicationServer::introduce_torn_off(Client& client) {
    for (std::uint32_t index = torn_off_.next(0); index != BitRow::no_bit;
         index = torn_off_.next(index + 1)) {
        client.sender.tear_off(index);
    }
}

void ReplicationServer::note_destroyed(std::uint32_t index) {
    const std::string_view name = stable_name_of(objects_.at(index)->spawn_record());
    if (name.empty()) {
        return;
    }
    if (destroyed_names_.is_full()) {
        log(LogLevel::Error,
            "the end of an object is not told to who does not see it: there are "
            "destroyed_names_max of them");
        return;
    }
    const std::size_t place = destroyed_names_.count();
    destroyed_names_.add(name);
    for (Client* client : clients_) {
        // Who has the object is told by the close of its channel.
        if (client->next_notice == place && client->sender.has_object(index)) {
            ++client->next_notice;
        }
    }
}

void ReplicationServer::forget_destroyed(std::string_view stable_name) {
    const std::size_t place = destroyed_names_.find(stable_name);
    if (place == DestroyedNames::no_place) {
        return;
    }
    destroyed_names_.erase(place);
    for (Client* client : clients_) {
        client->next_notice -= client->next_notice > place ? 1u : 0u;
    }
}

void ReplicationServer::forget_all_destroyed() {
    destroyed_names_.clear();
    for (Client* client : clients_) {
        client->next_notice = 0;
    }
}

void ReplicationServer::send_destruction_notices(Client& client) {
    std::array<std::byte, PacketBuilder::packet_bytes_limit> message;
    const std::size_t room_bytes = fragment_bytes(settings_.config.packet_bytes_max);
    PacketSender& packets = client.connection.packets();
    while (client.next_notice < destroyed_names_.count() && packets.can_write(Share::Messages) &&
           packets.reliable().has_room_for(Share::Messages, room_bytes)) {
        DestructionNoticeWriter writer(std::span<std::byte>(message).first(room_bytes));
        while (client.next_notice < destroyed_names_.count() &&
               writer.add(destroyed_names_.at(client.next_notice))) {
            ++client.next_notice;
        }
        client.connection.send_control(writer.bytes());
        (void)packets.write_unsent_bunches();
    }
}

}  // namespace replayout
