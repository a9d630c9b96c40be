// SPDX-License-Identifier: MIT
//
// Of NetworkServer: who sees what. Clients by the driver's Interest; the host, which is no client
// of the driver, by the same rules said once more. Distances and cells are the driver's for both.
#include "host_calls.h"
#include "server_groups.h"
#include "stored_references.h"
#include "update_scope.h"

#include <replayout/reflection/diagnostics.h>
#include <replayout/syncvar/network_server.h>

#include <algorithm>

namespace replayout::syncvar {

namespace {

[[nodiscard]] NetRelevancy relevancy_of(InterestKind kind) noexcept {
    switch (kind) {
        case InterestKind::Distance:
        case InterestKind::SceneDistance:
            return NetRelevancy::Distance;
        case InterestKind::SpatialHashing:
            return NetRelevancy::Grid;
        case InterestKind::Custom:
            return NetRelevancy::Custom;
        case InterestKind::Everybody:
        case InterestKind::Team:
        case InterestKind::Match:
        case InterestKind::Scene:
            break;
    }
    return NetRelevancy::Always;
}

}  // namespace

// Objects.

void NetworkServer::apply_visibility(NetworkIdentity& object) {
    if (is_channel(object)) {
        return;  // It is its owner's alone, whatever a call that named it led the game to say.
    }
    Interest interest = driver_.interest();
    NetRelevancy relevancy = relevancy_of(interest_.kind);
    if (object.visibility_ != Visibility::Default) {
        relevancy = object.visibility_ == Visibility::ForceShown ? NetRelevancy::Always
                                                                 : NetRelevancy::OnlyToOwner;
    }
    interest.set_relevancy(object.object_, relevancy);
    if (relevancy == NetRelevancy::Distance) {
        interest.set_cull_distance(object.object_, object.interest_range_ > 0
                                                       ? object.interest_range_
                                                       : interest_.effective_range());
    }
    const NetGroup group = group_of(object);
    if (group != object.group_) {
        if (object.group_ != NetGroup{}) {
            interest.clear_groups(object.object_);
        }
        interest.add_to_group(object.object_, group);
        object.group_ = group;
    }
    queue_for_host(object);
}

NetGroup NetworkServer::group_of(const NetworkIdentity& object) const noexcept {
    const bool is_grouped = interest_.has_groups() && object.visibility_ == Visibility::Default;
    if (!is_grouped) {
        return ready_group;
    }
    if (object.interest_group_ != 0 || interest_.has_group_zero()) {
        return game_group(object.interest_group_);
    }
    return interest_.kind == InterestKind::Team ? ready_group : empty_group;
}

void NetworkServer::interest_group_changed(NetworkIdentity& object, std::uint32_t previous) {
    NetworkConnection* owner = owner_of(object);
    if (owner != nullptr && !is_channel(object)) {
        count_group(*owner, previous, false);
        count_group(*owner, object.interest_group_, true);
    }
    apply_visibility(object);
}

void NetworkServer::count_group(NetworkConnection& connection, std::uint32_t group, bool is_more) {
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
        driver_.interest().set_in_group(connection.peer(), game_group(group), is_first);
    }
    is_host_looking_at_all_ = is_host_looking_at_all_ || connection.is_host_;
}

void NetworkServer::position_changed(NetworkIdentity& object) {
    if (is_channel(object)) {
        return;
    }
    driver_.interest().set_location(object.object_, object.transform.position);
    queue_for_host(object);
    NetworkConnection* owner = owner_of(object);
    if (owner != nullptr && owner->identity_ == &object) {
        update_viewer(*owner);
    }
}

void NetworkServer::update_viewer(NetworkConnection& connection) {
    is_host_looking_at_all_ = is_host_looking_at_all_ || connection.is_host_;
    if (connection.identity_ == nullptr) {
        driver_.interest().remove_viewer(connection.peer());
    } else {
        driver_.interest().set_viewer(connection.peer(), connection.identity_->transform.position);
    }
}

// One object and one connection.

void NetworkServer::apply_shown(NetworkConnection& connection, NetworkIdentity& object) {
    if (connection.is_host_) {
        is_host_looking_at_all_ = true;
        return;
    }
    Interest interest = driver_.interest();
    const PeerId peer = connection.peer();
    auto said = connection.shown_.find(object.net_id());
    if (connection.phase_ == Phase::Leaving && !driver_.is_relevant_for(peer, object.object_)) {
        // It would still see what comes, and is not ready.
        connection.shown_.try_emplace(object.net_id());
        interest.set_relevant_for(peer, object.object_, false);
        return;
    }
    if (said != connection.shown_.end() && !said->second.has_value()) {
        connection.shown_.erase(said);
        said = connection.shown_.end();
    }
    const bool is_said = said != connection.shown_.end();
    if (connection.phase_ == Phase::NotReady && (is_said || object.owner_ == peer)) {
        interest.set_relevant_for(peer, object.object_, false);
    } else if (is_said) {
        interest.set_relevant_for(peer, object.object_, *said->second);
    } else {
        interest.clear_relevant_for(peer, object.object_);
    }
}

void NetworkServer::apply_all_shown(NetworkConnection& connection) {
    for (NetworkIdentity* object : connection.owned_) {
        apply_shown(connection, *object);
    }
    for (auto next = connection.shown_.begin(); next != connection.shown_.end();) {
        apply_shown(connection, *find((next++)->first));
    }
}

bool NetworkServer::set_shown(NetworkIdentity& object, NetworkConnection& connection,
                              bool is_shown) {
    if (!object.is_spawned() || is_channel(object)) {
        return refuse(connection.peer(),
                      "show_to or hide_from: " + name_of(object) + " is not spawned");
    }
    connection.shown_.insert_or_assign(object.net_id(), is_shown);
    apply_shown(connection, object);
    if (object.owner_ == connection.peer()) {
        queue_owner_state(object);  // in case it is shown again
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
    if (connection.shown_.erase(object.net_id()) == 0) {
        return;
    }
    apply_shown(connection, object);
    if (object.owner_ == connection.peer()) {
        queue_owner_state(object);
    }
}

void NetworkServer::rebuild_observers(NetworkIdentity& object) {
    REPLAYOUT_EXPECT(owns(object), void(), "rebuild_observers: %s", another_servers);
    if (object.is_spawned() && !is_channel(object)) {
        driver_.interest().reconsider(object.object_);
        queue_for_host(object);
    }
}

bool NetworkServer::check_observer(const NetworkIdentity& object,
                                   const NetworkConnection& connection) {
    const std::span<NetworkBehaviour* const> components = object.components();
    return std::all_of(components.begin(), components.end(),
                       [&](const NetworkBehaviour* component) {
                           return component->on_check_observer(connection);
                       });
}

bool NetworkServer::is_net_relevant_for(ObjectHandle handle, PeerId peer) {
    const NetworkConnection* connection = find_connection(peer);
    return connection != nullptr && check_observer(NetworkIdentity::of(handle), *connection);
}

// The host.

bool NetworkServer::host_sees(const NetworkIdentity& object) {
    if (host_ == nullptr || host_->phase_ != Phase::Ready) {
        return false;
    }
    const auto said = host_->shown_.find(object.net_id());
    if (said != host_->shown_.end()) {
        return *said->second;
    }
    if (object.owner_ == host_->peer() || object.visibility_ == Visibility::ForceShown) {
        return true;
    }
    const bool is_in_group = object.group_ == ready_group ||
                             host_->groups_.find(object.group_.value) != host_->groups_.end();
    if (object.visibility_ == Visibility::ForceHidden || !is_in_group) {
        return false;
    }
    switch (relevancy_of(interest_.kind)) {
        case NetRelevancy::Custom:
            return check_observer(object, *host_);
        case NetRelevancy::Distance:
        case NetRelevancy::Grid:
            return driver_.interest().is_in_sight(host_->peer(), object.object_);
        default:
            return true;
    }
}

void NetworkServer::queue_for_host(NetworkIdentity& object) {
    if (host_ != nullptr && !std::exchange(object.is_host_queued_, true)) {
        host_queue_.push_back(&object);
    }
}

void NetworkServer::update_host() {
    if (host_ == nullptr) {
        return;
    }
    // What is said of the host here takes effect at once.
    if (host_->is_ready_ != (host_->phase_ == Phase::Ready)) {
        update_phase(*host_);
    }
    driver_.interest().look_around();  // what moved in this tick counts for it at once
    if (std::exchange(is_host_looking_at_all_, false)) {
        for (const auto& [net_id, object] : spawned_) {
            queue_for_host(*object);
        }
    }
    std::vector<NetworkIdentity*> objects;
    objects.swap(host_queue_);
    std::sort(objects.begin(), objects.end(),
              [](const auto* left, const auto* right) { return left->net_id() < right->net_id(); });
    for (NetworkIdentity* object : objects) {
        object->is_host_queued_ = false;
        if (object->is_spawned() && host_ != nullptr) {  // a callback may stop the host
            show_to_host(*object);
        }
    }
    if (host_queue_.empty()) {
        objects.clear();
        host_queue_.swap(objects);  // keeps its memory
    }
    run_host_calls(nullptr);
}

bool NetworkServer::host_hears(NetworkIdentity& object, const Function& function,
                               const void* values, void* place) {
    if (host_ == nullptr || !host_sees(object)) {
        return false;
    }
    const bool is_behind =
        std::any_of(host_calls_->begin(), host_calls_->end(),
                    [&](const HostCall& call) { return &call.object() == &object; });
    if (object.is_started_ && !is_behind) {
        return true;
    }
    const Type* parameters = function.parameters;
    if (parameters != nullptr && parameters->ops().copy_construct == nullptr) {
        show_to_host(object);  // what cannot wait runs now, and the object starts for it
        return object.is_started_;
    }
    host_calls_->emplace_back(object, object.net_id_, place, parameters, values, resource_);
    return false;
}

void NetworkServer::run_host_calls(const NetworkIdentity* object) {
    // Each of them may call, spawn and destroy.
    for (std::size_t i = 0; i < host_calls_->size();) {
        if (object != nullptr && &(*host_calls_)[i].object() != object) {
            ++i;
            continue;
        }
        HostCall call = std::move((*host_calls_)[i]);
        host_calls_->erase(host_calls_->begin() + static_cast<std::ptrdiff_t>(i));
        if (call.object().net_id_ == call.net_id() && call.object().is_started_) {
            if (call.parameters() != nullptr) {
                references_->clear_unspawned(*call.parameters(),
                                             static_cast<std::byte*>(call.values()));
            }
            NetworkPrefab::run_function(call.object().block(), call.values(), call.place());
        }
    }
}

void NetworkServer::show_to_host(NetworkIdentity& object) {
    const bool is_seen = host_sees(object);
    if (!std::exchange(object.is_host_told_, true) || object.is_host_visible_ != is_seen) {
        object.is_host_visible_ = is_seen;
        for (NetworkBehaviour* component : object.components()) {
            component->on_set_host_visibility(is_seen);
        }
        if (is_seen && host_ != nullptr) {
            object.for_each_component(&NetworkBehaviour::run_initial_hooks);
            object.start_client();
        }
    }
    if (object.is_started_ && host_ != nullptr) {
        object.tell_role(object.role_);
    }
}

}  // namespace replayout::syncvar
