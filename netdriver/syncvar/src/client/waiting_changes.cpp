// SPDX-License-Identifier: MIT
#include "waiting_changes.h"

#include "spawned_objects.h"

#include <replayout/syncvar/sync_collection.h>

#include <algorithm>
#include <utility>

namespace replayout::syncvar {

void NetworkClient::WaitingChanges::keep_values(NetworkIdentity& object) {
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

NetworkClient::WaitingChanges::Waiting& NetworkClient::WaitingChanges::waiting_of(
    const NetworkBehaviour& component) {
    return waiting_[component.identity().net_id()];
}

void NetworkClient::WaitingChanges::keep_value(NetworkBehaviour& component, std::uint32_t variable,
                                               const void* previous) {
    const std::uint64_t bit = std::uint64_t{1} << variable;
    if ((component.waiting_hooks_ & bit) != 0) {
        return;
    }
    component.waiting_hooks_ |= bit;
    const Property& property = component.type_->sync_vars[variable].property;
    waiting_of(component).values.push_back(
        {&component, variable,
         ValueCopy(property, static_cast<const std::byte*>(previous), resource_)});
    if (component.may_hold_references(variable)) {
        references_.note(property, static_cast<const std::byte*>(previous));
    }
}

void NetworkClient::WaitingChanges::keep_lost(NetworkBehaviour& component, std::uint32_t variable) {
    const Property& property = component.type_->sync_vars[variable].property;
    keep_value(component, variable, component.object() + property.offset);
    for (KeptValue& kept : waiting_of(component).values) {
        kept.is_lost |= kept.component == &component && kept.variable == variable;
    }
}

void NetworkClient::WaitingChanges::clear_references(const StoredReferences::Rows& gone) {
    for (auto& [net_id, waiting] : waiting_) {
        for (KeptValue& kept : waiting.values) {
            const Property& property = kept.component->type_->sync_vars[kept.variable].property;
            kept.is_lost |= kept.component->may_hold_references(kept.variable) &&
                            StoredReferences::clear(property, kept.value.get(), gone);
        }
    }
}

void NetworkClient::WaitingChanges::keep_call(NetworkBehaviour& component,
                                              SyncCollection& collection,
                                              std::size_t operation_count) {
    const NetworkIdentity& object = component.identity();
    Waiting& waiting = waiting_of(component);
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

void NetworkClient::WaitingChanges::run(std::uint64_t net_id) {
    const auto found = waiting_.find(net_id);
    if (found == waiting_.end()) {
        return;
    }
    Waiting waiting = std::move(found->second);
    waiting_.erase(found);
    const auto order = [](const KeptValue& kept) {
        return std::pair(kept.component->component_index(), kept.variable);
    };
    std::sort(waiting.values.begin(), waiting.values.end(),
              [&](const auto& left, const auto& right) { return order(left) < order(right); });
    for (const KeptValue& kept : waiting.values) {
        kept.component->waiting_hooks_ = 0;
    }
    // One of them may end the object: they run when nothing is received.
    for (const KeptValue& kept : waiting.values) {
        NetworkBehaviour& component = *kept.component;
        const Property& property = component.type_->sync_vars[kept.variable].property;
        const std::byte* value = component.object() + property.offset;
        if (spawned_.find(net_id) != nullptr &&
            (kept.is_lost || !equal_values(property, value, kept.value.get()))) {
            component.run_hook(kept.variable, kept.value.get(), value);
        }
    }
    for (SyncCollection* collection : waiting.calls) {
        if (spawned_.find(net_id) != nullptr) {
            collection->apply_kept(true);
        }
    }
}

void NetworkClient::WaitingChanges::run_all() {
    while (!waiting_.empty()) {
        run(waiting_.begin()->first);
    }
}

}  // namespace replayout::syncvar
