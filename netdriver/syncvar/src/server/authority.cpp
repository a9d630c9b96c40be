// SPDX-License-Identifier: MIT
#include "authority.h"

#include "driver_call.h"
#include "prefab_params.h"

#include <algorithm>
#include <string>
#include <utility>

namespace replayout::syncvar {

NetworkServer::Authority::Authority(const Environment& environment, const Parts& parts)
    : environment_(environment),
      driver_(environment.driver),
      connections_(parts.connections),
      host_(parts.host),
      observers_(parts.observers),
      sections_(environment.resource) {}

// Owners and players.

bool NetworkServer::Authority::assign(NetworkIdentity& object, NetworkConnection& owner) {
    if (object.owner_.value != 0 && object.owner_ != owner.peer()) {
        return environment_.log.refuse(
            owner.peer(), "assign_client_authority: peer " + std::to_string(object.owner_.value) +
                              " has authority of " + Log::name_of(object) +
                              ": call remove_client_authority() first");
    }
    set_owner(object, owner);
    return true;
}

bool NetworkServer::Authority::remove(NetworkIdentity& object) {
    const NetworkConnection* owner = connections_.owner_of(object);
    if (owner == nullptr) {
        return environment_.log.refuse(
            PeerId{}, "remove_client_authority: nobody has authority of " + Log::name_of(object));
    }
    if (owner->identity() == &object) {
        return environment_.log.refuse(
            object.owner_, "remove_client_authority: " + Log::name_of(object) +
                               " is the player of peer " + std::to_string(object.owner_.value) +
                               ", which keeps authority of it");
    }
    if (!tell_last_owner(object)) {
        return false;
    }
    clear_owner(object);
    return true;
}

void NetworkServer::Authority::set_owner(NetworkIdentity& object, NetworkConnection& owner) {
    if (object.owner_ == owner.peer()) {
        return;
    }
    object.owner_ = owner.peer();
    owner.owned_.push_back(&object);
    observers_.count_group(owner, object.interest_group_, true);
    driver_.set_owner(object.object_, owner.peer());
    driver_.set_autonomous(object.object_, true);
    observers_.apply_shown(owner, object);
    if (owner.is_host_) {
        object.role_.is_owned = true;
        host_.add(object);
    }
    queue_state(object);
}

void NetworkServer::Authority::clear_owner(NetworkIdentity& object) {
    NetworkConnection* owner = connections_.owner_of(object);
    if (owner == nullptr) {
        return;
    }
    object.owner_ = {};
    std::erase(owner->owned_, &object);
    observers_.count_group(*owner, object.interest_group_, false);
    driver_.clear_owner(object.object_);
    driver_.set_autonomous(object.object_, false);
    observers_.apply_shown(*owner, object);
    if (owner->is_host_) {
        object.role_.is_owned = false;
        host_.add(object);
    }
}

bool NetworkServer::Authority::tell_last_owner(NetworkIdentity& object) {
    const NetworkConnection* owner = connections_.owner_of(object);
    if (owner == nullptr || owner->is_host_ || send_state(object, 0)) {
        return true;
    }
    queue_state(object);  // A part of it may have been told.
    return environment_.log.refuse(
        object.owner_, "peer " + std::to_string(object.owner_.value) + " stays the owner of " +
                           Log::name_of(object) +
                           ": its calls have no room for what it must know; try again");
}

void NetworkServer::Authority::set_player(NetworkConnection& connection, NetworkIdentity* player) {
    NetworkIdentity* previous = std::exchange(connection.identity_, player);
    for (NetworkIdentity* object : {previous, player}) {
        if (object == nullptr) {
            continue;
        }
        driver_.set_player(object->object_, object == player);
        if (connection.is_host_) {
            object->role_.is_player = object == player;
            host_.add(*object);
        }
    }
    observers_.update_viewer(connection);
}

void NetworkServer::Authority::release_all(NetworkConnection& connection) {
    if (connection.identity_ != nullptr) {
        set_player(connection, nullptr);
    }
    while (!connection.owned_.empty()) {
        clear_owner(*connection.owned_.back());  // that the game keeps
    }
}

// What owners decide.

void NetworkServer::Authority::queue_state(NetworkIdentity& object) {
    if (!has_state(object)) {
        return;
    }
    ++object.authority_epoch_;
    object.is_owner_asking_ = false;
    if (!std::exchange(object.is_state_due_, true)) {
        queued_.push_back(&object);
    }
}

void NetworkServer::Authority::send_states() {
    std::erase_if(queued_, [&](NetworkIdentity* object) {
        return !object->is_state_due_ || tell_owner(*object);
    });
}

void NetworkServer::Authority::take_section(NetworkBehaviour& component,
                                            const NetworkBehaviour& section) {
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
        ++environment_.counters.sections_refused;
        return;
    }
    const std::uint64_t net_id = object.net_id_;
    const std::uint64_t changed = component.apply_section(section, 0);
    if (object.net_id_ == net_id) {
        component.set_dirty_bit(changed);
    }
}

void NetworkServer::Authority::take_operations(NetworkBehaviour& component,
                                               SyncCollection& collection, const void* params) {
    if (!collection.is_owner_epoch(collection.epoch_of(params))) {
        ++environment_.counters.collections_refused;
        return;
    }
    if (!collection.receive_from_owner(params)) {
        ++environment_.counters.collections_refused;
        component.log_line(LogLevel::Warning, "what its owner did to collection " +
                                                  component.name_of(collection) +
                                                  " cannot be: it stays as it is");
        owner_asks(component.identity());
    }
}

void NetworkServer::Authority::forget_gone() {
    std::erase_if(queued_, [](const NetworkIdentity* object) { return object->is_gone_; });
}

bool NetworkServer::Authority::has_state(const NetworkIdentity& object) noexcept {
    const std::span<const NetworkPrefab::Component> components = object.prefab().components();
    return std::any_of(components.begin(), components.end(), [](const auto& placed) {
        return placed.settings.sync_direction == SyncDirection::ClientToServer;
    });
}

void NetworkServer::Authority::owner_asks(NetworkIdentity& object) {
    if (has_state(object) && !std::exchange(object.is_state_due_, true)) {
        object.is_owner_asking_ = true;
        queued_.push_back(&object);
    }
}

bool NetworkServer::Authority::must_owner_wait(const NetworkIdentity& object) const noexcept {
    constexpr std::int64_t pause_ms = 1'000;
    return object.is_owner_asking_ && object.owner_told_ &&
           environment_.now < object.owner_told_->plus_milliseconds(pause_ms);
}

bool NetworkServer::Authority::tell_owner(NetworkIdentity& object) {
    if (must_owner_wait(object)) {
        return false;
    }
    if (std::exchange(object.is_owner_asking_, false)) {
        ++object.authority_epoch_;  // until now it may write
    }
    const NetworkConnection* owner = connections_.owner_of(object);
    // An owner that is not ready is sent the state as soon as it is ready.
    const bool is_done = owner == nullptr || owner->is_host() || !owner->is_ready() ||
                         send_state(object, object.authority_epoch_);
    object.is_state_due_ = !is_done;
    if (is_done) {
        object.owner_told_ = environment_.now;
    }
    return is_done;
}

bool NetworkServer::Authority::send_state(NetworkIdentity& object, std::uint32_t epoch) {
    constexpr std::uint64_t all = ~std::uint64_t{0};
    const NetworkPrefab& prefab = object.prefab();
    for (NetworkBehaviour* component : object.components()) {
        const NetworkPrefab::Component& placed = prefab.components()[component->component_index()];
        if (placed.settings.sync_direction == SyncDirection::ClientToServer &&
            driver_.call_function(
                object.object_, placed.sync_to_owner,
                params_of(prefab, placed.sync_to_owner, sections_.make(*component, all, epoch))) ==
                CallResult::Full) {
            return false;
        }
        if (placed.settings.sync_direction == SyncDirection::ClientToServer &&
            !send_collections(*component, epoch)) {
            return false;
        }
    }
    return true;
}

bool NetworkServer::Authority::send_collections(NetworkBehaviour& component, std::uint32_t epoch) {
    const NetworkIdentity& object = component.identity();
    const NetworkPrefab::Component& placed =
        object.prefab().components()[component.component_index()];
    for (std::size_t i = 0; i < placed.collections.size(); ++i) {
        const NetworkPrefab::Collection& functions = placed.collections[i];
        const DriverCall call(driver_, object.object_, object.prefab(),
                              epoch == 0 ? functions.to_last_owner : functions.to_owner);
        SyncCollection& collection = component.collection(i);
        const CallResult result = collection.send_to_owner(epoch, call);
        if (result == CallResult::Full) {
            return false;
        }
        if (result != CallResult::Sent && result != CallResult::NotOwned) {
            component.log_line(LogLevel::Error, "collection " + component.name_of(collection) +
                                                    " is too large for its owner to be told");
        }
    }
    return true;
}

}  // namespace replayout::syncvar
