// SPDX-License-Identifier: MIT
#include "sync_section.h"

#include "inside.h"

#include <replayout/reflection/dynamic_type_builder.h>
#include <replayout/reflection/value_copy.h>

#include <bit>

namespace replayout {

SectionSender::~SectionSender() {
    for (const auto& [type, section] : sections_) {
        type->ops.destroy(section);
        resource_->deallocate(section, type->ops.size, type->ops.alignment);
    }
}

Result<const Type*> SectionSender::section_type(TypeRegistry& registry, const BehaviourType& type) {
    const std::string name = type.name + " section";
    if (const Type* known = registry.find(name)) {
        return known;
    }
    DynamicTypeBuilder builder(registry, TypeKind::Struct, name, type.ops.size, type.ops.alignment);
    builder.ops(type.ops);
    const std::uint32_t component = type.behaviour_offset + detail::Inside::component_offset();
    builder.property(
        "#mask", PropertyKind::UInt64,
        component + static_cast<std::uint32_t>(detail::ObjectComponent::mask_offset()));
    builder.property(
        "#epoch", PropertyKind::UInt32,
        component + static_cast<std::uint32_t>(detail::ObjectComponent::epoch_offset()));
    for (const SyncVarInfo& variable : type.sync_vars) {
        Property property = variable.property;
        property.is_push_based = false;
        property.notify = {};
        builder.property(std::move(property));
    }
    return builder.build();
}

const void* SectionSender::make(const detail::ObjectComponent& component, std::uint64_t mask,
                                std::uint32_t epoch) {
    const BehaviourType& type = component.type();
    std::byte*& object = sections_[&type];
    if (object == nullptr) {
        object = static_cast<std::byte*>(resource_->allocate(type.ops.size, type.ops.alignment));
    } else {
        type.ops.destroy(object);
    }
    type.ops.construct(object);
    const std::byte* source = component.object();
    for (std::uint64_t bits = mask; bits != 0; bits &= bits - 1) {
        const auto variable = static_cast<std::size_t>(std::countr_zero(bits));
        if (variable >= type.sync_vars.size()) {
            break;
        }
        const Property& property = type.sync_vars[variable].property;
        copy_values(property, object + property.offset, source + property.offset);
    }
    detail::ObjectComponent& section =
        detail::Inside::of(*reinterpret_cast<NetworkBehaviour*>(object + type.behaviour_offset));
    section.changes().mark_sync_vars(mask);
    section.owner().begin(epoch);
    return object;
}

}  // namespace replayout
