// SPDX-License-Identifier: MIT
//
// Objects of a server as they come and go: for all clients, for one that does not see them any
// more, and for good, under a name that all ends know.
#include "refusal_text.h"
#include "replication_server_client.h"

#include <algorithm>
#include <array>
#include <string>

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
    const bool is_part = outer.generation != 0;
    const char* const called = is_part ? "add_subobject" : "add_object";
    REPLAYOUT_EXPECT(!object.is_null(), NetObjectId(),
                     "%s: a \"%s\" without a handle: give it one that is not 0", called,
                     std::string(layout.name()).c_str());
    REPLAYOUT_EXPECT(is_valid(parameters), NetObjectId(),
                     "%s: a \"%s\" whose stable name has more than %zu bytes or is not "
                     "UTF-8, or whose numbers are not finite",
                     called, std::string(layout.name()).c_str(), stable_name_bytes_max);
    const std::uint32_t number = layouts_.number_of_added(layout);
    REPLAYOUT_EXPECT(number != LayoutTable::no_number, NetObjectId(), "%s",
                     unknown_layout(called, layout).c_str());
    if (objects_.object_count() >= settings_.config.channels_max) {
        end_oldest_departure();
    }
    if (objects_.object_count() >= settings_.config.channels_max) {
        log(LogLevel::Error, "an object was not added: there are " +
                                 std::to_string(settings_.config.channels_max) +
                                 " of them, and NetConfig::channels_max allows no more");
        return {};
    }
    const NetGUID guid = guids_.assign_to_new(object);
    REPLAYOUT_EXPECT(!guid.is_null(), NetObjectId(), "%s",
                     why_not_twice(called, layout, object).c_str());
    forget_destroyed(parameters.stable_name);
    guids_.bind(guid, object);
    const NetObjectId id = objects_.add(layout, number, object, guid);
    if (is_part) {
        objects_.attach(id.index, outer.index);
    }
    objects_.set_spawn_record(id.index, layouts_.archetype_of(layout),
                              is_part ? objects_.at(outer.index)->guid() : NetGUID(), parameters);
    objects_.at(id.index)->set_location(parameters.location);
    live_.grow(objects_.slot_count());
    due_.grow(objects_.slot_count());
    changes_.objects.grow(objects_.slot_count());
    live_.set(id.index);
    if (is_written_alone(layout)) {
        written_alone_.insert(id.index);
    }
    shared_values_.add(id.index, layout);
    if (layout.sent_within_us() != 0) {
        tolerated_.add(id.index, layout.sent_within_us());
    }
    begin_updates(id.index);
    changes_.objects.set(id.index);
    if (!is_part) {
        interest_.object_added(id.index, number);
        new_objects_.insert(id.index);
    }
    return id;
}

RefusalText ReplicationServer::why_not_twice(const char* called, const RepLayout& layout,
                                             ObjectHandle object) const noexcept {
    RefusalText text;
    text.append("%s: the handle of a ", called);
    text.append_name(layout.name());
    text.append(" is that of ");
    const std::uint32_t index = objects_.find_index(guids_.find_guid(object));
    if (index != ObjectStore::no_index && !objects_.at(index)->is_torn_off()) {
        append_object(text, objects_, objects_.id_at(index));
        text.append(", which is replicated: remove that before, or use another handle");
    } else {
        text.append("an object that is torn off: it is yours again after the next tick_flush()");
    }
    return text;
}

NetObjectId ReplicationServer::add_subobject(NetObjectId outer, const RepLayout& layout,
                                             ObjectHandle object,
                                             const SubobjectParameters& parameters) {
    REPLAYOUT_ASSERT(objects_.contains(outer));
    REPLAYOUT_EXPECT(may_be_of_subobject(parameters.condition), NetObjectId(),
                     "add_subobject: a part, a \"%s\", has condition %u, which is for properties: "
                     "choose one that looks at the connection",
                     std::string(layout.name()).c_str(),
                     static_cast<unsigned>(parameters.condition));
    SpawnParameters spawn;
    spawn.stable_name = parameters.stable_name;
    const NetObjectId id = add(layout, object, outer, spawn);
    if (id.generation == 0) {
        return id;
    }
    const std::size_t place = objects_.forget_destroyed_part(outer.index, parameters.stable_name);
    for (Client* client : clients_) {
        client->sender.part_notices().forget_name(outer.index, place);
    }
    NetworkObjectInfo& info = *objects_.at(id.index);
    const NetworkObjectInfo& whole = *objects_.at(outer.index);
    info.family().condition = parameters.condition;
    objects_.set_facts(id.index, whole.facts());
    for (Client* client : clients_) {
        if (client->sender.dormancy().asked.test(outer.index)) {
            client->sender.ask_dormant(id.index, true);
        }
    }
    if (parameters.condition != LifetimeCondition::None) {
        conditional_.insert(id.index);
    }
    show_part_to_all(id.index);
    if (whole.dormancy() != NetDormancy::Awake) {
        set_dormancy_of(id.index, whole.dormancy());
    }
    return id;
}

void ReplicationServer::remove_object(NetObjectId id, ChannelCloseReason reason) {
    REPLAYOUT_ASSERT(objects_.contains(id));
    const bool is_games_own = reason == ChannelCloseReason::Destroyed ||
                              reason == ChannelCloseReason::LevelUnloaded ||
                              reason == ChannelCloseReason::Migrated;
    REPLAYOUT_EXPECT(is_games_own, void(),
                     "remove_object: object %u.%u: reason %u is the driver's own: use Destroyed, "
                     "LevelUnloaded or Migrated",
                     id.index, id.generation, static_cast<unsigned>(reason));
    if (reason == ChannelCloseReason::Destroyed) {
        note_destroyed(id.index);
    }
    if (must_depart(id.index)) {
        depart_family(id, reason);
    } else {
        remove_family(id, reason);
    }
}

void ReplicationServer::remove_family(NetObjectId id, ChannelCloseReason reason) {
    while (objects_.at(id.index)->family().first != ObjectStore::no_index) {
        remove_family(objects_.id_at(objects_.at(id.index)->family().first), reason);
    }
    for_each_joined([&](Client& client) { client.sender.object_removed(id.index, reason); });
    if (objects_.at(id.index)->is_subobject()) {
        objects_.detach(id.index);
    }
    forget_object(id);
}

void ReplicationServer::forget_object(NetObjectId id) {
    if (!objects_.at(id.index)->is_handed_back()) {
        guids_.unbind(objects_.at(id.index)->guid());
    }
    live_.clear(id.index);
    due_.clear(id.index);
    calendar_.forget(id.index);
    polled_.forget(id.index);
    tolerated_.forget(id.index);
    dormancy_.forget(id.index);
    conditional_.erase(id.index);
    written_alone_.erase(id.index);
    shared_values_.forget(id.index);
    told_of_dropped_calls_.erase(id.index);
    interest_.forget(id.index);
    changes_.objects.clear(id.index);
    objects_.remove(id);
}

void ReplicationServer::set_host(PeerId host) {
    REPLAYOUT_EXPECT(!host_.has_value() || *host_ == host, void(),
                     "set_host: peer %llu is the host already: call clear_host() before",
                     static_cast<unsigned long long>(host_->value));
    REPLAYOUT_EXPECT(find_joined(host) == nullptr, void(),
                     "set_host: peer %llu is a client: give the host an id of its own",
                     static_cast<unsigned long long>(host.value));
    host_ = host;
    if (!host_interest_.has_value()) {
        host_interest_.emplace(host, memory_);
        interest_.add_client(*host_interest_);
    }
}

void ReplicationServer::clear_host() noexcept {
    host_.reset();
    is_host_told_of_ = false;
    if (host_interest_.has_value()) {
        interest_.remove_client(*host_interest_);
        host_interest_.reset();
    }
}

bool ReplicationServer::is_owned_by_host(const ObjectFacts& facts) const noexcept {
    return host_.has_value() && facts.has_owner && facts.owner == *host_;
}

ObjectRole ReplicationServer::role_for(PeerId peer, const ObjectFacts& facts) const noexcept {
    ObjectRole role = facts.role_of(peer);
    if (host_.has_value() && peer == *host_) {
        role.role = NetRole::Authority;
    }
    return role;
}

void ReplicationServer::tear_off(NetObjectId id) {
    REPLAYOUT_ASSERT(objects_.contains(id) && !objects_.at(id.index)->is_subobject());
    // Outer before inner.
    family_.clear();
    objects_.for_each_in_family(id.index, [&](std::uint32_t index) { family_.push_back(index); });
    for (const std::uint32_t index : family_) {
        tear_off_one(index);
    }
}

void ReplicationServer::tear_off_one(std::uint32_t index) {
    objects_.retire_id(objects_.id_at(index));
    objects_.at(index)->tear_off();
    dormancy_.forget(index);
    conditional_.erase(index);
    interest_.forget(index);
    torn_off_.insert(index);
    calendar_.forget(index);
    polled_.forget(index);
    tolerated_.forget(index);
    objects_.at(index)->changelist_state().mark_exact();
    due_.set(index);  // what it is now goes out, and nothing of what it becomes
    for_each_joined([&](Client& client) {
        client.sender.forget_return(index);  // it is never sent to a client that does not have it
        client.sender.tear_off(index);
    });
}

void ReplicationServer::hand_back_torn_off_objects() {
    for (std::uint32_t index = torn_off_.next(0); index != BitRow::no_bit;
         index = torn_off_.next(index + 1)) {
        NetworkObjectInfo& info = *objects_.at(index);
        if (!info.is_handed_back()) {
            info.hand_back();
            guids_.unbind(info.guid());
            live_.clear(index);
        }
    }
}

void ReplicationServer::remove_torn_off_objects() {
    for (std::uint32_t index = torn_off_.next(0); index != BitRow::no_bit;
         index = torn_off_.next(index + 1)) {
        const auto is_over_for = [&](const Client* client) {
            return !is_joined(*client) || client->sender.is_torn_off(index);
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
    if (destroyed_names_.count() + objects_.destroyed_part_count() >=
        settings_.config.destroyed_names_max) {
        log(LogLevel::Error,
            "the end of an object is not told to who does not see it: there are "
            "destroyed_names_max of them");
        return;
    }
    if (objects_.at(index)->is_subobject()) {
        note_destroyed_part(index, name);
        return;
    }
    const std::size_t place = destroyed_names_.count();
    destroyed_names_.add(objects_.at(index)->guid(), name);
    for (Client* client : clients_) {
        // Who has the object is told by the close of its channel.
        if (client->next_notice == place && client->sender.has_object(index)) {
            ++client->next_notice;
        }
    }
}

void ReplicationServer::note_destroyed_part(std::uint32_t index, std::string_view name) {
    const std::uint32_t outer = objects_.at(index)->family().outer;
    objects_.add_destroyed_part(outer, objects_.at(index)->guid(), name);
    const std::size_t place = objects_.destroyed_parts_of(outer)->count() - 1;
    for_each_joined([&](Client& client) {
        // Who has the part is told by the close of its channel, and who has not the outer when that
        // is opened.
        if (client.sender.has_object(outer) && !client.sender.has_part_for_certain(index)) {
            client.sender.part_notices().add(outer, place);
        }
    });
}

void ReplicationServer::forget_destroyed(std::string_view stable_name) {
    if (stable_name.empty()) {
        return;
    }
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
               writer.add(destroyed_names_.at(client.next_notice).guid,
                          destroyed_names_.at(client.next_notice).name)) {
            ++client.next_notice;
        }
        client.connection.send_control(writer.bytes());
        (void)packets.write_unsent_bunches();
    }
}

}  // namespace replayout
