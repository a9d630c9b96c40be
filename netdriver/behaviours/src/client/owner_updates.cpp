// SPDX-License-Identifier: MIT
#include "owner_updates.h"

#include "client_parts.h"
#include "prefab_params.h"

#include <replayout/behaviours/collection_end.h>

#include <algorithm>
#include <bit>

namespace replayout {

namespace {

/// Operations of a collection in one call: of small items, what a packet holds.
constexpr std::size_t operations_max = 32;
/// One part for the SyncVars of a component, and one for each of its collections.
constexpr std::uint32_t parts_of_component_max = 1 + sync_vars_max;

/// Time between two updates at the rate that a server takes.
[[nodiscard]] std::int64_t update_interval_us(const NetConfig& config) noexcept {
    const std::int64_t per_second = config.client_updates_per_second_max;
    return (1'000'000 + per_second - 1) / per_second;
}

}  // namespace

NetworkClient::OwnerUpdates::OwnerUpdates(detail::ClientParts& parts, const NetConfig& config)
    : PartOf(parts),
      update_interval_us_(update_interval_us(config)),
      update_burst_us_(update_interval_us_ * config.client_updates_burst_max),
      sections_(parts.resource) {}

void NetworkClient::OwnerUpdates::begin_anew() noexcept {
    next_update_us_ = std::numeric_limits<std::int64_t>::min();
    is_update_refused_ = false;
}

std::uint32_t NetworkClient::OwnerUpdates::Part::number() const noexcept {
    return component->index() * parts_of_component_max +
           (collection == variables ? 0 : collection + 1);
}

void NetworkClient::OwnerUpdates::send() {
    is_update_refused_ = false;
    // Objects that were served go to the end of the queue. So the next flush goes on with the first
    // one that found no room.
    std::size_t served = 0;
    const std::size_t count = changed_.size();
    while (served < count && send_updates_of(*changed_[served])) {
        ++served;
    }
    std::rotate(changed_.begin(), changed_.begin() + static_cast<std::ptrdiff_t>(served),
                changed_.end());
    // What is not due yet stays in the queue.
    std::erase_if(changed_, [](NetworkIdentity* object) {
        const auto waits = [](const NetworkBehaviour* behaviour) {
            const detail::ObjectComponent& component = detail::Inside::of(*behaviour);
            return component.has_changes() ||
                   (component.owner().is_state_missed() && component.is_told_to_server());
        };
        bool& is_queued = detail::Inside::of(*object).is_queued;
        is_queued = std::any_of(object->components().begin(), object->components().end(), waits);
        return !is_queued;
    });
}

bool NetworkClient::OwnerUpdates::send_updates_of(NetworkIdentity& object) {
    due_parts_.clear();
    for (NetworkBehaviour* behaviour : object.components()) {
        detail::ObjectComponent& component = detail::Inside::of(*behaviour);
        detail::PendingChanges& changes = component.changes();
        if (!object.is_spawned() || !component.is_told_to_server()) {
            changes.clear();
            continue;
        }
        const bool is_due = component.is_due(parts_.now);
        if ((is_due && changes.sync_vars() != 0) || component.owner().is_state_missed()) {
            due_parts_.push_back({&component, Part::variables});
        }
        for (std::uint64_t bits = is_due ? changes.collections() : 0; bits != 0; bits &= bits - 1) {
            due_parts_.push_back({&component, static_cast<std::uint32_t>(std::countr_zero(bits))});
        }
    }
    std::uint32_t& next_update = detail::Inside::of(object).client.next_update;
    const auto first = std::find_if(due_parts_.begin(), due_parts_.end(),
                                    [&](const Part& part) { return part.number() >= next_update; });
    std::rotate(due_parts_.begin(), first, due_parts_.end());
    // Half of the burst is kept for state that goes ahead of calls (send_state_of()).
    const std::int64_t reserve_us = update_burst_us_ / 2;
    for (const Part& part : due_parts_) {
        const bool is_sent = part.collection == Part::variables
                                 ? send_section(*part.component, reserve_us)
                                 : send_collection(*part.component, part.collection, reserve_us);
        if (!is_sent && !has_room_for_update(reserve_us)) {
            next_update = part.number();
            return false;
        }
    }
    next_update = 0;
    return true;
}

bool NetworkClient::OwnerUpdates::send_state_of(NetworkIdentity& object) {
    if (!detail::Inside::of(object).is_queued || !object.is_spawned()) {
        return true;
    }
    is_update_refused_ = false;
    bool is_sent = true;
    for (NetworkBehaviour* behaviour : object.components()) {
        detail::ObjectComponent& component = detail::Inside::of(*behaviour);
        if (!component.is_told_to_server() || component.owner().epoch() == 0) {
            continue;  // the server has not sent its state yet
        }
        const detail::PendingChanges& changes = component.changes();
        if (changes.sync_vars() != 0) {
            is_sent = send_section(component, 0) && is_sent;
        }
        for (std::uint64_t bits = changes.collections(); bits != 0; bits &= bits - 1) {
            const auto index = static_cast<std::size_t>(std::countr_zero(bits));
            while ((changes.collections() >> index & 1) != 0 && is_sent) {
                is_sent = send_collection(component, index, 0);
            }
        }
    }
    return is_sent;
}

bool NetworkClient::OwnerUpdates::has_room_for_update(std::int64_t reserve_us) {
    next_update_us_ = std::max(next_update_us_, parts_.now.microseconds - update_burst_us_);
    return !is_update_refused_ && next_update_us_ + reserve_us < parts_.now.microseconds;
}

bool NetworkClient::OwnerUpdates::send_section(detail::ObjectComponent& component,
                                               std::int64_t reserve_us) {
    // Nothing of epoch 0 asks to be told all again.
    detail::PendingChanges& changes = component.changes();
    detail::OwnerProgress& owner = component.owner();
    const bool is_request = owner.is_state_missed();
    if ((owner.epoch() == 0 && !is_request) || !has_room_for_update(reserve_us)) {
        return false;
    }
    const std::uint64_t mask = is_request ? 0 : changes.sync_vars();
    const std::uint32_t epoch = is_request ? 0 : owner.epoch();
    const NetworkIdentity& object = component.identity();
    const FunctionIndex function = object.prefab().components()[component.index()].sync_to_server;
    const CallResult result = parts_.driver.call_function(
        detail::handle_of(object),
        object.prefab().layout().functions()[function.value].function->name,
        params_of(object.prefab(), function, sections_.make(component, mask, epoch)));
    if (result == CallResult::Full || result == CallResult::NoChannel) {
        // NoChannel: the objects came before the welcome.
        is_update_refused_ = result == CallResult::Full;
        return false;
    }
    next_update_us_ += update_interval_us_;
    owner.state_requested();
    changes.clear_sync_vars(mask);
    changes.sent(parts_.now);
    return changes.sync_vars() == 0;
}

bool NetworkClient::OwnerUpdates::send_collection(detail::ObjectComponent& component,
                                                  std::size_t index, std::int64_t reserve_us) {
    const NetworkIdentity& object = component.identity();
    const NetworkPrefab& prefab = object.prefab();
    detail::CollectionEnd& collection = component.collection(index);
    if (collection.waiting_count() > 0) {
        if (!collection.is_told() || !has_room_for_update(reserve_us)) {
            return false;
        }
        const FunctionIndex function =
            prefab.components()[component.index()].collections[index].to_server;
        const Function& called = *prefab.layout().functions()[function.value].function;
        CallResult result = CallResult::Sent;
        const auto call = [&](const void* params) {
            result = parts_.driver.call_function(detail::handle_of(object), called.name,
                                                 {params, called.parameters});
            return result;
        };
        if (!collection.send_waiting(call, operations_max, 1) && result != CallResult::Sent) {
            is_update_refused_ = result == CallResult::Full;
            return false;
        }
        next_update_us_ += update_interval_us_;
        component.changes().sent(parts_.now);
    }
    if (collection.waiting_count() == 0) {
        component.changes().clear_collection(index);
    }
    return true;
}

void NetworkClient::OwnerUpdates::take_section(detail::ObjectComponent& component,
                                               const detail::ReceivedSection& section) {
    detail::OwnerProgress& owner = component.owner();
    if (section.epoch() == 0) {
        // It was the owner. What was sent to it as to all others since then is newer: also than
        // what it is told of an ownership after that, which began and ended before it heard of it.
        owner.begin(0);
        component.changes().clear_sync_vars();
        section.apply_to(component, owner.received());
    } else if (!component.identity().is_owned()) {
        // It was the owner for a moment, or will be: the word of that may come later than this.
        owner.miss_state();
    } else if (section.epoch() != owner.epoch()) {
        owner.begin(section.epoch());
        section.apply_to(component, component.changes().sync_vars() | owner.received());
    }
}

}  // namespace replayout
