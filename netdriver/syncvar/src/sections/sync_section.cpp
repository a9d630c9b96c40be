// SPDX-License-Identifier: MIT
#include "sync_section.h"

#include <replayout/reflection/value_copy.h>

#include <replayout/reflection/dynamic_type_builder.h>
#include <replayout/reflection/member_property.h>
#include <replayout/syncvar/network_behaviour.h>

#include <bit>

namespace replayout::syncvar {

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
    builder.property(
        "#mask", PropertyKind::UInt64,
        type.behaviour_offset + member_offset<NetworkBehaviour, &NetworkBehaviour::dirty_bits_>());
    builder.property("#epoch", PropertyKind::UInt32,
                     type.behaviour_offset +
                         member_offset<NetworkBehaviour, &NetworkBehaviour::authority_epoch_>());
    for (const SyncVarInfo& variable : type.sync_vars) {
        Property property = variable.property;
        property.is_push_based = false;
        property.notify = {};
        builder.property(std::move(property));
    }
    return builder.build();
}

const void* SectionSender::make(const NetworkBehaviour& component, std::uint64_t mask,
                                std::uint32_t epoch) {
    const BehaviourType& type = *component.type_;
    std::byte*& object = sections_[&type];
    if (object == nullptr) {
        object = static_cast<std::byte*>(resource_->allocate(type.ops.size, type.ops.alignment));
    } else {
        type.ops.destroy(object);
    }
    type.ops.construct(object);
    const std::byte* source =
        reinterpret_cast<const std::byte*>(&component) - type.behaviour_offset;
    for (std::uint64_t bits = mask; bits != 0; bits &= bits - 1) {
        const auto variable = static_cast<std::size_t>(std::countr_zero(bits));
        if (variable >= type.sync_vars.size()) {
            break;
        }
        const Property& property = type.sync_vars[variable].property;
        copy_values(property, object + property.offset, source + property.offset);
    }
    auto& section = *reinterpret_cast<NetworkBehaviour*>(object + type.behaviour_offset);
    section.dirty_bits_ = mask;
    section.authority_epoch_ = epoch;
    return object;
}

}  // namespace replayout::syncvar
