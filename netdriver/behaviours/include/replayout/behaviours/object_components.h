// SPDX-License-Identifier: MIT
//
// The components of an object, and the block of memory in which they lie one after another: makes
// them from a prefab, finds them, gives them back earlier values, and destroys them. A part of the
// library itself.
#pragma once

#include <replayout/reflection/memory.h>
#include <replayout/reflection/type_key.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace replayout {

class NetworkBehaviour;
class NetworkIdentity;
class NetworkPrefab;

namespace detail {

class ObjectComponents {
  public:
    ObjectComponents(const NetworkPrefab& prefab, MemoryResource* resource);
    ~ObjectComponents();
    ObjectComponents(const ObjectComponents&) = delete;
    ObjectComponents& operator=(const ObjectComponents&) = delete;

    /// Makes the components, which belong to `object` and find it whole. Once.
    void make(NetworkIdentity& object);

    [[nodiscard]] const NetworkPrefab& prefab() const noexcept { return *prefab_; }
    [[nodiscard]] MemoryResource* resource() const noexcept { return resource_; }
    [[nodiscard]] std::byte* block() const noexcept { return block_; }
    /// In the order of the prefab.
    [[nodiscard]] std::span<NetworkBehaviour* const> all() const noexcept { return components_; }
    /// Null: no component is of that class.
    [[nodiscard]] void* find(TypeKey key) const noexcept;
    /// Null: there is no component `index`, or it is of another class.
    [[nodiscard]] void* find_at(std::size_t index, TypeKey key) const noexcept;
    /// Calls a function of each component, in order.
    void for_each(void (NetworkBehaviour::*callback)()) const;

    /// Gives all SyncVars and collections the values that they have in `from`, of the same prefab.
    /// With `keeps_own`, which is for an owner, SyncVars that the owner decides stay until the
    /// server has sent its values, and so do collections that come in parts.
    void reset_values(const ObjectComponents& from, bool keeps_own = false);
    /// Keeps the present values, except references, if none were kept before.
    void keep_own_values();
    /// Sets all values to those that were kept.
    void restore_own_values();
    /// The values with which the object began: the kept ones, or those of the prefab.
    [[nodiscard]] const ObjectComponents& first_values() const noexcept;

  private:
    const NetworkPrefab* prefab_;
    MemoryResource* resource_;
    std::byte* block_ = nullptr;
    std::vector<NetworkBehaviour*> components_;
    std::unique_ptr<NetworkIdentity> own_values_;
};

}  // namespace detail

}  // namespace replayout
