// SPDX-License-Identifier: MIT
#include "waiting_changes.h"

#include "client_parts.h"
#include "inside.h"

#include <replayout/behaviours/collection_end.h>

#include <algorithm>
#include <utility>

namespace replayout {

void NetworkClient::WaitingChanges::keep_values(NetworkIdentity& object) {
    if (std::exchange(detail::Inside::of(object).client.is_refreshed, true)) {
        return;  // shown again before it was told of the last time
    }
    for (NetworkBehaviour* behaviour : object.components()) {
        detail::ObjectComponent& component = detail::Inside::of(*behaviour);
        const BehaviourType& type = component.type();
        for (std::uint32_t i = 0; i < type.sync_vars.size(); ++i) {
            if (type.sync_vars[i].hook.call == nullptr ||
                component.settings().hook_style == HookStyle::UNet) {
                continue;
            }
            keep_value(component, i, component.value_of(i));
        }
    }
}

NetworkClient::WaitingChanges::Waiting& NetworkClient::WaitingChanges::waiting_of(
    const detail::ObjectComponent& component) {
    return waiting_[component.identity().net_id()];
}

void NetworkClient::WaitingChanges::keep_value(detail::ObjectComponent& component,
                                               std::uint32_t variable, const void* previous) {
    if (!component.hooks().begin_waiting(variable)) {
        return;
    }
    const Property& property = component.type().sync_vars[variable].property;
    waiting_of(component).values.push_back(
        {&component, variable,
         ValueCopy(property, static_cast<const std::byte*>(previous), parts_.resource)});
    if (component.may_hold_references(variable)) {
        parts_.objects.note(property, static_cast<const std::byte*>(previous));
    }
}

void NetworkClient::WaitingChanges::keep_lost(detail::ObjectComponent& component,
                                              std::uint32_t variable) {
    keep_value(component, variable, component.value_of(variable));
    for (KeptValue& kept : waiting_of(component).values) {
        kept.is_lost |= kept.component == &component && kept.variable == variable;
    }
}

void NetworkClient::WaitingChanges::clear_references(const StoredReferences::Identities& gone) {
    for (auto& [net_id, waiting] : waiting_) {
        for (KeptValue& kept : waiting.values) {
            const Property& property = kept.component->type().sync_vars[kept.variable].property;
            kept.is_lost |= kept.component->may_hold_references(kept.variable) &&
                            StoredReferences::clear(property, kept.value.get(), gone);
        }
    }
}

void NetworkClient::WaitingChanges::keep_call(detail::ObjectComponent& component,
                                              detail::CollectionEnd& collection,
                                              std::size_t operation_count) {
    const NetworkIdentity& object = component.identity();
    Waiting& waiting = waiting_of(component);
    waiting.calls.push_back(&collection);
    waiting.operation_count += operation_count + 1;
    if (waiting.operation_count <= object.prefab().limits().array_count_max) {
        return;
    }
    waiting.operation_count = 0;
    const std::vector<detail::CollectionEnd*> calls = std::exchange(waiting.calls, {});
    for (detail::CollectionEnd* kept : calls) {
        kept->apply_kept(detail::Inside::of(object).local.is_started());
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
        return std::pair(kept.component->index(), kept.variable);
    };
    std::sort(waiting.values.begin(), waiting.values.end(),
              [&](const auto& left, const auto& right) { return order(left) < order(right); });
    for (const KeptValue& kept : waiting.values) {
        kept.component->hooks().forget_waiting();
    }
    // One of them may end the object: they run when nothing is received.
    for (const KeptValue& kept : waiting.values) {
        detail::ObjectComponent& component = *kept.component;
        const Property& property = component.type().sync_vars[kept.variable].property;
        const std::byte* value = component.object() + property.offset;
        if (parts_.spawned.find(net_id) != nullptr &&
            (kept.is_lost || !equal_values(property, value, kept.value.get()))) {
            component.hooks().run(component, kept.variable, kept.value.get(), value);
        }
    }
    for (detail::CollectionEnd* collection : waiting.calls) {
        if (parts_.spawned.find(net_id) != nullptr) {
            collection->apply_kept(true);
        }
    }
}

void NetworkClient::WaitingChanges::run_all() {
    while (!waiting_.empty()) {
        run(waiting_.begin()->first);
    }
}

}  // namespace replayout
