// SPDX-License-Identifier: MIT
//
// A component of a networked object, as a value (Mirror: a SyncVar of a NetworkBehaviour): its
// object, and which of the components it is.
//
//     SyncVar<BehaviourReference> weapon;
//
//     fighter.weapon = BehaviourReference(gun);
//     if (const Gun* gun = fighter.weapon->get<Gun>()) { ... }
//
// Null while this end does not have the object; it is there again when that is, without a word of
// the server.
#pragma once

#include <replayout/behaviours/network_behaviour.h>
#include <replayout/behaviours/network_identity.h>

#include <cstdint>

namespace replayout {

/// A value of SyncVars, of structs and of parameters. NetworkTypes knows it.
struct BehaviourReference {
    BehaviourReference() = default;
    explicit BehaviourReference(const NetworkBehaviour& behaviour) noexcept
        : object(&behaviour.identity()), component(behaviour.component_index()) {}

    /// Null: nothing is named, or not here, or it is not of class `T`, nor of one built with that
    /// as a base.
    template <typename T>
    [[nodiscard]] T* get() const noexcept {
        const bool is_there = object != nullptr && component < object->components().size();
        return is_there ? object->find_component<T>(component) : nullptr;
    }

    NetworkIdentity* object = nullptr;
    std::uint8_t component = 0;

    friend bool operator==(const BehaviourReference&, const BehaviourReference&) = default;
};

}  // namespace replayout
