// SPDX-License-Identifier: MIT
#include "authority.h"

#include "prefab_params.h"
#include "server_parts.h"

#include <algorithm>
#include <string>
#include <utility>

namespace replayout {

NetworkServer::Authority::Authority(detail::ServerParts& parts)
    : PartOf(parts), sections_(parts.resource) {}

bool NetworkServer::Authority::assign(NetworkIdentity& object, NetworkConnection& owner) {
    const PeerId present = object.connection_to_client();
    if (present.value != 0 && present != owner.peer()) {
        return parts_.log.refuse(owner.peer(), "assign_client_authority: peer " +
                                                   std::to_string(present.value) +
                                                   " has authority of " + Log::name_of(object) +
                                                   ": call remove_client_authority() first");
    }
    set_owner(object, owner);
    return true;
}

bool NetworkServer::Authority::remove(NetworkIdentity& object) {
    const NetworkConnection* owner = parts_.connections.owner_of(object);
    if (owner == nullptr) {
        return parts_.log.refuse(
            PeerId{}, "remove_client_authority: nobody has authority of " + Log::name_of(object));
    }
    if (owner->identity() == &object) {
        return parts_.log.refuse(owner->peer(), "remove_client_authority: " + Log::name_of(object) +
                                                    " is the player of peer " +
                                                    std::to_string(owner->peer().value) +
                                                    ", which keeps authority of it");
    }
    if (!tell_last_owner(object)) {
        return false;
    }
    clear_owner(object);
    return true;
}

void NetworkServer::Authority::set_owner(NetworkIdentity& object, NetworkConnection& owner) {
    detail::ObjectParts& parts = detail::Inside::of(object);
    if (parts.server.owner.peer == owner.peer()) {
        return;
    }
    parts.server.owner.peer = owner.peer();
    owner.owned_.push_back(&object);
    parts_.observers.count_group(owner, object.interest_group(), true);
    parts_.driver.set_owner(parts.server.id, owner.peer());
    parts_.driver.set_autonomous(parts.server.id, true);
    parts_.observers.apply_shown(owner, object);
    if (owner.is_host_) {
        parts.local.set_owned(true);
        parts_.host.add(object);
    }
    queue_state(object);
}

void NetworkServer::Authority::clear_owner(NetworkIdentity& object) {
    NetworkConnection* owner = parts_.connections.owner_of(object);
    if (owner == nullptr) {
        return;
    }
    detail::ObjectParts& parts = detail::Inside::of(object);
    parts.server.owner.peer = {};
    std::erase(owner->owned_, &object);
    parts_.observers.count_group(*owner, object.interest_group(), false);
    parts_.driver.clear_owner(parts.server.id);
    parts_.driver.set_autonomous(parts.server.id, false);
    parts_.observers.apply_shown(*owner, object);
    if (owner->is_host_) {
        parts.local.set_owned(false);
        parts_.host.add(object);
    }
}

bool NetworkServer::Authority::tell_last_owner(NetworkIdentity& object) {
    const NetworkConnection* owner = parts_.connections.owner_of(object);
    if (owner == nullptr || owner->is_host_ || send_state(object, 0)) {
        return true;
    }
    queue_state(object);  // A part of it may have been told.
    return parts_.log.refuse(
        owner->peer(), "peer " + std::to_string(owner->peer().value) + " stays the owner of " +
                           Log::name_of(object) +
                           ": its calls have no room for what it must know; try again");
}

void NetworkServer::Authority::set_player(NetworkConnection& connection, NetworkIdentity* player) {
    NetworkIdentity* previous = std::exchange(connection.identity_, player);
    for (NetworkIdentity* object : {previous, player}) {
        if (object == nullptr) {
            continue;
        }
        detail::ObjectParts& parts = detail::Inside::of(*object);
        parts_.driver.set_player(parts.server.id, object == player);
        if (connection.is_host_) {
            parts.local.set_player(object == player);
            parts_.host.add(*object);
        }
    }
    parts_.observers.update_viewer(connection);
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
    detail::OwnerRecord& owner = detail::Inside::of(object).server.owner;
    ++owner.epoch;
    owner.is_state_asked = false;
    if (!std::exchange(owner.is_state_due, true)) {
        queued_.push_back(&object);
    }
}

void NetworkServer::Authority::send_states() {
    std::erase_if(queued_, [&](NetworkIdentity* object) {
        return !detail::Inside::of(*object).server.owner.is_state_due || tell_owner(*object);
    });
}

void NetworkServer::Authority::take_section(detail::ObjectComponent& component,
                                            const detail::ReceivedSection& section) {
    NetworkIdentity& object = component.identity();
    if (section.epoch() == 0 && section.mask() == 0) {
        owner_asks(object);
        return;
    }
    const std::size_t count = component.type().sync_vars.size();
    const std::uint64_t known =
        count == sync_vars_max ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    if (section.epoch() != detail::Inside::of(object).server.owner.epoch ||
        (section.mask() & ~known) != 0) {
        ++parts_.counters.sections_refused;
        return;
    }
    const std::uint64_t net_id = object.net_id();
    const std::uint64_t changed = section.apply_to(component, 0);
    if (object.net_id() == net_id) {
        component.mark_sync_vars(changed);
    }
}

void NetworkServer::Authority::take_operations(detail::ObjectComponent& component,
                                               detail::CollectionEnd& collection,
                                               const void* params) {
    if (!collection.is_owner_epoch(collection.epoch_of(params))) {
        ++parts_.counters.collections_refused;
        return;
    }
    if (!collection.receive_from_owner(params)) {
        ++parts_.counters.collections_refused;
        component.log_line(LogLevel::Warning, "what its owner did to collection " +
                                                  collection.name() +
                                                  " cannot be: it stays as it is");
        owner_asks(component.identity());
    }
}

bool NetworkServer::Authority::has_state(const NetworkIdentity& object) noexcept {
    const std::span<const NetworkPrefab::Component> components = object.prefab().components();
    return std::any_of(components.begin(), components.end(), [](const auto& entry) {
        return entry.settings.sync_direction == SyncDirection::ClientToServer;
    });
}

void NetworkServer::Authority::owner_asks(NetworkIdentity& object) {
    detail::OwnerRecord& owner = detail::Inside::of(object).server.owner;
    if (has_state(object) && !std::exchange(owner.is_state_due, true)) {
        owner.is_state_asked = true;
        queued_.push_back(&object);
    }
}

bool NetworkServer::Authority::must_owner_wait(const NetworkIdentity& object) const noexcept {
    constexpr std::int64_t pause_ms = 1'000;
    const detail::OwnerRecord& owner = detail::Inside::of(object).server.owner;
    return owner.is_state_asked && owner.told_at &&
           parts_.now < owner.told_at->plus_milliseconds(pause_ms);
}

bool NetworkServer::Authority::tell_owner(NetworkIdentity& object) {
    if (must_owner_wait(object)) {
        return false;
    }
    detail::OwnerRecord& record = detail::Inside::of(object).server.owner;
    if (std::exchange(record.is_state_asked, false)) {
        ++record.epoch;  // until now it may write
    }
    const NetworkConnection* owner = parts_.connections.owner_of(object);
    // An owner that is not ready is sent the state as soon as it is ready.
    const bool is_done = owner == nullptr || owner->is_host() || !owner->is_ready() ||
                         send_state(object, record.epoch);
    record.is_state_due = !is_done;
    if (is_done) {
        record.told_at = parts_.now;
    }
    return is_done;
}

bool NetworkServer::Authority::send_state(NetworkIdentity& object, std::uint32_t epoch) {
    constexpr std::uint64_t all = ~std::uint64_t{0};
    const NetworkPrefab& prefab = object.prefab();
    const NetObjectId id = detail::Inside::of(object).server.id;
    for (const NetworkBehaviour* behaviour : object.components()) {
        const detail::ObjectComponent& component = detail::Inside::of(*behaviour);
        const NetworkPrefab::Component& entry = prefab.components()[component.index()];
        if (entry.settings.sync_direction != SyncDirection::ClientToServer) {
            continue;
        }
        const CallArguments params =
            params_of(prefab, entry.sync_to_owner, sections_.make(component, all, epoch));
        if (parts_.driver.call_function(id, entry.sync_to_owner, params) == CallResult::Full ||
            !send_collections(component, epoch)) {
            return false;
        }
    }
    return true;
}

bool NetworkServer::Authority::send_collections(const detail::ObjectComponent& component,
                                                std::uint32_t epoch) {
    const NetworkIdentity& object = component.identity();
    const NetworkPrefab::Component& entry = object.prefab().components()[component.index()];
    for (std::size_t i = 0; i < entry.collections.size(); ++i) {
        const NetworkPrefab::Collection& functions = entry.collections[i];
        const auto call =
            call_of(parts_.driver, detail::Inside::of(object).server.id, object.prefab(),
                    epoch == 0 ? functions.to_last_owner : functions.to_owner);
        detail::CollectionEnd& collection = component.collection(i);
        const CallResult result = collection.send_to_owner(epoch, call);
        if (result == CallResult::Full) {
            return false;
        }
        if (result != CallResult::Sent && result != CallResult::NotOwned) {
            component.log_line(LogLevel::Error, "collection " + collection.name() +
                                                    " is too large for its owner to be told");
        }
    }
    return true;
}

}  // namespace replayout
