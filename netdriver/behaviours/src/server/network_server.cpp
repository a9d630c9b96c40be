// SPDX-License-Identifier: MIT
#include "inside.h"
#include "server_parts.h"
#include "update_scope.h"

#include <replayout/behaviours/network_server.h>
#include <replayout/reflection/diagnostics.h>

#include <string>

namespace replayout {

namespace {

[[nodiscard]] NetDriverSettings with_interest(NetDriverSettings settings,
                                              const InterestManagement& interest) {
    settings.interest = interest.settings(settings.interest);
    return settings;
}

}  // namespace

NetworkServer::NetworkServer(const NetDriverSettings& settings, Transport& transport,
                             const NetworkTypes& types, NetworkManager& manager,
                             const InterestManagement& interest)
    : types_(types),
      manager_(manager),
      driver_(with_interest(settings, interest), transport, *this),
      parts_(std::make_unique<detail::ServerParts>(*this, settings, interest)) {}

NetworkServer::~NetworkServer() {
    parts_->objects.made().disown_all();
}

Status NetworkServer::listen() {
    if (Status added = types_.add_layouts_to(driver_); !added) {
        return added;
    }
    Status status = driver_.listen();
    is_listening_ = is_listening_ || status.has_value();
    return status;
}

void NetworkServer::early_update(NetTime now) {
    REPLAYOUT_EXPECT_UPDATE(is_listening_, "the server does not listen: call listen()");
    const detail::UpdateScope updating(is_updating_);
    now_ = now;
    driver_.tick_dispatch(now);
    free_what_is_gone();
}

void NetworkServer::late_update(NetTime now) {
    REPLAYOUT_EXPECT_UPDATE(is_listening_, "the server does not listen: call listen()");
    const detail::UpdateScope updating(is_updating_);
    now_ = now;
    ++parts_->flush_number;
    parts_->objects.made().settle();
    if (NetworkConnection* host = parts_->host.host()) {
        parts_->phases.update(*host);  // at once: the host has no channel to hear of it
        parts_->host.update();
    }
    parts_->phases.update_all();
    parts_->phases.send_batches();
    parts_->owner_values.serve();
    parts_->authority.send_states();
    parts_->states.send_changed();
    parts_->part_sender.send();
    driver_.tick_flush(now);
    free_what_is_gone();
}

void NetworkServer::free_what_is_gone() {
    if (!parts_->objects.made().settle_all()) {
        parts_->log.write(LogLevel::Warning, {}, StoredReferences::endless_hooks);
    }
    parts_->connections.free_ended();
    parts_->objects.free_gone();
}

// Checks of arguments.

bool NetworkServer::owns(const NetworkIdentity& object) const noexcept {
    return parts_->objects.made().contains(&object);
}

bool NetworkServer::owns(const NetworkConnection& connection) const noexcept {
    return parts_->connections.owns(connection);
}

bool NetworkServer::refuse(PeerId peer, std::string_view why) {
    return parts_->log.refuse(peer, why);
}

// Objects.

NetworkIdentity& NetworkServer::instantiate(const NetworkPrefab& prefab) {
    return parts_->objects.made().make(prefab);
}

NetworkIdentity& NetworkServer::add_scene_object(const NetworkPrefab& prefab,
                                                 std::uint64_t scene_id) {
    return parts_->objects.made().make_of_scene(prefab, scene_id);
}

bool NetworkServer::spawn(NetworkIdentity& object, NetworkConnection* owner) {
    REPLAYOUT_EXPECT(may_change(), false, "spawn: %s", within_a_question);
    REPLAYOUT_EXPECT(owns(object), false, "spawn: %s", another_servers);
    REPLAYOUT_EXPECT(owner == nullptr || owns(*owner), false, "spawn: %s", another_connection);
    if (!is_listening_) {
        return refuse(PeerId{}, "spawn: " + Log::name_of(object) +
                                    ": the server does not listen: call listen() before");
    }
    return parts_->objects.spawn(object, owner);
}

void NetworkServer::unspawn(NetworkIdentity& object) {
    REPLAYOUT_EXPECT(may_change(), void(), "unspawn: %s", within_a_question);
    REPLAYOUT_EXPECT(owns(object), void(), "unspawn: %s", another_servers);
    parts_->objects.unspawn(object);
}

void NetworkServer::destroy(NetworkIdentity& object) {
    REPLAYOUT_EXPECT(may_change(), void(), "destroy: %s", within_a_question);
    REPLAYOUT_EXPECT(owns(object), void(), "destroy: %s", another_servers);
    parts_->objects.destroy(object);
}

void NetworkServer::destroy_owned(NetworkConnection& connection) {
    REPLAYOUT_EXPECT(may_change(), void(), "destroy_owned: %s", within_a_question);
    REPLAYOUT_EXPECT(owns(connection), void(), "destroy_owned: %s", another_connection);
    parts_->objects.destroy_owned(connection);
}

NetworkIdentity* NetworkServer::find(std::uint64_t net_id) const noexcept {
    return parts_->objects.find(net_id);
}

// Owners and players.

bool NetworkServer::assign_client_authority(NetworkIdentity& object, NetworkConnection& owner) {
    REPLAYOUT_EXPECT(may_change(), false, "assign_client_authority: %s", within_a_question);
    REPLAYOUT_EXPECT(owns(object), false, "assign_client_authority: %s", another_servers);
    REPLAYOUT_EXPECT(owns(owner), false, "assign_client_authority: %s", another_connection);
    if (!object.is_spawned() || parts_->objects.is_channel(object)) {
        return refuse(owner.peer(), "assign_client_authority: " + Log::name_of(object) +
                                        " is not spawned: spawn it first");
    }
    return parts_->authority.assign(object, owner);
}

bool NetworkServer::remove_client_authority(NetworkIdentity& object) {
    REPLAYOUT_EXPECT(may_change(), false, "remove_client_authority: %s", within_a_question);
    REPLAYOUT_EXPECT(owns(object), false, "remove_client_authority: %s", another_servers);
    if (parts_->objects.is_channel(object)) {
        return refuse(object.connection_to_client(),
                      "remove_client_authority: " + Log::name_of(object) +
                          " is the connection of peer " +
                          std::to_string(object.connection_to_client().value) +
                          ", which keeps authority of it");
    }
    return parts_->authority.remove(object);
}

bool NetworkServer::add_player_for_connection(NetworkConnection& connection,
                                              NetworkIdentity& player) {
    REPLAYOUT_EXPECT(owns(connection), false, "add_player_for_connection: %s", another_connection);
    if (connection.identity() != nullptr) {
        return refuse(connection.peer(),
                      "add_player_for_connection: peer " + std::to_string(connection.peer().value) +
                          " has a player, " + Log::name_of(*connection.identity()) +
                          ": call replace_player_for_connection()");
    }
    return replace_player_for_connection(connection, player, ReplacePlayerOptions::KeepAuthority);
}

bool NetworkServer::replace_player_for_connection(NetworkConnection& connection,
                                                  NetworkIdentity& player,
                                                  ReplacePlayerOptions options) {
    REPLAYOUT_EXPECT(may_change(), false, "replace_player_for_connection: %s", within_a_question);
    REPLAYOUT_EXPECT(owns(player), false, "replace_player_for_connection: %s", another_servers);
    REPLAYOUT_EXPECT(owns(connection), false, "replace_player_for_connection: %s",
                     another_connection);
    REPLAYOUT_EXPECT(options <= ReplacePlayerOptions::Destroy, false,
                     "replace_player_for_connection: %u is no ReplacePlayerOptions",
                     static_cast<unsigned>(options));
    if (parts_->objects.is_channel(player) ||
        (player.connection_to_client().value != 0 &&
         player.connection_to_client() != connection.peer())) {
        return refuse(connection.peer(), "replace_player_for_connection: peer " +
                                             std::to_string(player.connection_to_client().value) +
                                             " owns " + Log::name_of(player));
    }
    NetworkIdentity* previous = connection.identity();
    if (previous == &player) {
        return refuse(connection.peer(), "replace_player_for_connection: " + Log::name_of(player) +
                                             " is the player of peer " +
                                             std::to_string(connection.peer().value) + " already");
    }
    Authority& authority = parts_->authority;
    const bool is_released = previous != nullptr && options == ReplacePlayerOptions::KeepActive;
    if (is_released && !authority.tell_last_owner(*previous)) {
        return false;
    }
    set_client_ready(connection);
    if (!player.is_spawned() && !spawn(player, &connection)) {
        if (is_released) {
            authority.queue_state(*previous);
        }
        return false;
    }
    authority.set_owner(player, connection);
    authority.set_player(connection, &player);
    if (is_released) {
        authority.clear_owner(*previous);
    } else if (previous != nullptr && options == ReplacePlayerOptions::Unspawn) {
        unspawn(*previous);
    } else if (previous != nullptr && options == ReplacePlayerOptions::Destroy) {
        destroy(*previous);
    }
    return true;
}

bool NetworkServer::remove_player_for_connection(NetworkConnection& connection,
                                                 RemovePlayerOptions options) {
    REPLAYOUT_EXPECT(may_change(), false, "remove_player_for_connection: %s", within_a_question);
    REPLAYOUT_EXPECT(owns(connection), false, "remove_player_for_connection: %s",
                     another_connection);
    REPLAYOUT_EXPECT(options <= RemovePlayerOptions::Destroy, false,
                     "remove_player_for_connection: %u is no RemovePlayerOptions",
                     static_cast<unsigned>(options));
    NetworkIdentity* player = connection.identity();
    if (player == nullptr) {
        return false;
    }
    Authority& authority = parts_->authority;
    if (options == RemovePlayerOptions::Unspawn) {
        unspawn(*player);
    } else if (options == RemovePlayerOptions::Destroy) {
        destroy(*player);
    } else if (authority.tell_last_owner(*player)) {
        authority.set_player(connection, nullptr);
        authority.clear_owner(*player);
    } else {
        return false;
    }
    return true;
}

// Who sees what.

bool NetworkServer::set_shown(NetworkIdentity& object, NetworkConnection& connection,
                              bool is_shown) {
    if (!object.is_spawned() || parts_->objects.is_channel(object)) {
        return refuse(connection.peer(),
                      "show_to or hide_from: " + Log::name_of(object) + " is not spawned");
    }
    parts_->observers.set_shown(object, connection, is_shown);
    if (object.connection_to_client() == connection.peer()) {
        parts_->authority.queue_state(object);  // in case it is shown again
    }
    return true;
}

bool NetworkServer::show_to(NetworkIdentity& object, NetworkConnection& connection) {
    REPLAYOUT_EXPECT(may_change(), false, "show_to: %s", within_a_question);
    REPLAYOUT_EXPECT(owns(object), false, "show_to: %s", another_servers);
    REPLAYOUT_EXPECT(owns(connection), false, "show_to: %s", another_connection);
    return set_shown(object, connection, true);
}

bool NetworkServer::hide_from(NetworkIdentity& object, NetworkConnection& connection) {
    REPLAYOUT_EXPECT(may_change(), false, "hide_from: %s", within_a_question);
    REPLAYOUT_EXPECT(owns(object), false, "hide_from: %s", another_servers);
    REPLAYOUT_EXPECT(owns(connection), false, "hide_from: %s", another_connection);
    return set_shown(object, connection, false);
}

void NetworkServer::forget_shown(NetworkIdentity& object, NetworkConnection& connection) {
    REPLAYOUT_EXPECT(may_change(), void(), "forget_shown: %s", within_a_question);
    REPLAYOUT_EXPECT(owns(object), void(), "forget_shown: %s", another_servers);
    REPLAYOUT_EXPECT(owns(connection), void(), "forget_shown: %s", another_connection);
    if (parts_->observers.forget_shown(object, connection) &&
        object.connection_to_client() == connection.peer()) {
        parts_->authority.queue_state(object);
    }
}

void NetworkServer::rebuild_observers(NetworkIdentity& object) {
    REPLAYOUT_EXPECT(owns(object), void(), "rebuild_observers: %s", another_servers);
    if (object.is_spawned() && !parts_->objects.is_channel(object)) {
        parts_->observers.reconsider(object);
    }
}

// Connections.

NetworkConnection* NetworkServer::find_connection(PeerId peer) noexcept {
    return parts_->connections.find(peer);
}

void NetworkServer::set_client_ready(NetworkConnection& connection) {
    REPLAYOUT_EXPECT(may_change(), void(), "set_client_ready: %s", within_a_question);
    REPLAYOUT_EXPECT(owns(connection), void(), "set_client_ready: %s", another_connection);
    parts_->phases.set_ready(connection);
}

void NetworkServer::set_client_not_ready(NetworkConnection& connection) {
    REPLAYOUT_EXPECT(may_change(), void(), "set_client_not_ready: %s", within_a_question);
    REPLAYOUT_EXPECT(owns(connection), void(), "set_client_not_ready: %s", another_connection);
    parts_->phases.set_not_ready(connection);
}

void NetworkServer::set_answer_wait_ms(std::uint32_t milliseconds) {
    REPLAYOUT_EXPECT(milliseconds >= 1 && milliseconds <= 3'600'000, void(),
                     "set_answer_wait_ms: %u is not between 1 and 3,600,000", milliseconds);
    parts_->phases.set_answer_wait_ms(milliseconds);
}

std::uint32_t NetworkServer::answer_wait_ms() const noexcept {
    return parts_->phases.answer_wait_ms();
}

NetworkConnection& NetworkServer::start_host(PeerId host) {
    Connections& connections = parts_->connections;
    REPLAYOUT_EXPECT(is_listening_, connections.none(),
                     "start_host: the server does not listen: call listen() before, and look at "
                     "its Status");
    REPLAYOUT_EXPECT(may_change(), connections.none(), "start_host: %s", within_a_question);
    REPLAYOUT_EXPECT(host != PeerId{}, connections.none(),
                     "start_host: peer 0 is nobody: give the host another id");
    REPLAYOUT_EXPECT(parts_->host.host() == nullptr, *parts_->host.host(),
                     "start_host: this process plays already: call stop_host() before");
    REPLAYOUT_EXPECT(find_connection(host) == nullptr, *find_connection(host),
                     "start_host: peer %llu is a client: give the host an id of its own",
                     static_cast<unsigned long long>(host.value));
    driver_.set_host(host);
    NetworkConnection& connection = connections.make(host);
    parts_->host.begin(connection);
    manager_.on_server_connect(*this, connection);
    if (parts_->host.host() == &connection) {
        manager_.on_start_host(*this, connection);
    }
    return connection;
}

void NetworkServer::stop_host() {
    REPLAYOUT_EXPECT(may_change(), void(), "stop_host: %s", within_a_question);
    REPLAYOUT_EXPECT(!is_stopping_host_, void(),
                     "stop_host: called from within a callback of stop_host(), which goes on when "
                     "that returns");
    NetworkConnection* const host = parts_->host.host();
    if (host == nullptr) {
        return;
    }
    const detail::UpdateScope stopping(is_stopping_host_);
    manager_.on_stop_host(*this, *host);
    manager_.on_server_disconnect(*this, *host);
    parts_->authority.release_all(*host);
    parts_->host.end();
    parts_->connections.end(host->peer());
}

NetworkConnection* NetworkServer::host() noexcept {
    return parts_->host.host();
}

// NetWorld.

void NetworkServer::peer_joined(PeerId peer) {
    const NetworkConnection* const host = parts_->host.host();
    if (host != nullptr && host->peer() == peer) {
        return;
    }
    NetworkConnection& connection = parts_->connections.make(peer);
    connection.channel_ = parts_->objects.make_channel(peer);
    if (connection.channel_ == nullptr) {
        refuse(peer, "there is no room for the object of a connection: it is closed");
        parts_->connections.end(peer);
        driver_.disconnect(peer);
        return;
    }
    manager_.on_server_connect(*this, connection);
}

void NetworkServer::peer_left(PeerId peer, CloseReason /*reason*/) {
    NetworkConnection* connection = find_connection(peer);
    if (connection == nullptr) {
        return;
    }
    manager_.on_server_disconnect(*this, *connection);
    parts_->authority.release_all(*connection);
    parts_->objects.end_channel(*connection->channel_);
    parts_->connections.end(peer);
    parts_->part_sender.client_left(peer);
}

bool NetworkServer::is_net_relevant_for(ObjectHandle handle, PeerId peer) {
    const NetworkConnection* connection = find_connection(peer);
    return connection != nullptr &&
           Observers::check_observer(*detail::object_of(handle), *connection);
}

bool NetworkServer::holds_back(ObjectHandle handle, ParentIndex property) {
    const NetworkIdentity& object = *detail::object_of(handle);
    for (const NetworkBehaviour* behaviour : object.components()) {
        if (detail::Inside::of(*behaviour).holds_back(property)) {
            return true;  // Its sync interval is not over.
        }
    }
    return false;
}

bool NetworkServer::has_object(ObjectHandle object) {
    return parts_->objects.made().contains(detail::object_of(object));
}

void* NetworkServer::object_memory(ObjectHandle object) {
    return detail::Inside::of(*detail::object_of(object)).components.block();
}

ObjectHandle NetworkServer::spawn(const SpawnInfo& /*info*/) {
    return {};
}

void NetworkServer::despawn(ObjectHandle /*object*/, ChannelCloseReason /*reason*/) {}

}  // namespace replayout
