// SPDX-License-Identifier: MIT
#include "behaviour_section.h"
#include "inside.h"
#include "prefab_members.h"
#include "server_parts.h"
#include "stored_references.h"

#include <replayout/behaviours/network_identity.h>
#include <replayout/behaviours/network_prefab.h>
#include <replayout/reflection/hash.h>

#include <algorithm>
#include <utility>

namespace replayout {

namespace {

[[nodiscard]] std::uint32_t aligned(std::uint32_t offset, std::uint32_t alignment) noexcept {
    return (offset + alignment - 1) / alignment * alignment;
}

/// Not 0, which stands for none.
[[nodiscard]] std::uint32_t asset_id_of(std::string_view name) noexcept {
    return std::max(static_cast<std::uint32_t>(hash64(name)), std::uint32_t{1});
}

}  // namespace

NetworkPrefab::NetworkPrefab(std::string_view name, std::span<const PrefabComponent> components,
                             PrefabOptions options)
    : name_(name),
      asset_id_(options.asset_id != 0 ? options.asset_id : asset_id_of(name)),
      options_(std::move(options)),
      members_(std::make_unique<Members>()) {
    for (const PrefabComponent& component : components) {
        const TypeOps& ops = component.type->ops;
        Component entry;
        entry.type = component.type;
        entry.settings = component.settings;
        entry.offset = aligned(block_size_, ops.alignment);
        block_size_ = entry.offset + ops.size;
        block_alignment_ = std::max(block_alignment_, ops.alignment);
        has_references_ = has_references_ || component.type->reference_variables != 0;
        components_.push_back(std::move(entry));
    }
    for (Component& component : components_) {
        if (component.type->has_custom_serialization) {
            constexpr std::uint32_t size = sizeof(detail::BehaviourSection);
            constexpr std::uint32_t alignment = alignof(detail::BehaviourSection);
            component.section.offset = aligned(block_size_, alignment);
            block_size_ = component.section.offset + size;
            block_alignment_ = std::max(block_alignment_, alignment);
        }
    }
    block_size_ = std::max(aligned(block_size_, block_alignment_), std::uint32_t{1});
}

NetworkPrefab::~NetworkPrefab() = default;

const RepLayout& NetworkPrefab::layout() const noexcept {
    if (layout_ == nullptr) [[unlikely]] {
        replayout::detail::fail_assertion(
            "layout: a prefab has one once its NetworkTypes are frozen: call freeze() before",
            __FILE__, __LINE__);
    }
    return *layout_;
}

std::string NetworkPrefab::member_name(std::size_t component, std::string_view name) {
    return std::to_string(component) + "." + std::string(name);
}

Status NetworkPrefab::create_layout(const TypeRegistry& registry) {
    archetype_ = std::make_unique<NetworkIdentity>(*this, std::pmr::get_default_resource());
    StoredReferences::clear_all(*archetype_);  // It outlives all objects.
    RepLayoutOptions options;
    options.limits = options_.limits;
    options.archetype = detail::Inside::of(*archetype_).components.block();
    Result<std::unique_ptr<RepLayout>> layout = RepLayout::create(registry, *type_, options);
    if (!layout) {
        return layout.error();
    }
    layout_ = std::move(*layout);
    find_functions();
    return {};
}

NetworkBehaviour& NetworkPrefab::MemberPath::behaviour_at(void* block, const void* path) noexcept {
    const auto& [prefab, component, index] = *static_cast<const MemberPath*>(path);
    const Component& entry = prefab->components_[component];
    return *reinterpret_cast<NetworkBehaviour*>(static_cast<std::byte*>(block) + entry.offset +
                                                entry.type->behaviour_offset);
}

void NetworkPrefab::call_function(void* block, const void* params, void* path) {
    const auto& [prefab, component, index] = *static_cast<const MemberPath*>(path);
    const BehaviourFunction& called = prefab->components_[component].type->functions[index];
    // The driver runs calls for clients on its own side, too: calls for all, and calls for an owner
    // that is the host. A server that plays itself and sees the object is a client, any other is
    // not.
    NetworkIdentity& identity = MemberPath::behaviour_at(block, path).identity();
    constexpr FunctionFlags for_clients = FunctionFlags::Multicast | FunctionFlags::Client;
    detail::ServerParts* const server = detail::Inside::of(identity).server.end;
    if (server != nullptr && has_flag(called.function.flags, for_clients) &&
        !server->host.hears(identity, called.function, params, path)) {
        return;
    }
    run_function(block, params, path);
}

void NetworkPrefab::run_function(void* block, const void* params, void* path) {
    const auto& [prefab, component, index] = *static_cast<const MemberPath*>(path);
    const Component& entry = prefab->components_[component];
    const BehaviourFunction& called = entry.type->functions[index];
    std::byte* owner = static_cast<std::byte*>(block) + entry.offset + called.owner_offset;
    called.function.thunk.call(owner, params, called.function.thunk.context);
}

}  // namespace replayout
