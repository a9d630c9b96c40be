// SPDX-License-Identifier: MIT
//
// What objects are made from: some components, one after another in one piece of memory, and one
// layout over all of their variables. So the object is opened, compared and sent as one, and costs
// what one object costs, however many components it has.
//
//     block   | Player ............ | Bag ........ |
//     layout    0.health  0.name      1.gold            commands at the offsets where they lie
#pragma once

#include <replayout/behaviours/network_types.h>
#include <replayout/handle.h>
#include <replayout/reflection/memory.h>
#include <replayout/rep_layout.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace replayout {

class NetworkBehaviour;

namespace detail {
struct Inside;
}  // namespace detail

/// Owned by a NetworkTypes, immutable once that is frozen.
class NetworkPrefab {
  public:
    ~NetworkPrefab();
    NetworkPrefab(const NetworkPrefab&) = delete;
    NetworkPrefab& operator=(const NetworkPrefab&) = delete;

    /// A collection of a component in the layout: the property of its items, and the function that
    /// brings operations. Of SyncMode::Owner the items come by a function, too.
    struct Collection {
        ParentIndex items;
        FunctionIndex items_function;
        FunctionIndex changes;
        /// Of SyncDirection::ClientToServer: operations of the owner, and all items to who becomes
        /// that, and to who is it no more.
        FunctionIndex to_server;
        FunctionIndex to_owner;
        FunctionIndex to_last_owner;
    };
    /// The same of a component that serializes itself.
    struct Section {
        std::uint32_t offset = 0;  ///< in the block, behind the components
        ParentIndex initial;
        FunctionIndex initial_function;
        FunctionIndex changes;
    };
    /// Where a component lies in the block.
    struct Component {
        const BehaviourType* type = nullptr;
        SyncSettings settings;
        std::uint32_t offset = 0;
        /// Of each of its SyncVars in the layout; of an array that of its first element.
        std::vector<ParentIndex> parents;
        std::vector<Collection> collections;
        std::vector<FunctionIndex> functions;  ///< of each that its class has
        Section section;
        /// Of SyncDirection::ClientToServer: what its owner tells the server, and the server its
        /// owner.
        FunctionIndex sync_to_server{};
        FunctionIndex sync_to_owner{};
    };

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] std::uint32_t asset_id() const noexcept { return asset_id_; }
    [[nodiscard]] std::span<const Component> components() const noexcept { return components_; }
    [[nodiscard]] const RepLimits& limits() const noexcept { return options_.limits; }
    /// Something of it is for the owner alone, and is sent by calls.
    [[nodiscard]] bool has_calls_for_owner() const noexcept { return has_calls_for_owner_; }
    /// SyncVars of it may refer to objects.
    [[nodiscard]] bool has_references() const noexcept { return has_references_; }
    /// Once frozen.
    [[nodiscard]] const RepLayout& layout() const noexcept;
    [[nodiscard]] std::uint32_t block_size() const noexcept { return block_size_; }
    [[nodiscard]] std::uint32_t block_alignment() const noexcept { return block_alignment_; }
    [[nodiscard]] const std::function<void(NetworkIdentity&)>& configure() const noexcept {
        return options_.configure;
    }
    /// The name of a function of a component in the layout: "0.cmd_fire".
    [[nodiscard]] static std::string member_name(std::size_t component, std::string_view name);
    /// The object that every new one equals. Once frozen.
    [[nodiscard]] const NetworkIdentity& archetype() const noexcept { return *archetype_; }

  private:
    friend struct detail::Inside;
    friend class NetworkTypes;

    /// Names a member of a component to a function of the layout.
    struct MemberPath {
        const NetworkPrefab* prefab = nullptr;
        std::uint32_t component = 0;
        std::uint32_t index = 0;  ///< of the SyncVar, function or collection

        [[nodiscard]] static NetworkBehaviour& behaviour_at(void* block, const void* path) noexcept;
    };
    class Description;
    class Members;

    NetworkPrefab(std::string_view name, std::span<const PrefabComponent> components,
                  PrefabOptions options);
    [[nodiscard]] Status describe(TypeRegistry& registry);
    [[nodiscard]] Status create_layout(const TypeRegistry& registry);
    /// Notes in the components which functions of the layout are theirs.
    void find_functions();
    /// Functions of the game.
    static void call_function(void* block, const void* params, void* path);
    /// The same, at whichever end.
    static void run_function(void* block, const void* params, void* path);

    std::string name_;
    std::uint32_t asset_id_ = 0;
    PrefabOptions options_;
    std::vector<Component> components_;
    std::uint32_t block_size_ = 0;
    std::uint32_t block_alignment_ = 1;
    const Type* type_ = nullptr;
    bool has_calls_for_owner_ = false;
    bool has_references_ = false;
    std::unique_ptr<Members> members_;
    std::unique_ptr<NetworkIdentity> archetype_;
    std::unique_ptr<RepLayout> layout_;
};

}  // namespace replayout
