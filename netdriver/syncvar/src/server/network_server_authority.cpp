// SPDX-License-Identifier: MIT
//
// Of NetworkServer: who owns what, players, and what owners decide.
#include "prefab_params.h"
#include "sync_section.h"
#include "update_scope.h"

#include <replayout/syncvar/network_server.h>
#include <replayout/syncvar/sync_collection.h>

#include <algorithm>
#include <string>

namespace replayout::syncvar {

NetworkConnection* NetworkServer::owner_of(const NetworkIdentity& object) noexcept {
    return object.owner_.value == 0 ? nullptr : find_connection(object.owner_);
}

void NetworkServer::set_owner(NetworkIdentity& object, NetworkConnection& owner) {
    if (object.owner_ == owner.peer()) {
        return;
    }
    object.owner_ = owner.peer();
    owner.owned_.push_back(&object);
    count_group(owner, object.interest_group_, true);
    driver_.set_owner(object.object_, owner.peer());
    driver_.set_autonomous(object.object_, true);
    apply_shown(owner, object);
    if (owner.is_host_) {
        object.role_.is_owned = true;
        queue_for_host(object);
    }
    queue_owner_state(object);
}

void NetworkServer::clear_owner(NetworkIdentity& object) {
    NetworkConnection* owner = owner_of(object);
    if (owner == nullptr) {
        return;
    }
    object.owner_ = {};
    std::erase(owner->owned_, &object);
    count_group(*owner, object.interest_group_, false);
    driver_.clear_owner(object.object_);
    driver_.set_autonomous(object.object_, false);
    apply_shown(*owner, object);
    if (owner->is_host_) {
        object.role_.is_owned = false;
        queue_for_host(object);
    }
}

bool NetworkServer::tell_last_owner(NetworkIdentity& object) {
    const NetworkConnection* owner = owner_of(object);
    if (owner == nullptr || owner->is_host_ || send_owner_state(object, 0)) {
        return true;
    }
    queue_owner_state(object);  // A part of it may have been told.
    return refuse(object.owner_, "peer " + std::to_string(object.owner_.value) +
                                     " stays the owner of " + name_of(object) +
                                     ": its calls have no room for what it must know; try again");
}

bool NetworkServer::assign_client_authority(NetworkIdentity& object, NetworkConnection& owner) {
    REPLAYOUT_EXPECT(may_change(), false, "assign_client_authority: %s", within_a_question);
    REPLAYOUT_EXPECT(owns(object), false, "assign_client_authority: %s", another_servers);
    REPLAYOUT_EXPECT(owns(owner), false, "assign_client_authority: %s", another_connection);
    if (!object.is_spawned() || is_channel(object)) {
        return refuse(owner.peer(), "assign_client_authority: " + name_of(object) +
                                        " is not spawned: spawn it first");
    }
    if (object.owner_.value != 0 && object.owner_ != owner.peer()) {
        return refuse(owner.peer(), "assign_client_authority: peer " +
                                        std::to_string(object.owner_.value) + " has authority of " +
                                        name_of(object) + ": call remove_client_authority() first");
    }
    set_owner(object, owner);
    return true;
}

bool NetworkServer::remove_client_authority(NetworkIdentity& object) {
    REPLAYOUT_EXPECT(may_change(), false, "remove_client_authority: %s", within_a_question);
    REPLAYOUT_EXPECT(owns(object), false, "remove_client_authority: %s", another_servers);
    const NetworkConnection* owner = owner_of(object);
    if (owner == nullptr) {
        return refuse(PeerId{},
                      "remove_client_authority: nobody has authority of " + name_of(object));
    }
    if (owner->identity() == &object) {
        return refuse(object.owner_,
                      "remove_client_authority: " + name_of(object) + " is the player of peer " +
                          std::to_string(object.owner_.value) + ", which keeps authority of it");
    }
    if (!tell_last_owner(object)) {
        return false;
    }
    clear_owner(object);
    return true;
}

// Players.

void NetworkServer::set_player(NetworkConnection& connection, NetworkIdentity* player) {
    NetworkIdentity* previous = std::exchange(connection.identity_, player);
    for (NetworkIdentity* object : {previous, player}) {
        if (object == nullptr) {
            continue;
        }
        driver_.set_player(object->object_, object == player);
        if (connection.is_host_) {
            object->role_.is_player = object == player;
            queue_for_host(*object);
        }
    }
    update_viewer(connection);
}

bool NetworkServer::add_player_for_connection(NetworkConnection& connection,
                                              NetworkIdentity& player) {
    REPLAYOUT_EXPECT(owns(connection), false, "add_player_for_connection: %s", another_connection);
    if (connection.identity() != nullptr) {
        return refuse(connection.peer(), "add_player_for_connection: peer " +
                                             std::to_string(connection.peer().value) +
                                             " has a player, " + name_of(*connection.identity()) +
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
    if (is_channel(player) || (player.owner_.value != 0 && player.owner_ != connection.peer())) {
        return refuse(connection.peer(), "replace_player_for_connection: peer " +
                                             std::to_string(player.owner_.value) + " owns " +
                                             name_of(player));
    }
    NetworkIdentity* previous = connection.identity();
    if (previous == &player) {
        return refuse(connection.peer(), "replace_player_for_connection: " + name_of(player) +
                                             " is the player of peer " +
                                             std::to_string(connection.peer().value) + " already");
    }
    const bool is_released = previous != nullptr && options == ReplacePlayerOptions::KeepActive;
    if (is_released && !tell_last_owner(*previous)) {
        return false;
    }
    set_client_ready(connection);
    if (!player.is_spawned() && !spawn(player, &connection)) {
        if (is_released) {
            queue_owner_state(*previous);
        }
        return false;
    }
    set_owner(player, connection);
    set_player(connection, &player);
    if (previous == nullptr) {
        return true;
    }
    switch (options) {
        case ReplacePlayerOptions::KeepAuthority:
            break;
        case ReplacePlayerOptions::KeepActive:
            clear_owner(*previous);
            break;
        case ReplacePlayerOptions::Unspawn:
            unspawn(*previous);
            break;
        case ReplacePlayerOptions::Destroy:
            destroy(*previous);
            break;
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
    switch (options) {
        case RemovePlayerOptions::KeepActive:
            if (!tell_last_owner(*player)) {
                return false;
            }
            set_player(connection, nullptr);
            clear_owner(*player);
            break;
        case RemovePlayerOptions::Unspawn:
            unspawn(*player);
            break;
        case RemovePlayerOptions::Destroy:
            destroy(*player);
            break;
    }
    return true;
}

// What owners decide.

void NetworkServer::queue_owner_state(NetworkIdentity& object) {
    if (!has_owner_state(object)) {
        return;
    }
    ++object.authority_epoch_;
    object.is_owner_asking_ = false;
    if (!std::exchange(object.is_state_due_, true)) {
        owner_states_.push_back(&object);
    }
}

bool NetworkServer::has_owner_state(const NetworkIdentity& object) noexcept {
    const std::span<const NetworkPrefab::Component> components = object.prefab().components();
    return std::any_of(components.begin(), components.end(), [](const auto& placed) {
        return placed.settings.sync_direction == SyncDirection::ClientToServer;
    });
}

void NetworkServer::owner_asks(NetworkIdentity& object) {
    if (has_owner_state(object) && !std::exchange(object.is_state_due_, true)) {
        object.is_owner_asking_ = true;
        owner_states_.push_back(&object);
    }
}

bool NetworkServer::must_owner_wait(const NetworkIdentity& object) const noexcept {
    constexpr std::int64_t pause_ms = 1'000;
    return object.is_owner_asking_ && object.owner_told_ &&
           now_ < object.owner_told_->plus_milliseconds(pause_ms);
}

void NetworkServer::send_owner_states() {
    std::erase_if(owner_states_, [&](NetworkIdentity* object) {
        return !object->is_state_due_ || tell_owner(*object);
    });
}

bool NetworkServer::tell_owner(NetworkIdentity& object) {
    if (must_owner_wait(object)) {
        return false;
    }
    if (std::exchange(object.is_owner_asking_, false)) {
        ++object.authority_epoch_;  // until now it may write
    }
    const NetworkConnection* owner = owner_of(object);
    // An owner that is not ready is sent it as soon as it is ready.
    const bool is_done = owner == nullptr || owner->is_host() || !owner->is_ready() ||
                         send_owner_state(object, object.authority_epoch_);
    object.is_state_due_ = !is_done;
    if (is_done) {
        object.owner_told_ = now_;
    }
    return is_done;
}

bool NetworkServer::send_owner_state(NetworkIdentity& object, std::uint32_t epoch) {
    constexpr std::uint64_t all = ~std::uint64_t{0};
    const NetworkPrefab& prefab = object.prefab();
    for (NetworkBehaviour* component : object.components()) {
        const NetworkPrefab::Component& placed = prefab.components()[component->component_index()];
        if (placed.settings.sync_direction == SyncDirection::ClientToServer &&
            driver_.call_function(
                object.object_, placed.sync_to_owner,
                params_of(prefab, placed.sync_to_owner, sections_->make(*component, all, epoch))) ==
                CallResult::Full) {
            return false;
        }
        if (placed.settings.sync_direction == SyncDirection::ClientToServer &&
            !send_owner_collections(*component, epoch)) {
            return false;
        }
    }
    return true;
}

void NetworkServer::take_section(NetworkBehaviour& component, const NetworkBehaviour& section) {
    NetworkIdentity& object = component.identity();
    if (section.authority_epoch_ == 0 && section.dirty_bits_ == 0) {
        owner_asks(object);
        return;
    }
    const std::size_t count = component.type_->sync_vars.size();
    const std::uint64_t known =
        count == sync_vars_max ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    if (section.authority_epoch_ != object.authority_epoch_ ||
        (section.dirty_bits_ & ~known) != 0) {
        ++counters_.sections_refused;
        return;
    }
    const std::uint64_t net_id = object.net_id_;
    const std::uint64_t changed = component.apply_section(section, 0);
    if (object.net_id_ == net_id) {
        component.set_dirty_bit(changed);
    }
}

void NetworkServer::take_operations(NetworkBehaviour& component, SyncCollection& collection,
                                    const void* params) {
    if (!collection.is_owner_epoch(collection.epoch_of(params))) {
        ++counters_.collections_refused;
        return;
    }
    if (!collection.receive_from_owner(params)) {
        ++counters_.collections_refused;
        component.log_line(LogLevel::Warning, "what its owner did to collection " +
                                                  component.name_of(collection) +
                                                  " cannot be: it stays as it is");
        owner_asks(component.identity());
    }
}

}  // namespace replayout::syncvar
