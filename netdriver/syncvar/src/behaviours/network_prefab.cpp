// SPDX-License-Identifier: MIT
#include "client_parts.h"
#include "stored_references.h"
#include "sync_section.h"

#include <replayout/reflection/dynamic_type_builder.h>
#include <replayout/reflection/hash.h>
#include <replayout/syncvar/network_identity.h>
#include <replayout/syncvar/network_prefab.h>
#include <replayout/syncvar/network_server.h>

#include "behaviour_section.h"

#include <algorithm>

namespace replayout::syncvar {

namespace {

[[nodiscard]] std::uint32_t aligned(std::uint32_t offset, std::uint32_t alignment) noexcept {
    return (offset + alignment - 1) / alignment * alignment;
}

/// Not 0, which stands for none.
[[nodiscard]] std::uint32_t asset_id_of(std::string_view name) noexcept {
    return std::max(static_cast<std::uint32_t>(hash64(name)), std::uint32_t{1});
}

/// What is left of the largest interval when the sync interval is over; 0: nothing is tolerated, or
/// for ever.
[[nodiscard]] std::uint32_t sent_within_us_of(const SyncSettings& settings,
                                              const Property& variable) noexcept {
    if (settings.sync_interval_max_us == 0 || !may_tolerate(variable)) {
        return 0;
    }
    return static_cast<std::uint32_t>(
        std::max<std::int64_t>(settings.sync_interval_max_us - settings.sync_interval_us, 1));
}

/// Who is sent a variable, by what is said of it and of its component.
[[nodiscard]] Result<LifetimeCondition> condition_of(SyncMode component, SyncMode variable,
                                                     SyncDirection direction) {
    const auto is_said = [&](SyncMode mode) { return component == mode || variable == mode; };
    const bool is_excluded =
        is_said(SyncMode::ExcludeOwner) || direction == SyncDirection::ClientToServer;
    if (is_said(SyncMode::Owner) && is_said(SyncMode::ExcludeOwner)) {
        return Error{ErrorCode::InvalidArgument, "is for its owner, and for all but its owner"};
    }
    if (is_said(SyncMode::Owner)) {
        // What the owner decides and only the owner is sent, nobody is sent.
        return direction == SyncDirection::ClientToServer ? LifetimeCondition::Never
                                                          : LifetimeCondition::OwnerOnly;
    }
    return is_excluded ? LifetimeCondition::SkipOwner : LifetimeCondition::None;
}

}  // namespace

NetworkPrefab::NetworkPrefab(std::string_view name, std::span<const PrefabComponent> components,
                             PrefabOptions options)
    : name_(name),
      asset_id_(options.asset_id != 0 ? options.asset_id : asset_id_of(name)),
      options_(std::move(options)) {
    for (const PrefabComponent& component : components) {
        const TypeOps& ops = component.type->ops;
        Component placed;
        placed.type = component.type;
        placed.settings = component.settings;
        placed.offset = aligned(block_size_, ops.alignment);
        block_size_ = placed.offset + ops.size;
        block_alignment_ = std::max(block_alignment_, ops.alignment);
        has_references_ = has_references_ || component.type->reference_variables != 0;
        components_.push_back(std::move(placed));
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

Status NetworkPrefab::describe(TypeRegistry& registry) {
    DynamicTypeBuilder builder(registry, TypeKind::Class, name_, block_size_, block_alignment_);
    std::uint32_t parent = 0;
    for (std::uint32_t i = 0; i < components_.size(); ++i) {
        Component& component = components_[i];
        for (std::uint32_t index = 0; index < component.type->sync_vars.size(); ++index) {
            const SyncVarInfo& variable = component.type->sync_vars[index];
            Place& place = places_.emplace_back(Place{this, i, index});
            Result<Property> property = describe(component, variable, place);
            if (!property) {
                return property.error();
            }
            component.parents.push_back(ParentIndex{static_cast<std::uint16_t>(parent)});
            parent += property->array_dim;
            builder.property(std::move(*property));
        }
        if (Status described = describe_collections(i, parent, builder); !described) {
            return described;
        }
        if (Status described = describe_section(i, registry, parent, builder); !described) {
            return described;
        }
        for (std::uint32_t index = 0; index < component.type->functions.size(); ++index) {
            const Function& function = component.type->functions[index].function;
            FunctionThunk thunk;
            thunk.call = call_function;
            thunk.context = &places_.emplace_back(Place{this, i, index});
            builder.function(member_name(i, function.name), function.flags, function.parameters,
                             thunk);
        }
        if (Status added = add_section_functions(builder, i); !added) {
            return added;
        }
    }
    Result<const Type*> type = builder.build();
    if (!type) {
        return type.error();
    }
    type_ = *type;
    return {};
}

Status NetworkPrefab::add_section_functions(DynamicTypeBuilder& builder, std::uint32_t index) {
    const Component& component = components_[index];
    if (component.settings.sync_direction != SyncDirection::ClientToServer) {
        return {};
    }
    const Result<const Type*> section =
        SectionSender::section_type(builder.registry(), *component.type);
    if (!section) {
        return section.error();
    }
    Place& place = places_.emplace_back(Place{this, index, 0});
    FunctionThunk thunk;
    thunk.context = &place;
    thunk.call = take_from_owner;
    builder.function(member_name(index, SectionSender::to_server),
                     FunctionFlags::Server | FunctionFlags::Reliable | FunctionFlags::Update,
                     *section, thunk);
    thunk.call = take_from_server;
    builder.function(member_name(index, SectionSender::to_owner),
                     FunctionFlags::Client | FunctionFlags::Reliable, *section, thunk);
    return {};
}

Result<Property> NetworkPrefab::describe(const Component& component, const SyncVarInfo& variable,
                                         Place& place) const {
    Property property = variable.property;
    property.name = member_name(place.component, property.name);
    property.offset += component.offset;
    const Result<LifetimeCondition> condition = condition_of(
        component.settings.sync_mode, variable.sync_mode, component.settings.sync_direction);
    if (!condition) {
        return Error{condition.error().code, "prefab \"" + name_ + "\": SyncVar \"" +
                                                 property.name + "\" " + condition.error().message};
    }
    property.condition = *condition;
    property.sent_within_us = sent_within_us_of(component.settings, property);
    const bool is_owners = component.settings.sync_direction == SyncDirection::ClientToServer;
    if (variable.hook.call != nullptr || is_owners) {
        property.notify.call = tell_received;
        property.notify.context = &place;
        property.notify.when = is_owners || component.settings.hook_style == HookStyle::UNet
                                   ? RepNotify::Always
                                   : RepNotify::OnChanged;
    }
    return property;
}

Status NetworkPrefab::create_layout(const TypeRegistry& registry) {
    archetype_ = std::make_unique<NetworkIdentity>(*this, std::pmr::get_default_resource());
    StoredReferences::clear_all(*archetype_);  // It outlives all objects.
    RepLayoutOptions options;
    options.limits = options_.limits;
    options.archetype = archetype_->block();
    Result<std::unique_ptr<RepLayout>> layout = RepLayout::create(registry, *type_, options);
    if (!layout) {
        return layout.error();
    }
    layout_ = std::move(*layout);
    find_functions();
    for (std::uint32_t i = 0; i < components_.size(); ++i) {
        if (components_[i].settings.sync_direction == SyncDirection::ClientToServer) {
            components_[i].sync_to_server =
                *layout_->find_function(member_name(i, SectionSender::to_server));
            components_[i].sync_to_owner =
                *layout_->find_function(member_name(i, SectionSender::to_owner));
        }
    }
    return {};
}

void NetworkPrefab::tell_received(void* block, const void* previous, void* place) {
    const Place& received = *static_cast<const Place*>(place);
    behaviour_at(block, place).sync_var_received(received.index, previous);
}

void NetworkPrefab::call_function(void* block, const void* params, void* place) {
    const auto& [prefab, component, index] = *static_cast<const Place*>(place);
    const BehaviourFunction& called = prefab->components_[component].type->functions[index];
    // The driver runs calls for clients on its own side, too: calls for all, and calls for an owner
    // that is the host. A server that plays itself and sees the object is a client, any other is
    // not.
    NetworkIdentity& identity = behaviour_at(block, place).identity();
    constexpr FunctionFlags for_clients = FunctionFlags::Multicast | FunctionFlags::Client;
    if (identity.is_server() && has_flag(called.function.flags, for_clients) &&
        !identity.server_->host_hears(identity, called.function, params, place)) {
        return;
    }
    run_function(block, params, place);
}

void NetworkPrefab::run_function(void* block, const void* params, void* place) {
    const auto& [prefab, component, index] = *static_cast<const Place*>(place);
    const Component& placed = prefab->components_[component];
    const BehaviourFunction& called = placed.type->functions[index];
    std::byte* owner = static_cast<std::byte*>(block) + placed.offset + called.owner_offset;
    called.function.thunk.call(owner, params, called.function.thunk.context);
}

void NetworkPrefab::take_from_owner(void* block, const void* params, void* place) {
    NetworkBehaviour& behaviour = behaviour_at(block, place);
    const std::byte* section = static_cast<const std::byte*>(params);
    behaviour.server().take_section(behaviour, *reinterpret_cast<const NetworkBehaviour*>(
                                                   section + behaviour.type_->behaviour_offset));
}

void NetworkPrefab::take_from_server(void* block, const void* params, void* place) {
    NetworkBehaviour& behaviour = behaviour_at(block, place);
    if (behaviour.identity().client_ == nullptr) {
        return;  // a host has it already
    }
    const std::byte* section = static_cast<const std::byte*>(params);
    behaviour.client_parts().updates.take_section(
        behaviour,
        *reinterpret_cast<const NetworkBehaviour*>(section + behaviour.type_->behaviour_offset));
}

}  // namespace replayout::syncvar
