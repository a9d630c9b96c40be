// SPDX-License-Identifier: MIT
#include <replayout/behaviours/behaviour_builder.h>
#include <replayout/behaviours/behaviour_reference.h>
#include <replayout/behaviours/network_identity.h>
#include <replayout/behaviours/network_prefab.h>
#include <replayout/behaviours/network_types.h>
#include <replayout/behaviours/sync_collection.h>
#include <replayout/reflection/type_builder.h>
#include <replayout/reflection/visit_references.h>
#include <replayout/value_limits.h>

#include "behaviour_section.h"
#include "connection_channel.h"

#include <algorithm>

namespace replayout {

namespace {

/// Null: there is none.
[[nodiscard]] const char* problem_of(const SyncSettings& settings) noexcept {
    if (settings.sync_mode > SyncMode::ExcludeOwner) {
        return "sync_mode is no SyncMode";
    }
    if (settings.sync_direction > SyncDirection::ClientToServer) {
        return "sync_direction is no SyncDirection";
    }
    if (settings.hook_style > HookStyle::UNet) {
        return "hook_style is no HookStyle";
    }
    if (settings.sync_interval_us < 0) {
        return "sync_interval_us is below 0";
    }
    const std::int64_t most = settings.sync_interval_max_us;
    if (most == 0) {
        return nullptr;
    }
    if (most < 0 || most > std::int64_t{sent_within_us_max}) {
        return "sync_interval_max_us is neither 0 nor between 1 and 3,600,000,000";
    }
    return most < settings.sync_interval_us
               ? "sync_interval_max_us is less than sync_interval_us, before which nothing is sent"
               : nullptr;
}

/// What one of these owns of which `is_it` is true. Null: nothing.
template <typename Owned, typename Predicate>
[[nodiscard]] const Owned* find_owned(const std::vector<std::unique_ptr<Owned>>& all,
                                      const Predicate& is_it) {
    const auto found = std::find_if(all.begin(), all.end(), is_it);
    return found == all.end() ? nullptr : found->get();
}

}  // namespace

NetworkTypes::NetworkTypes() {
    detail::add_section_types(registry_);
    detail::add_collection_part_types(registry_);
    const bool is_added = struct_builder<BehaviourReference>(registry_, "BehaviourReference")
                              .property<&BehaviourReference::object>("object")
                              .property<&BehaviourReference::component>("component")
                              .build()
                              .has_value();
    REPLAYOUT_ASSERT(is_added);
    (void)is_added;
    const Result<const NetworkPrefab*> prefab = detail::ConnectionChannel::add_to(*this);
    REPLAYOUT_ASSERT(prefab.has_value());
    connection_prefab_ = *prefab;
}

NetworkTypes::~NetworkTypes() = default;

Result<const BehaviourType*> NetworkTypes::add_behaviour(BehaviourType type, TypeKey key) {
    const auto refuse = [&](ErrorCode code, const char* why) {
        return Error{code, "behaviour \"" + type.name + "\": " + why};
    };
    if (is_frozen()) {
        return refuse(ErrorCode::RegistryFrozen, "comes after freeze()");
    }
    if (type.name.empty()) {
        return refuse(ErrorCode::EmptyName, "has no name");
    }
    if (find_owned(behaviours_, [&](const auto& known) {
            return known->name == type.name || known->classes.front().key == key;
        }) != nullptr) {
        return refuse(ErrorCode::DuplicateName, "was built before");
    }
    for (std::size_t i = 0; i < type.sync_vars.size(); ++i) {
        if (has_references(type.sync_vars[i].property)) {
            type.reference_variables |= std::uint64_t{1} << i;
        }
        if (has_limits(type.sync_vars[i].property)) {
            type.limited_variables |= std::uint64_t{1} << i;
        }
    }
    for (SyncCollectionInfo& collection : type.collections) {
        collection.item = collection.property.struct_type->properties().front().element.get();
        collection.has_limits = has_limits(*collection.item);
    }
    return behaviours_.emplace_back(std::make_unique<BehaviourType>(std::move(type))).get();
}

const BehaviourType* NetworkTypes::find_behaviour(TypeKey key) const noexcept {
    return find_owned(behaviours_,
                      [&](const auto& known) { return known->classes.front().key == key; });
}

Result<const NetworkPrefab*> NetworkTypes::add_prefab(std::string_view name,
                                                      std::span<const PrefabComponent> components,
                                                      PrefabOptions options) {
    const auto refuse = [&](ErrorCode code, const std::string& why) {
        return Error{code, "prefab \"" + std::string(name) + "\": " + why};
    };
    if (is_frozen()) {
        return refuse(ErrorCode::RegistryFrozen, "comes after freeze()");
    }
    if (components.size() > components_max) {
        return refuse(ErrorCode::LimitExceeded,
                      "has more than " + std::to_string(components_max) + " components");
    }
    for (const PrefabComponent& component : components) {
        if (component.type == nullptr) {
            return refuse(ErrorCode::UnknownType, "has a component without a class");
        }
        if (find_owned(behaviours_, [&](const auto& known) {
                return known.get() == component.type;
            }) == nullptr) {
            return refuse(ErrorCode::UnknownType,
                          "has a component whose class was built for other NetworkTypes");
        }
        if (const char* problem = problem_of(component.settings)) {
            return refuse(ErrorCode::InvalidArgument,
                          "component \"" + component.type->name + "\": " + problem);
        }
    }
    std::unique_ptr<NetworkPrefab> prefab(new NetworkPrefab(name, components, std::move(options)));
    if (const NetworkPrefab* other = find_prefab(prefab->asset_id())) {
        return refuse(ErrorCode::DuplicateName,
                      "has the asset id of prefab \"" + other->name() + "\"");
    }
    if (Status described = prefab->describe(registry_); !described) {
        return described.error();
    }
    return prefabs_.emplace_back(std::move(prefab)).get();
}

Result<const NetworkPrefab*> NetworkTypes::add_prefab(
    std::string_view name, std::initializer_list<PrefabComponent> components,
    PrefabOptions options) {
    return add_prefab(name, std::span(components.begin(), components.size()), std::move(options));
}

const NetworkPrefab* NetworkTypes::find_prefab(std::uint32_t asset_id) const noexcept {
    return find_owned(prefabs_, [&](const auto& prefab) { return prefab->asset_id() == asset_id; });
}

const NetworkPrefab* NetworkTypes::find_prefab(std::string_view name) const noexcept {
    return find_owned(prefabs_, [&](const auto& prefab) { return prefab->name() == name; });
}

std::span<const std::unique_ptr<NetworkPrefab>> NetworkTypes::prefabs() const noexcept {
    return prefabs_;
}

Status NetworkTypes::freeze() {
    if (Status frozen = registry_.freeze(); !frozen) {
        return frozen;
    }
    for (const std::unique_ptr<NetworkPrefab>& prefab : prefabs_) {
        if (Status created = prefab->create_layout(registry_); !created) {
            return created;
        }
    }
    return {};
}

Status NetworkTypes::add_layouts_to(NetDriver& driver) const {
    if (!is_frozen()) {
        return Error{ErrorCode::RegistryNotFrozen,
                     "network types: call freeze() before listen() or connect()"};
    }
    for (const std::unique_ptr<NetworkPrefab>& prefab : prefabs_) {
        if (Status added = driver.add_layout(prefab->layout()); !added) {
            return added;
        }
    }
    return {};
}

}  // namespace replayout
