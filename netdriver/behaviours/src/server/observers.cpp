// SPDX-License-Identifier: MIT
#include "observers.h"

#include "inside.h"
#include "server_parts.h"

#include <algorithm>

namespace replayout {

namespace {

/// A team, match or scene of the game. Not 0, which an object has that is in none yet.
[[nodiscard]] constexpr NetGroup game_group(std::uint32_t group) noexcept {
    return NetGroup{group + 1};
}
// The server's own groups beside these: those that are ready, in which are objects that nobody
// keeps from a client, and nobody.
constexpr NetGroup ready_group{0xFFFF'FFFF};
constexpr NetGroup empty_group{0xFFFF'FFFE};

[[nodiscard]] NetRelevancy relevancy_of(InterestKind kind) noexcept {
    switch (kind) {
        case InterestKind::Distance:
        case InterestKind::SceneDistance:
            return NetRelevancy::Distance;
        case InterestKind::SpatialHashing:
            return NetRelevancy::Grid;
        case InterestKind::Custom:
            return NetRelevancy::Custom;
        default:
            return NetRelevancy::Always;
    }
}

}  // namespace

void NetworkServer::Observers::object_spawned(NetworkIdentity& object) {
    apply_visibility(object);
    for (const auto& [peer, connection] : parts_.connections.all()) {
        if (connection->phase_ == Phase::Leaving) {
            apply_shown(*connection, object);
        }
    }
}

void NetworkServer::Observers::forget(NetworkIdentity& object) {
    for (const auto& [peer, connection] : parts_.connections.all()) {
        connection->shown_.erase(object.net_id());
    }
    detail::Inside::of(object).server.interest.group = {};
}

void NetworkServer::Observers::apply_visibility(NetworkIdentity& object) {
    if (parts_.objects.is_channel(object)) {
        return;  // It is its owner's alone, whatever a call that named it led the game to say.
    }
    Interest interest = parts_.driver.interest();
    detail::ServerRecord& record = detail::Inside::of(object).server;
    NetRelevancy relevancy = relevancy_of(interest_.kind);
    if (object.visibility() != Visibility::Default) {
        relevancy = object.visibility() == Visibility::ForceShown ? NetRelevancy::Always
                                                                  : NetRelevancy::OnlyToOwner;
    }
    interest.set_relevancy(record.id, relevancy);
    if (relevancy == NetRelevancy::Distance) {
        interest.set_cull_distance(record.id, record.interest.range > 0
                                                  ? record.interest.range
                                                  : interest_.effective_range());
    }
    const NetGroup group = group_of(object);
    if (group != record.interest.group) {
        if (record.interest.group != NetGroup{}) {
            interest.clear_groups(record.id);
        }
        interest.add_to_group(record.id, group);
        record.interest.group = group;
    }
    parts_.host.add(object);
}

NetGroup NetworkServer::Observers::group_of(const NetworkIdentity& object) const noexcept {
    const bool is_grouped = interest_.has_groups() && object.visibility() == Visibility::Default;
    if (!is_grouped) {
        return ready_group;
    }
    if (object.interest_group() != 0 || interest_.has_group_zero()) {
        return game_group(object.interest_group());
    }
    return interest_.kind == InterestKind::Team ? ready_group : empty_group;
}

void NetworkServer::Observers::interest_group_changed(NetworkIdentity& object,
                                                      std::uint32_t previous) {
    NetworkConnection* owner = parts_.connections.owner_of(object);
    if (owner != nullptr && !parts_.objects.is_channel(object)) {
        count_group(*owner, previous, false);
        count_group(*owner, object.interest_group(), true);
    }
    apply_visibility(object);
}

void NetworkServer::Observers::position_changed(NetworkIdentity& object) {
    if (parts_.objects.is_channel(object)) {
        return;
    }
    parts_.driver.interest().set_location(detail::Inside::of(object).server.id,
                                          object.transform.position);
    parts_.host.add(object);
    NetworkConnection* owner = parts_.connections.owner_of(object);
    if (owner != nullptr && owner->identity_ == &object) {
        update_viewer(*owner);
    }
}

void NetworkServer::Observers::reconsider(NetworkIdentity& object) {
    parts_.driver.interest().reconsider(detail::Inside::of(object).server.id);
    parts_.host.add(object);
}

// Connections.

void NetworkServer::Observers::count_group(NetworkConnection& connection, std::uint32_t group,
                                           bool is_more) {
    if (!interest_.has_groups() || (group == 0 && !interest_.has_group_zero())) {
        return;
    }
    std::uint32_t& count = connection.groups_[game_group(group).value];
    count += is_more ? 1 : ~std::uint32_t{0};
    const bool is_first = is_more && count == 1;
    const bool is_last = count == 0;
    if (is_last) {
        connection.groups_.erase(game_group(group).value);
    }
    if (!is_first && !is_last) {
        return;
    }
    if (connection.phase_ != Phase::NotReady) {
        parts_.driver.interest().set_in_group(connection.peer(), game_group(group), is_first);
    }
    parts_.host.connection_changed(connection);
}

void NetworkServer::Observers::update_viewer(NetworkConnection& connection) {
    parts_.host.connection_changed(connection);
    if (connection.identity_ == nullptr) {
        parts_.driver.interest().remove_viewer(connection.peer());
    } else {
        parts_.driver.interest().set_viewer(connection.peer(),
                                            connection.identity_->transform.position);
    }
}

void NetworkServer::Observers::phase_changed(NetworkConnection& connection) {
    const bool is_shown = connection.phase_ == Phase::Ready;
    parts_.host.connection_changed(connection);
    Interest interest = parts_.driver.interest();
    interest.set_in_group(connection.peer(), ready_group, is_shown);
    for (const auto& [group, count] : connection.groups_) {
        interest.set_in_group(connection.peer(), NetGroup{group}, is_shown);
    }
    apply_all_shown(connection);
}

// One object and one connection.

void NetworkServer::Observers::apply_shown(NetworkConnection& connection, NetworkIdentity& object) {
    if (connection.is_host_) {
        parts_.host.connection_changed(connection);
        return;
    }
    Interest interest = parts_.driver.interest();
    const PeerId peer = connection.peer();
    const NetObjectId id = detail::Inside::of(object).server.id;
    auto said = connection.shown_.find(object.net_id());
    if (connection.phase_ == Phase::Leaving && !parts_.driver.is_relevant_for(peer, id)) {
        // It would still see what comes, and is not ready.
        connection.shown_.try_emplace(object.net_id());
        interest.set_relevant_for(peer, id, false);
        return;
    }
    if (said != connection.shown_.end() && !said->second.has_value()) {
        connection.shown_.erase(said);
        said = connection.shown_.end();
    }
    const bool is_said = said != connection.shown_.end();
    if (connection.phase_ == Phase::NotReady &&
        (is_said || object.connection_to_client() == peer)) {
        interest.set_relevant_for(peer, id, false);
    } else if (is_said) {
        interest.set_relevant_for(peer, id, *said->second);
    } else {
        interest.clear_relevant_for(peer, id);
    }
}

void NetworkServer::Observers::apply_all_shown(NetworkConnection& connection) {
    for (NetworkIdentity* object : connection.owned_) {
        apply_shown(connection, *object);
    }
    for (auto next = connection.shown_.begin(); next != connection.shown_.end();) {
        apply_shown(connection, *parts_.objects.find((next++)->first));
    }
}

void NetworkServer::Observers::set_shown(NetworkIdentity& object, NetworkConnection& connection,
                                         bool is_shown) {
    connection.shown_.insert_or_assign(object.net_id(), is_shown);
    apply_shown(connection, object);
}

bool NetworkServer::Observers::forget_shown(NetworkIdentity& object,
                                            NetworkConnection& connection) {
    if (connection.shown_.erase(object.net_id()) == 0) {
        return false;
    }
    apply_shown(connection, object);
    return true;
}

bool NetworkServer::Observers::check_observer(const NetworkIdentity& object,
                                              const NetworkConnection& connection) {
    const std::span<NetworkBehaviour* const> components = object.components();
    return std::all_of(components.begin(), components.end(),
                       [&](const NetworkBehaviour* component) {
                           return component->on_check_observer(connection);
                       });
}

bool NetworkServer::Observers::host_sees(const NetworkIdentity& object) const {
    const NetworkConnection* const host = parts_.host.host();
    if (host == nullptr || host->phase_ != Phase::Ready) {
        return false;
    }
    const auto said = host->shown_.find(object.net_id());
    if (said != host->shown_.end()) {
        return *said->second;
    }
    if (object.connection_to_client() == host->peer() ||
        object.visibility() == Visibility::ForceShown) {
        return true;
    }
    const detail::ServerRecord& record = detail::Inside::of(object).server;
    const NetGroup group = record.interest.group;
    const bool is_in_group =
        group == ready_group || host->groups_.find(group.value) != host->groups_.end();
    if (object.visibility() == Visibility::ForceHidden || !is_in_group) {
        return false;
    }
    switch (relevancy_of(interest_.kind)) {
        case NetRelevancy::Custom:
            return check_observer(object, *host);
        case NetRelevancy::Distance:
        case NetRelevancy::Grid:
            return parts_.driver.interest().is_in_sight(host->peer(), record.id);
        default:
            return true;
    }
}

}  // namespace replayout
