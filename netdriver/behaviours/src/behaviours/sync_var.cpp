// SPDX-License-Identifier: MIT
#include "client_parts.h"
#include "inside.h"
#include "stored_references.h"

#include <replayout/behaviours/behaviour_type.h>
#include <replayout/behaviours/network_prefab.h>
#include <replayout/behaviours/sync_var.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/value_limits.h>

#include <optional>
#include <string>

namespace replayout::detail {

namespace {

[[nodiscard]] ObjectComponent& component_of(void* variable, const SyncVarLink& link) noexcept {
    return Inside::of(
        *reinterpret_cast<NetworkBehaviour*>(static_cast<std::byte*>(variable) - link.distance));
}

/// The variable may become `*next`. False, and an error in the log: a limit refuses that.
[[nodiscard]] bool may_become(const ObjectComponent& component, std::uint32_t variable,
                              const void* next) {
    const BehaviourType& type = component.type();
    if ((type.limited_variables >> variable & 1) == 0) {
        return true;
    }
    const Property& property = type.sync_vars[variable].property;
    const std::optional<std::string> why = why_over_limit(
        property, static_cast<const std::byte*>(next), component.identity().prefab().limits());
    if (why) {
        component.log_line(LogLevel::Error, "SyncVar \"" + type.name + "." + property.name +
                                                "\" stays as it is: " + *why);
    }
    return !why;
}

/// False, and refused: the value names an object that this end does not have.
[[nodiscard]] bool may_name(const BehaviourType& type, const Property& property, const void* next,
                            const StoredReferences* references) {
    REPLAYOUT_EXPECT(references == nullptr || !references->names_any_foreign(
                                                  property, static_cast<const std::byte*>(next)),
                     false,
                     "SyncVar \"%s.%s\" stays as it is: it would name an object that this end does "
                     "not have; name the object by the pointer that this server or client gave",
                     type.name.c_str(), property.name.c_str());
    return true;
}

/// Whether the assignment of now runs a hook of that style.
[[nodiscard]] bool runs_hook(const ObjectComponent& component, std::uint32_t variable,
                             HookStyle style) {
    return component.settings().hook_style == style &&
           component.type().sync_vars[variable].hook.call != nullptr &&
           component.hooks().runs_on_assignment(component, variable);
}

}  // namespace

bool before_sync_var_changes(void* variable, const SyncVarLink& link, const void* next) {
    ObjectComponent& component = component_of(variable, link);
    if (!may_become(component, link.bit, next)) {
        return false;
    }
    const bool may_hold_references = component.may_hold_references(link.bit);
    StoredReferences* const references =
        may_hold_references ? Inside::of(component.identity()).references : nullptr;
    const StoredReferences::ChangeScope change(references);
    if (may_hold_references) {
        const Property& property = component.type().sync_vars[link.bit].property;
        if (!may_name(component.type(), property, next, references)) {
            return false;
        }
        // What is named anew is another object than what was named under the same address.
        if (references != nullptr &&
            references->names_any_left(property, static_cast<const std::byte*>(next))) {
            references->settle();
        }
    }
    if (runs_hook(component, link.bit, HookStyle::UNet)) {
        component.hooks().run(component, link.bit, variable, next);
    }
    return true;
}

void before_sync_var_is_modified(void* variable, const SyncVarLink& link) {
    const ObjectComponent& component = component_of(variable, link);
    StoredReferences* const references = Inside::of(component.identity()).references;
    if (references != nullptr && component.may_hold_references(link.bit)) {
        references->settle();
    }
}

void after_sync_var_changed(void* variable, const SyncVarLink& link, const void* previous) {
    ObjectComponent& component = component_of(variable, link);
    if (component.may_hold_references(link.bit)) {
        component.note_references(link.bit);
    }
    component.mark_sync_vars(std::uint64_t{1} << link.bit);
    if (runs_hook(component, link.bit, HookStyle::Mirror)) {
        component.hooks().run(component, link.bit, previous, variable);
    }
}

}  // namespace replayout::detail
