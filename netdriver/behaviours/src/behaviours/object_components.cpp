// SPDX-License-Identifier: MIT
#include "behaviour_section.h"
#include "inside.h"
#include "stored_references.h"

#include <replayout/behaviours/collection_end.h>
#include <replayout/behaviours/network_identity.h>
#include <replayout/behaviours/network_prefab.h>
#include <replayout/behaviours/object_components.h>
#include <replayout/reflection/value_copy.h>

namespace replayout::detail {

ObjectComponents::ObjectComponents(const NetworkPrefab& prefab, MemoryResource* resource)
    : prefab_(&prefab),
      resource_(resource),
      block_(static_cast<std::byte*>(
          resource->allocate(prefab.block_size(), prefab.block_alignment()))) {}

ObjectComponents::~ObjectComponents() {
    const std::span<const NetworkPrefab::Component> components = prefab_->components();
    for (std::size_t i = components.size(); i > 0; --i) {
        if (components[i - 1].type->has_custom_serialization) {
            std::destroy_at(&Inside::of(*components_[i - 1]).section());
        }
        components[i - 1].type->ops.destroy(block_ + components[i - 1].offset);
    }
    resource_->deallocate(block_, prefab_->block_size(), prefab_->block_alignment());
}

void ObjectComponents::make(NetworkIdentity& object) {
    for (const NetworkPrefab::Component& entry : prefab_->components()) {
        std::byte* memory = block_ + entry.offset;
        entry.type->ops.construct(memory);
        auto* behaviour =
            reinterpret_cast<NetworkBehaviour*>(memory + entry.type->behaviour_offset);
        ObjectComponent& component = Inside::of(*behaviour);
        component.bind(object, *entry.type, entry.settings,
                       static_cast<std::uint8_t>(components_.size()));
        components_.push_back(behaviour);
        if (entry.type->has_custom_serialization) {
            std::construct_at(&component.section());
        }
    }
}

void* ObjectComponents::find(TypeKey key) const noexcept {
    for (std::size_t i = 0; i < components_.size(); ++i) {
        if (void* found = find_at(i, key)) {
            return found;
        }
    }
    return nullptr;
}

void* ObjectComponents::find_at(std::size_t index, TypeKey key) const noexcept {
    if (index >= components_.size()) {
        return nullptr;
    }
    const NetworkPrefab::Component& entry = prefab_->components()[index];
    for (const BehaviourType::Class& known : entry.type->classes) {
        if (known.key == key) {
            return block_ + entry.offset + known.offset;
        }
    }
    return nullptr;
}

void ObjectComponents::for_each(void (NetworkBehaviour::*callback)()) const {
    for (NetworkBehaviour* behaviour : components_) {
        (behaviour->*callback)();
    }
}

void ObjectComponents::reset_values(const ObjectComponents& from, bool keeps_own) {
    const auto is_kept = [keeps_own](const NetworkPrefab::Component& entry) {
        return keeps_own && entry.settings.sync_direction == SyncDirection::ClientToServer;
    };
    for (const NetworkPrefab::Component& entry : prefab_->components()) {
        if (is_kept(entry)) {
            continue;
        }
        for (const SyncVarInfo& variable : entry.type->sync_vars) {
            const std::uint32_t offset = entry.offset + variable.property.offset;
            copy_values(variable.property, block_ + offset, from.block_ + offset);
        }
    }
    for (std::size_t i = 0; i < components_.size(); ++i) {
        const NetworkPrefab::Component& entry = prefab_->components()[i];
        ObjectComponent& component = Inside::of(*components_[i]);
        const ObjectComponent& source = Inside::of(*from.components_[i]);
        for (std::size_t index = 0; index < entry.type->collections.size(); ++index) {
            CollectionEnd& collection = component.collection(index);
            if (is_kept(entry)) {
                collection.reset_and_keep(source.collection(index));
            } else {
                collection.reset(source.collection(index));
            }
        }
        if (entry.type->has_custom_serialization) {
            component.section() = {};
        }
    }
}

void ObjectComponents::keep_own_values() {
    if (own_values_ == nullptr) {
        own_values_ = std::make_unique<NetworkIdentity>(*prefab_, resource_);
        Inside::of(*own_values_).components.reset_values(*this);
        StoredReferences::clear_all(*own_values_);
    }
}

void ObjectComponents::restore_own_values() {
    reset_values(Inside::of(*own_values_).components);
}

const ObjectComponents& ObjectComponents::first_values() const noexcept {
    return Inside::of(own_values_ != nullptr ? *own_values_ : prefab_->archetype()).components;
}

}  // namespace replayout::detail
