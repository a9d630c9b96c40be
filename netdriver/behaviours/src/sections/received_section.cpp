// SPDX-License-Identifier: MIT
#include "received_section.h"

#include "inside.h"

#include <replayout/behaviours/behaviour_type.h>
#include <replayout/reflection/value_copy.h>

#include <tuple>

namespace replayout::detail {

namespace {

/// A hook that changes one of these ended the object, or took it from its owner.
[[nodiscard]] auto facts_of(const NetworkIdentity& object) noexcept {
    return std::tuple(object.net_id(), Inside::of(object).server.owner.epoch,
                      object.connection_to_client().value);
}

/// Takes one value, of a variable that has another one.
void take(ObjectComponent& component, std::uint32_t variable, const std::byte* value) {
    copy_values(component.type().sync_vars[variable].property, component.value_of(variable), value);
    if (component.may_hold_references(variable)) {
        component.note_references(variable);
    }
}

/// Takes a value of a variable with a hook, which runs or waits.
void take_and_tell(ObjectComponent& component, std::uint32_t variable, const std::byte* value) {
    const NetworkIdentity& object = component.identity();
    std::byte* own = component.value_of(variable);
    const ValueCopy previous(component.type().sync_vars[variable].property, own,
                             Inside::of(object).components.resource());
    take(component, variable, value);
    if (object.is_server()) {
        component.hooks().run(component, variable, previous.get(), own);
    } else {
        component.hooks().value_received(component, variable, previous.get());
    }
}

}  // namespace

ReceivedSection::ReceivedSection(const void* parameters, const BehaviourType& type) noexcept
    : object_(static_cast<const std::byte*>(parameters)),
      component_(
          Inside::of(*reinterpret_cast<const NetworkBehaviour*>(object_ + type.behaviour_offset))) {
}

std::uint64_t ReceivedSection::apply_to(ObjectComponent& component, std::uint64_t except) const {
    const std::vector<SyncVarInfo>& variables = component.type().sync_vars;
    const std::uint64_t brought = mask() & ~except;
    const auto before = facts_of(component.identity());
    std::uint64_t changed = 0;
    for (std::uint32_t i = 0; i < variables.size(); ++i) {
        if (facts_of(component.identity()) != before) {
            break;  // by the hook of the one before
        }
        const Property& property = variables[i].property;
        const std::byte* value = object_ + property.offset;
        if ((brought >> i & 1) == 0 || equal_values(property, component.value_of(i), value)) {
            continue;
        }
        changed |= std::uint64_t{1} << i;
        if (variables[i].hook.call == nullptr) {
            take(component, i, value);
        } else {
            take_and_tell(component, i, value);
        }
    }
    return changed;
}

}  // namespace replayout::detail
