// SPDX-License-Identifier: MIT
#include "client_parts.h"
#include "inside.h"

#include <replayout/behaviours/variable_hooks.h>
#include <replayout/reflection/value_copy.h>
#include <replayout/reflection/visit_references.h>

namespace replayout::detail {

bool VariableHooks::runs_on_assignment(const ObjectComponent& component,
                                       std::uint32_t variable) const noexcept {
    const NetworkIdentity& object = component.identity();
    return object.is_server() && object.is_visible_to_host() && !is_running(variable);
}

void VariableHooks::run(ObjectComponent& component, std::uint32_t variable, const void* previous,
                        const void* current) {
    const SyncVarInfo& info = component.type().sync_vars[variable];
    begin_running(variable);
    info.hook.call(component.object() + info.owner_offset, previous, current);
    end_running(variable);
}

void VariableHooks::value_received(ObjectComponent& component, std::uint32_t variable,
                                   const void* previous) {
    const SyncVarInfo& info = component.type().sync_vars[variable];
    const HookStyle style = component.settings().hook_style;
    const std::byte* value = component.object() + info.property.offset;
    if (info.hook.call == nullptr ||
        (style == HookStyle::Mirror &&
         equal_values(info.property, value, static_cast<const std::byte*>(previous)))) {
        return;
    }
    const ClientRecord& client = Inside::of(component.identity()).client;
    if (style == HookStyle::UNet) {
        if (!client.is_initial) {
            run_unet(component, variable, previous);
        }
        return;
    }
    if (component.must_wait()) {
        client.end->waiting.keep_value(component, variable, previous);
        return;
    }
    run(component, variable, previous, value);
}

void VariableHooks::run_unet(ObjectComponent& component, std::uint32_t variable,
                             const void* previous) {
    const SyncVarInfo& info = component.type().sync_vars[variable];
    std::byte* value = component.object() + info.property.offset;
    const auto replace = [&](const void* before) {
        begin_running(variable);
        info.hook.replace(component.object() + info.owner_offset, value, before);
        end_running(variable);
    };
    if (!component.may_hold_references(variable)) {
        replace(previous);
        return;
    }
    const ObjectParts& object = Inside::of(component.identity());
    ValueCopy before(info.property, static_cast<const std::byte*>(previous),
                     object.components.resource());
    visit_references(info.property, before.get(), [&](const ReferenceOps& ops, void* reference) {
        if (object.client.end->spawned.is_leaving(ops.get(reference))) {
            ops.set(reference, ObjectHandle{});
        }
    });
    replace(before.get());
    // Unless the hook assigned, the driver no longer follows the value.
    component.note_references(variable);
}

void VariableHooks::reference_lost(ObjectComponent& component, std::uint32_t variable,
                                   const void* previous) {
    const NetworkIdentity& object = component.identity();
    if (!object.is_spawned()) {
        return;
    }
    const bool was_running = is_running(variable);
    if (object.is_server()) {
        component.mark_sync_vars(std::uint64_t{1} << variable);
    }
    const ClientRecord& client = Inside::of(object).client;
    const bool is_told = previous != nullptr && !was_running &&
                         component.type().sync_vars[variable].hook.call != nullptr &&
                         (object.is_server() ? object.is_visible_to_host() : !client.is_initial);
    if (!is_told) {
        return;
    }
    if (!object.is_server() && component.settings().hook_style == HookStyle::Mirror &&
        component.must_wait()) {
        client.end->waiting.keep_lost(component, variable);
    } else {
        run(component, variable, previous, component.value_of(variable));
    }
}

void VariableHooks::run_initial(ObjectComponent& component) {
    const ObjectComponents& components = Inside::of(component.identity()).components;
    const std::byte* own = component.object();
    const std::byte* initial = components.first_values().block() + (own - components.block());
    const std::vector<SyncVarInfo>& variables = component.type().sync_vars;
    for (std::uint32_t i = 0; i < variables.size(); ++i) {
        const Property& property = variables[i].property;
        if (variables[i].hook.call != nullptr &&
            component.settings().hook_style == HookStyle::Mirror &&
            !equal_values(property, own + property.offset, initial + property.offset)) {
            run(component, i, initial + property.offset, own + property.offset);
        }
    }
}

}  // namespace replayout::detail
