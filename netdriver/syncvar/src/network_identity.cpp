// SPDX-License-Identifier: MIT
#include <replayout/syncvar/network_client.h>
#include <replayout/syncvar/network_identity.h>
#include <replayout/syncvar/network_server.h>
#include <replayout/syncvar/sync_collection.h>

#include "behaviour_section.h"

#include <algorithm>
#include <memory>

namespace replayout::syncvar {

NetworkIdentity::NetworkIdentity(const NetworkPrefab& prefab, MemoryResource* resource)
    : prefab_(&prefab), resource_(resource) {
    block_ =
        static_cast<std::byte*>(resource_->allocate(prefab.block_size(), prefab.block_alignment()));
    make_components();
}

NetworkIdentity::~NetworkIdentity() {
    const std::span<const NetworkPrefab::Component> components = prefab_->components();
    for (std::size_t i = components.size(); i > 0; --i) {
        if (components[i - 1].type->has_custom_serialization) {
            std::destroy_at(&components_[i - 1]->section());
        }
        components[i - 1].type->ops.destroy(block_ + components[i - 1].offset);
    }
    resource_->deallocate(block_, prefab_->block_size(), prefab_->block_alignment());
}

void NetworkIdentity::make_components() {
    for (const NetworkPrefab::Component& component : prefab_->components()) {
        std::byte* memory = block_ + component.offset;
        component.type->ops.construct(memory);
        auto* behaviour =
            reinterpret_cast<NetworkBehaviour*>(memory + component.type->behaviour_offset);
        behaviour->bind(*this, *component.type, component.settings,
                        static_cast<std::uint8_t>(components_.size()));
        components_.push_back(behaviour);
        if (component.type->has_custom_serialization) {
            std::construct_at(&behaviour->section());
        }
    }
    if (prefab_->configure()) {
        prefab_->configure()(*this);
    }
}

void NetworkIdentity::reset_values() {
    const std::byte* source = prefab_->archetype().block_;
    for (const NetworkPrefab::Component& component : prefab_->components()) {
        for (const SyncVarInfo& variable : component.type->sync_vars) {
            const Property& property = variable.property;
            for (std::uint32_t i = 0; i < property.array_dim; ++i) {
                const std::uint32_t offset = component.offset + property.offset + i * property.size;
                property.ops.copy_assign(block_ + offset, source + offset);
            }
        }
    }
    for (std::size_t i = 0; i < components_.size(); ++i) {
        const NetworkBehaviour& of_prefab = *prefab_->archetype().components()[i];
        const BehaviourType& type = *prefab_->components()[i].type;
        for (std::size_t index = 0; index < type.collections.size(); ++index) {
            components_[i]->collection(index).reset(of_prefab.collection(index));
        }
        if (type.has_custom_serialization) {
            components_[i]->section() = {};
        }
    }
}

void* NetworkIdentity::find_component(TypeKey key) const noexcept {
    for (std::size_t i = 0; i < components_.size(); ++i) {
        if (void* found = component_as(i, key)) {
            return found;
        }
    }
    return nullptr;
}

void* NetworkIdentity::component_as(std::size_t index, TypeKey key) const noexcept {
    REPLAYOUT_ASSERT(index < components_.size());
    const NetworkPrefab::Component& component = prefab_->components()[index];
    for (const BehaviourType::Class& known : component.type->classes) {
        if (known.key == key) {
            return block_ + component.offset + known.offset;
        }
    }
    return nullptr;
}

ObjectHandle NetworkIdentity::handle() const noexcept {
    return {reinterpret_cast<std::uintptr_t>(this)};
}

NetworkIdentity& NetworkIdentity::of(ObjectHandle handle) noexcept {
    return *reinterpret_cast<NetworkIdentity*>(static_cast<std::uintptr_t>(handle.value));
}

void NetworkIdentity::for_each_component(void (NetworkBehaviour::*callback)()) {
    for (NetworkBehaviour* component : components_) {
        (component->*callback)();
    }
}

void NetworkIdentity::for_each_component_reversed(void (NetworkBehaviour::*callback)()) {
    for (auto component = components_.rbegin(); component != components_.rend(); ++component) {
        ((*component)->*callback)();
    }
}

void NetworkIdentity::component_changed() {
    if (server_ != nullptr) {
        server_->component_changed(*this);
    }
}

}  // namespace replayout::syncvar
