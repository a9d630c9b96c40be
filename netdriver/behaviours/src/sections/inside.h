// SPDX-License-Identifier: MIT
//
// The door through which the library reaches the state of objects and behaviours, and the functions
// of collections and prefabs that a game must not call. These classes have no other friend for
// that.
#pragma once

#include <replayout/behaviours/network_behaviour.h>
#include <replayout/behaviours/network_identity.h>
#include <replayout/behaviours/network_prefab.h>
#include <replayout/behaviours/sync_collection.h>
#include <replayout/reflection/member_property.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace replayout::detail {

struct Inside {
    [[nodiscard]] static ObjectComponent& of(NetworkBehaviour& behaviour) noexcept {
        return behaviour.component_;
    }
    [[nodiscard]] static const ObjectComponent& of(const NetworkBehaviour& behaviour) noexcept {
        return behaviour.component_;
    }
    [[nodiscard]] static ObjectParts& of(NetworkIdentity& object) noexcept { return object.parts_; }
    [[nodiscard]] static const ObjectParts& of(const NetworkIdentity& object) noexcept {
        return object.parts_;
    }
    [[nodiscard]] static CollectionEnd& of(SyncCollection& collection) noexcept {
        return collection;
    }
    /// The index of the component in its behaviour.
    [[nodiscard]] static std::uint32_t component_offset() noexcept {
        return member_offset<NetworkBehaviour, &NetworkBehaviour::component_>();
    }
    /// The behaviour whose component it is.
    [[nodiscard]] static NetworkBehaviour& behaviour_of(ObjectComponent& component) noexcept {
        return *reinterpret_cast<NetworkBehaviour*>(reinterpret_cast<std::byte*>(&component) -
                                                    component_offset());
    }
    /// Whether the function is one of the game's, and brings no state of an object.
    [[nodiscard]] static bool is_games(const Function& function) noexcept {
        return function.thunk.call == NetworkPrefab::call_function;
    }
    /// Runs a function of the game, at whichever end.
    static void run_function(void* block, const void* params, void* path) {
        NetworkPrefab::run_function(block, params, path);
    }
};

[[nodiscard]] inline ObjectHandle handle_of(const NetworkIdentity& object) noexcept {
    return {reinterpret_cast<std::uintptr_t>(&object)};
}

/// The object may be gone, or the handle a game's own: then only the address may be used.
[[nodiscard]] inline NetworkIdentity* object_of(ObjectHandle handle) noexcept {
    return reinterpret_cast<NetworkIdentity*>(static_cast<std::uintptr_t>(handle.value));
}

/// Forgets the objects that are about to be freed.
template <typename Object>
void erase_gone(std::vector<Object*>& objects) {
    std::erase_if(objects, [](const auto* object) { return Inside::of(*object).is_gone; });
}

inline std::byte* ObjectComponent::object() const noexcept {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
    NetworkBehaviour& behaviour = Inside::behaviour_of(const_cast<ObjectComponent&>(*this));
    return reinterpret_cast<std::byte*>(&behaviour) - type_->behaviour_offset;
}

inline std::byte* ObjectComponent::value_of(std::uint32_t variable) const noexcept {
    return object() + type_->sync_vars[variable].property.offset;
}

}  // namespace replayout::detail
