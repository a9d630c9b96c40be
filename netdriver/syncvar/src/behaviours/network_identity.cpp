// SPDX-License-Identifier: MIT
#include <replayout/reflection/value_copy.h>
#include "client_parts.h"
#include "stored_references.h"

#include <replayout/syncvar/network_identity.h>
#include <replayout/syncvar/network_server.h>
#include <replayout/syncvar/sync_collection.h>

#include "behaviour_section.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

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

void NetworkIdentity::keep_own_values() {
    if (scene_id_ != 0 && own_values_ == nullptr) {
        own_values_ = std::make_unique<NetworkIdentity>(*prefab_, resource_);
        own_values_->reset_values(*this);
        StoredReferences::clear_all(*own_values_);
    }
}

void NetworkIdentity::reset_values(const NetworkIdentity& from, bool keeps_own) {
    const std::byte* source = from.block_;
    for (const NetworkPrefab::Component& component : prefab_->components()) {
        if (keeps_own && component.settings.sync_direction == SyncDirection::ClientToServer) {
            continue;
        }
        for (const SyncVarInfo& variable : component.type->sync_vars) {
            const std::uint32_t offset = component.offset + variable.property.offset;
            copy_values(variable.property, block_ + offset, source + offset);
        }
    }
    for (std::size_t i = 0; i < components_.size(); ++i) {
        const NetworkBehaviour& source_component = *from.components()[i];
        const NetworkPrefab::Component& component = prefab_->components()[i];
        const BehaviourType& type = *component.type;
        const bool is_kept =
            keeps_own && component.settings.sync_direction == SyncDirection::ClientToServer;
        for (std::size_t index = 0; index < type.collections.size(); ++index) {
            SyncCollection& collection = components_[i]->collection(index);
            if (is_kept) {
                collection.reset_and_keep(source_component.collection(index));
            } else {
                collection.reset(source_component.collection(index));
            }
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

void detail::stop_without_component(const NetworkIdentity& object, std::size_t index) noexcept {
    const std::string text = "component: a \"" + object.prefab().name() + "\" has no component " +
                             std::to_string(index) +
                             " of this class: find_component() answers null where there is none";
    replayout::detail::fail_assertion(text.c_str(), __FILE__, __LINE__);
}

void* NetworkIdentity::component_as(std::size_t index, TypeKey key) const noexcept {
    if (index >= components_.size()) {
        return nullptr;
    }
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

void NetworkIdentity::component_changed() {
    if (server_ != nullptr) {
        server_->component_changed(*this);
    } else if (client_ != nullptr) {
        client_->updates.object_changed(*this);
    }
}

// Who sees it.

bool NetworkIdentity::is_servers_to_set(const char* function) const {
    if (client_ == nullptr) {
        return true;
    }
    replayout::log(LogLevel::Warning, std::string(function) + ": net id " +
                                          std::to_string(net_id_) + ", an object of prefab \"" +
                                          prefab_->name() +
                                          "\", is a client's copy: only the server sets this");
    return false;
}

void NetworkIdentity::set_visibility(Visibility visibility) {
    if (!is_servers_to_set("set_visibility")) {
        return;
    }
    REPLAYOUT_EXPECT(visibility <= Visibility::ForceShown, void(),
                     "set_visibility: %u is no Visibility", static_cast<unsigned>(visibility));
    visibility_ = visibility;
    if (server_ != nullptr) {
        server_->apply_visibility(*this);
    }
}

void NetworkIdentity::set_interest_range(float range) {
    if (!is_servers_to_set("set_interest_range")) {
        return;
    }
    REPLAYOUT_EXPECT(range >= 0, void(), "set_interest_range: %g is below 0",
                     static_cast<double>(range));
    interest_range_ = range;
    if (server_ != nullptr) {
        server_->apply_visibility(*this);
    }
}

void NetworkIdentity::set_interest_group(std::uint32_t group) {
    if (!is_servers_to_set("set_interest_group")) {
        return;
    }
    REPLAYOUT_EXPECT(group < 0xFFFF'FFFD, void(),
                     "set_interest_group: %u is one of the library's own groups: use a lower one",
                     group);
    const std::uint32_t previous = std::exchange(interest_group_, group);
    if (server_ != nullptr && previous != group) {
        server_->interest_group_changed(*this, previous);
    }
}

void NetworkIdentity::set_position(const Vector3& position) {
    if (!is_servers_to_set("set_position")) {
        return;
    }
    transform.position = position;
    if (server_ != nullptr) {
        server_->position_changed(*this);
    }
}

// What it is told as a client.

bool NetworkIdentity::must_wait() const noexcept {
    return client_ != nullptr &&
           (!client_->readiness.is_spawn_finished() || !is_started_ || is_refreshed_);
}

void NetworkIdentity::start_client() {
    if (!std::exchange(is_started_, true)) {
        for_each_component(&NetworkBehaviour::on_start_client);
    }
}

void NetworkIdentity::tell_role(const ObjectRole& role) {
    if (is_told_player_ && !role.is_player) {
        is_told_player_ = false;
        for_each_component(&NetworkBehaviour::on_stop_local_player);
    }
    const bool is_player_until_now = role_.is_player;
    role_ = role;
    role_.is_player = is_player_until_now && role.is_player;
    if (is_told_owned_ != role.is_owned) {
        is_told_owned_ = role.is_owned;
        for_each_component(role.is_owned ? &NetworkBehaviour::on_start_authority
                                         : &NetworkBehaviour::on_stop_authority);
    }
    role_.is_player = role.is_player;
    if (!is_told_player_ && role.is_player) {
        is_told_player_ = true;
        for_each_component(&NetworkBehaviour::on_start_local_player);
    }
}

void NetworkIdentity::stop_client() {
    if (std::exchange(is_told_player_, false)) {
        for_each_component(&NetworkBehaviour::on_stop_local_player);
    }
    if (std::exchange(is_started_, false)) {
        for_each_component(&NetworkBehaviour::on_stop_client);
    }
    tell_role({});
}

}  // namespace replayout::syncvar
