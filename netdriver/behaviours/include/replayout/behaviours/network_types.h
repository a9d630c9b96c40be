// SPDX-License-Identifier: MIT
//
// All classes of behaviours and all prefabs of a game, described once and the same on both ends.
//
//     NetworkTypes types;
//     const auto player = BehaviourBuilder<Player>(types, "Player")....build();
//     const auto bag = BehaviourBuilder<Bag>(types, "Bag")....build();
//     const auto prefab = types.add_prefab("PlayerPrefab", {{*player}, {*bag, owner_only}});
//     if (!prefab || !types.freeze()) { ... }
//
// Until frozen it belongs to one thread; afterwards it is immutable, and servers and clients share
// it. It outlives them and all identities.
#pragma once

#include <replayout/behaviours/behaviour_type.h>
#include <replayout/behaviours/sync_settings.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/reflection/error.h>
#include <replayout/reflection/memory.h>
#include <replayout/reflection/type_key.h>
#include <replayout/reflection/type_registry.h>
#include <replayout/rep_layout.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace replayout {

class NetworkIdentity;
class NetworkPrefab;

/// One component of a prefab: its class, and what the inspector would say of it.
struct PrefabComponent {
    const BehaviourType* type = nullptr;
    SyncSettings settings{};
};

/// Components of one object (Mirror's limit).
inline constexpr std::size_t components_max = 64;

struct PrefabOptions {
    /// Names the prefab to both ends; 0: a hash of its name.
    std::uint32_t asset_id = 0;
    RepLimits limits{};
    /// Sets the values that the prefab begins with, beside those of the constructors.
    std::function<void(NetworkIdentity&)> configure{};
};

class NetworkTypes {
  public:
    NetworkTypes();
    ~NetworkTypes();
    NetworkTypes(const NetworkTypes&) = delete;
    NetworkTypes& operator=(const NetworkTypes&) = delete;

    /// For structs that are values of SyncVars, items of collections, or parameters.
    [[nodiscard]] TypeRegistry& registry() noexcept { return registry_; }

    /// For BehaviourBuilder. Refused: an empty or known name, a class that was built before. `key`
    /// is that of the class.
    [[nodiscard]] Result<const BehaviourType*> add_behaviour(BehaviourType type, TypeKey key);
    [[nodiscard]] const BehaviourType* find_behaviour(TypeKey key) const noexcept;

    /// An object with these components, in this order. Refused: an empty or known name, an asset id
    /// that another prefab has, more than components_max, a component without a class, or with one
    /// that was built for other NetworkTypes.
    [[nodiscard]] Result<const NetworkPrefab*> add_prefab(
        std::string_view name, std::span<const PrefabComponent> components,
        PrefabOptions options = {});
    [[nodiscard]] Result<const NetworkPrefab*> add_prefab(
        std::string_view name, std::initializer_list<PrefabComponent> components,
        PrefabOptions options = {});
    /// Or null.
    [[nodiscard]] const NetworkPrefab* find_prefab(std::uint32_t asset_id) const noexcept;
    [[nodiscard]] const NetworkPrefab* find_prefab(std::string_view name) const noexcept;
    /// In order of add_prefab().
    [[nodiscard]] std::span<const std::unique_ptr<NetworkPrefab>> prefabs() const noexcept;

    /// Ends the description, and makes the layouts.
    [[nodiscard]] Status freeze();
    [[nodiscard]] bool is_frozen() const noexcept { return registry_.is_frozen(); }

    /// For NetworkServer and NetworkClient, once frozen.
    [[nodiscard]] Status add_layouts_to(NetDriver& driver) const;
    /// The object by which a client and its server speak of the connection itself.
    [[nodiscard]] const NetworkPrefab& connection_prefab() const noexcept {
        return *connection_prefab_;
    }

  private:
    TypeRegistry registry_;
    std::vector<std::unique_ptr<BehaviourType>> behaviours_;
    std::vector<std::unique_ptr<NetworkPrefab>> prefabs_;
    const NetworkPrefab* connection_prefab_ = nullptr;
};

}  // namespace replayout
