// SPDX-License-Identifier: MIT
//
// Of NetworkClient: what objects are told when they are started, or shown again: hooks of SyncVars,
// and what the server did to collections.
#include "network_client_waiting.h"

#include "stored_references.h"
#include "wanted_collections.h"

#include <replayout/netdriver/peer_log.h>
#include <replayout/syncvar/sync_collection.h>

#include <algorithm>
#include <string>
#include <utility>

namespace replayout::syncvar {

void NetworkClient::keep_values(NetworkIdentity& object) {
    if (std::exchange(object.is_refreshed_, true)) {
        return;  // shown again before it was told of the last time
    }
    for (NetworkBehaviour* component : object.components()) {
        const BehaviourType& type = *component->type_;
        for (std::uint32_t i = 0; i < type.sync_vars.size(); ++i) {
            if (type.sync_vars[i].hook.call == nullptr ||
                component->settings_.hook_style == HookStyle::UNet) {
                continue;
            }
            keep_value(*component, i, component->object() + type.sync_vars[i].property.offset);
        }
    }
}

NetworkClient::Waiting& NetworkClient::waiting_of(NetworkIdentity& object) {
    std::unique_ptr<Waiting>& waiting = waiting_[object.net_id()];
    if (waiting == nullptr) {
        waiting = std::make_unique<Waiting>();
    }
    return *waiting;
}

void NetworkClient::keep_value(NetworkBehaviour& component, std::uint32_t variable,
                               const void* previous) {
    const std::uint64_t bit = std::uint64_t{1} << variable;
    if ((component.waiting_hooks_ & bit) != 0) {
        return;
    }
    component.waiting_hooks_ |= bit;
    const Property& property = component.type_->sync_vars[variable].property;
    waiting_of(component.identity())
        .values.push_back(
            {&component, variable,
             ValueCopy(property, static_cast<const std::byte*>(previous), resource_)});
    if (component.may_hold_references(variable)) {
        references_->note(property, static_cast<const std::byte*>(previous));
    }
}

void NetworkClient::keep_lost(NetworkBehaviour& component, std::uint32_t variable) {
    const Property& property = component.type_->sync_vars[variable].property;
    keep_value(component, variable, component.object() + property.offset);
    for (Waiting::KeptValue& kept : waiting_of(component.identity()).values) {
        kept.is_lost |= kept.component == &component && kept.variable == variable;
    }
}

void NetworkClient::forget_in_waiting(const std::vector<const NetworkIdentity*>& gone) {
    for (const auto& [net_id, waiting] : waiting_) {
        for (Waiting::KeptValue& kept : waiting->values) {
            const Property& property = kept.component->type_->sync_vars[kept.variable].property;
            kept.is_lost |= kept.component->may_hold_references(kept.variable) &&
                            StoredReferences::clear(property, kept.value.get(), gone);
        }
    }
}

void NetworkClient::keep_call(NetworkBehaviour& component, SyncCollection& collection,
                              std::size_t operation_count) {
    NetworkIdentity& object = component.identity();
    Waiting& waiting = waiting_of(object);
    waiting.calls.push_back(&collection);
    waiting.operation_count += operation_count + 1;
    if (waiting.operation_count <= object.prefab().limits().array_count_max) {
        return;
    }
    waiting.operation_count = 0;
    const std::vector<SyncCollection*> calls = std::exchange(waiting.calls, {});
    for (SyncCollection* kept : calls) {
        kept->apply_kept(object.is_started_);
    }
}

void NetworkClient::run_waiting(std::uint64_t net_id) {
    const auto found = waiting_.find(net_id);
    if (found == waiting_.end()) {
        return;
    }
    const std::unique_ptr<Waiting> waiting = std::move(found->second);
    waiting_.erase(found);
    const auto order = [](const Waiting::KeptValue& kept) {
        return std::pair(kept.component->component_index(), kept.variable);
    };
    std::sort(waiting->values.begin(), waiting->values.end(),
              [&](const auto& left, const auto& right) { return order(left) < order(right); });
    for (const Waiting::KeptValue& kept : waiting->values) {
        kept.component->waiting_hooks_ = 0;
    }
    // One of them may end the object: they run when nothing is received.
    for (const Waiting::KeptValue& kept : waiting->values) {
        NetworkBehaviour& component = *kept.component;
        const Property& property = component.type_->sync_vars[kept.variable].property;
        const std::byte* value = component.object() + property.offset;
        if (find(net_id) != nullptr &&
            (kept.is_lost || !equal_values(property, value, kept.value.get()))) {
            component.run_hook(kept.variable, kept.value.get(), value);
        }
    }
    for (SyncCollection* collection : waiting->calls) {
        if (find(net_id) != nullptr) {
            collection->apply_kept(true);
        }
    }
}

void NetworkClient::want_parts(const NetworkBehaviour& component, std::uint8_t collection) {
    wanted_->want(component.identity().net_id(), component.component_index(), collection);
}

void NetworkClient::collection_refused(const std::string& name) {
    ++counters_.collections_refused;
    log_->write(LogLevel::Error, {},
                "what the server said of collection " + name + " cannot be: it stays as it is",
                now_);
}

}  // namespace replayout::syncvar
