// SPDX-License-Identifier: MIT
#include "connection_channel.h"
#include "scene_name.h"

#include <replayout/reflection/diagnostics.h>
#include <replayout/syncvar/network_server.h>

#include <algorithm>
#include <bit>

namespace replayout::syncvar {

namespace {

/// Objects that nobody keeps from a client are for those in this group: the ready ones.
constexpr NetGroup ready_group{0xFFFF'FFFF};

bool refuse(const char* why) {
    log(LogLevel::Warning, why);
    return false;
}

}  // namespace

NetworkServer::NetworkServer(const NetDriverSettings& settings, Transport& transport,
                             const NetworkTypes& types, NetworkManager& manager)
    : types_(types),
      manager_(manager),
      resource_(settings.resource),
      driver_(settings, transport, *this) {}

NetworkServer::~NetworkServer() = default;

Status NetworkServer::listen() {
    if (Status added = types_.add_layouts_to(driver_); !added) {
        return added;
    }
    return driver_.listen();
}

void NetworkServer::early_update(NetTime now) {
    now_ = now;
    driver_.tick_dispatch(now);
    free_what_is_gone();
}

void NetworkServer::late_update(NetTime now) {
    now_ = now;
    ++flush_number_;
    send_batches();
    serve_owners();
    mark_changed();
    driver_.tick_flush(now);
    free_what_is_gone();
}

// ----- objects

NetworkIdentity& NetworkServer::instantiate(const NetworkPrefab& prefab) {
    auto made = std::make_unique<NetworkIdentity>(prefab, resource_);
    NetworkIdentity& object = *made;
    objects_.emplace(&object, std::move(made));
    return object;
}

NetworkIdentity& NetworkServer::add_scene_object(const NetworkPrefab& prefab,
                                                 std::uint64_t scene_id) {
    REPLAYOUT_ASSERT(scene_id != 0);
    NetworkIdentity& object = instantiate(prefab);
    object.scene_id_ = scene_id;
    return object;
}

bool NetworkServer::spawn(NetworkIdentity& object, NetworkConnection* owner) {
    if (object.is_spawned() || object.is_gone_) {
        return refuse("an object that is spawned already, or gone, cannot be spawned");
    }
    const SceneName name(object.scene_id_);
    SpawnParameters parameters;
    parameters.stable_name = name.text();
    parameters.location = object.transform.position;
    parameters.rotation = object.transform.rotation;
    parameters.scale = object.transform.scale;
    object.object_ = driver_.add_object(object.prefab().layout(), object.handle(), parameters);
    if (object.object_.generation == 0) {
        return refuse("there is no room for another object");
    }
    object.net_id_ = driver_.guid_of(object.object_).value;
    object.server_ = this;
    spawned_.emplace(object.net_id_, &object);
    driver_.interest().add_to_group(object.object_, ready_group);
    if (owner != nullptr) {
        set_owner(object, *owner);
    }
    for (NetworkBehaviour* component : object.components()) {
        component->forget_changes();  // All of it is new.
    }
    if (object.prefab().has_calls_for_owner()) {
        with_calls_for_owner_.push_back(&object);
    }
    object.for_each_component(&NetworkBehaviour::on_start_server);
    return true;
}

void NetworkServer::unspawn(NetworkIdentity& object) {
    if (!object.is_spawned()) {
        refuse("an object that is not spawned cannot be unspawned");
        return;
    }
    object.for_each_component_reversed(&NetworkBehaviour::on_stop_server);
    driver_.remove_object(object.object_);
    spawned_.erase(object.net_id_);
    for (auto& [peer, connection] : connections_) {
        if (connection->identity_ == &object) {
            connection->identity_ = nullptr;
        }
    }
    object.net_id_ = 0;
    object.object_ = {};
    object.server_ = nullptr;
    object.owner_ = {};
    object.served_owner_ = {};
    object.was_open_for_owner_ = false;
    std::erase(with_calls_for_owner_, &object);
    for (NetworkBehaviour* component : object.components()) {
        component->forget_changes();
    }
}

void NetworkServer::destroy(NetworkIdentity& object) {
    if (object.is_gone_) {
        return;
    }
    if (object.is_spawned()) {
        unspawn(object);
    }
    if (object.scene_id_ != 0) {
        object.reset_values();
        return;
    }
    object.is_gone_ = true;
    has_gone_ = true;
}

void NetworkServer::destroy_owned(NetworkConnection& connection) {
    std::vector<NetworkIdentity*> owned;
    for (const auto& [net_id, object] : spawned_) {
        if (object->owner_ == connection.peer()) {
            owned.push_back(object);
        }
    }
    for (NetworkIdentity* object : owned) {
        destroy(*object);
    }
}

void NetworkServer::free_what_is_gone() {
    if (std::exchange(has_gone_, false)) {
        std::erase_if(changed_, [](const NetworkIdentity* object) { return object->is_gone_; });
        std::erase_if(objects_, [](const auto& entry) { return entry.second->is_gone_; });
    }
}

NetworkIdentity* NetworkServer::find(std::uint64_t net_id) const noexcept {
    const auto found = spawned_.find(net_id);
    return found == spawned_.end() ? nullptr : found->second;
}

// ----- what changed

void NetworkServer::component_changed(NetworkIdentity& object) {
    if (!std::exchange(object.is_queued_, true)) {
        changed_.push_back(&object);
    }
}

void NetworkServer::mark_changed() {
    // A behaviour that serializes itself may change others.
    marking_.swap(changed_);
    for (NetworkIdentity* object : marking_) {
        object->is_queued_ = false;
        bool is_waiting = false;
        for (NetworkBehaviour* component : object->components()) {
            if (component->is_dirty()) {
                mark(*object, *component);
            }
            is_waiting = is_waiting || component->has_changes();
        }
        if (is_waiting) {
            component_changed(*object);  // It is not due yet.
        }
    }
    marking_.clear();
}

void NetworkServer::mark(NetworkIdentity& object, NetworkBehaviour& component) {
    const BehaviourType& type = *component.type_;
    if (type.has_custom_serialization) {
        send_section(object, component);
    } else {
        mark_sync_vars(object, component);
    }
    send_collections(object, component);
    component.last_sync_us_ = now_.microseconds;
}

void NetworkServer::mark_sync_vars(NetworkIdentity& object, NetworkBehaviour& component) {
    const NetworkPrefab::Component& placed =
        object.prefab().components()[component.component_index()];
    std::uint64_t bits = component.dirty_bits_;
    for (; bits != 0; bits &= bits - 1) {
        const auto variable = static_cast<std::size_t>(std::countr_zero(bits));
        if (variable >= placed.parents.size()) {
            break;  // Bits of the game's own, without a variable.
        }
        const std::uint32_t first = placed.parents[variable].value;
        const std::uint32_t count = placed.type->sync_vars[variable].property.array_dim;
        for (std::uint32_t i = 0; i < count; ++i) {
            driver_.mark_property_dirty(object.object_,
                                        ParentIndex{static_cast<std::uint16_t>(first + i)});
        }
    }
    component.dirty_bits_ = 0;
}

// ----- connections

NetworkConnection* NetworkServer::find_connection(PeerId peer) noexcept {
    const auto found = connections_.find(peer);
    return found == connections_.end() ? nullptr : found->second.get();
}

void NetworkServer::peer_joined(PeerId peer) {
    NetworkConnection& connection =
        *connections_.insert_or_assign(peer, std::make_unique<NetworkConnection>(peer))
             .first->second;
    NetworkIdentity& channel = instantiate(types_.connection_prefab());
    channel.server_ = this;
    channel.object_ = driver_.add_object(channel.prefab().layout(), channel.handle());
    if (channel.object_.generation == 0) {
        refuse("there is no room for the object of a connection: it is closed");
        driver_.disconnect(peer);
        return;
    }
    channel.net_id_ = driver_.guid_of(channel.object_).value;
    channel.owner_ = peer;
    driver_.interest().set_relevancy(channel.object_, NetRelevancy::OnlyToOwner);
    driver_.set_owner(channel.object_, peer);
    connection.channel_ = &channel;
    manager_.on_server_connect(*this, connection);
}

void NetworkServer::peer_left(PeerId peer, CloseReason /*reason*/) {
    NetworkConnection* connection = find_connection(peer);
    if (connection == nullptr) {
        return;
    }
    manager_.on_server_disconnect(*this, *connection);
    std::erase(batches_, connection);
    if (connection->channel_ != nullptr) {
        driver_.remove_object(connection->channel_->object_);
        connection->channel_->is_gone_ = true;
        has_gone_ = true;
    }
    connections_.erase(peer);
}

void NetworkServer::ready(PeerId peer) {
    NetworkConnection* connection = find_connection(peer);
    if (connection != nullptr && !connection->is_ready()) {
        manager_.on_server_ready(*this, *connection);
    }
}

void NetworkServer::add_player(PeerId peer) {
    if (NetworkConnection* connection = find_connection(peer)) {
        manager_.on_server_add_player(*this, *connection);
    }
}

void NetworkServer::set_client_ready(NetworkConnection& connection) {
    if (std::exchange(connection.is_ready_, true)) {
        return;
    }
    driver_.interest().set_in_group(connection.peer(), ready_group, true);
    call(connection, "spawn_started");
    batches_.push_back(&connection);
}

void NetworkServer::set_client_not_ready(NetworkConnection& connection) {
    if (!std::exchange(connection.is_ready_, false)) {
        return;
    }
    driver_.interest().set_in_group(connection.peer(), ready_group, false);
    call(connection, "not_ready");
    std::erase(batches_, &connection);
}

bool NetworkServer::add_player_for_connection(NetworkConnection& connection,
                                              NetworkIdentity& player) {
    if (connection.identity() != nullptr) {
        return refuse("a connection has a player already");
    }
    set_client_ready(connection);
    if (!player.is_spawned() && !spawn(player, &connection)) {
        return false;
    }
    connection.identity_ = &player;
    set_owner(player, connection);
    driver_.set_player(player.object_, true);
    return true;
}

void NetworkServer::send_batches() {
    // In the flush after that in which they became ready the driver knows what they are to see.
    std::erase_if(batches_, [&](NetworkConnection* connection) {
        if (!std::exchange(connection->is_batch_due_, true)) {
            return false;
        }
        return send_batch(*connection);
    });
}

bool NetworkServer::send_batch(NetworkConnection& connection) {
    auto next = spawned_.lower_bound(connection.batch_next_);
    while (next != spawned_.end()) {
        detail::SpawnBatch batch;
        while (next != spawned_.end() &&
               batch.objects.size() < detail::ConnectionChannel::batch_objects_max) {
            if (driver_.is_relevant_for(connection.peer(), next->second->object_)) {
                batch.objects.push_back(next->second);
            }
            ++next;
        }
        if (call(connection, "spawn_batch", &batch) == CallResult::Full) {
            return false;
        }
        connection.batch_next_ = next == spawned_.end() ? ~std::uint64_t{0} : next->first;
    }
    if (call(connection, "spawn_finished") == CallResult::Full) {
        return false;
    }
    connection.batch_next_ = 0;
    connection.is_batch_due_ = false;
    return true;
}

CallResult NetworkServer::call(NetworkConnection& connection, std::string_view function,
                               const void* params) {
    return connection.channel_->components().front()->call(function, params);
}

// ----- authority

void NetworkServer::set_owner(NetworkIdentity& object, const NetworkConnection& owner) {
    object.owner_ = owner.peer();
    driver_.set_owner(object.object_, owner.peer());
    driver_.set_autonomous(object.object_, true);
}

bool NetworkServer::assign_client_authority(NetworkIdentity& object, NetworkConnection& owner) {
    if (!object.is_spawned()) {
        return refuse("of an object that is not spawned nobody has authority");
    }
    if (object.owner_.value != 0 && object.owner_ != owner.peer()) {
        return refuse("another connection has authority of the object");
    }
    set_owner(object, owner);
    return true;
}

bool NetworkServer::remove_client_authority(NetworkIdentity& object) {
    const NetworkConnection* owner = find_connection(object.owner_);
    if (owner == nullptr) {
        return refuse("nobody has authority of the object");
    }
    if (owner->identity() == &object) {
        return refuse("authority of a player stays with its connection");
    }
    object.owner_ = {};
    driver_.clear_owner(object.object_);
    driver_.set_autonomous(object.object_, false);
    return true;
}

// ----- NetWorld

void* NetworkServer::object_memory(ObjectHandle object) {
    return NetworkIdentity::of(object).block();
}

ObjectHandle NetworkServer::spawn(const SpawnInfo& /*info*/) {
    return {};
}

void NetworkServer::despawn(ObjectHandle /*object*/, ChannelCloseReason /*reason*/) {}

}  // namespace replayout::syncvar
