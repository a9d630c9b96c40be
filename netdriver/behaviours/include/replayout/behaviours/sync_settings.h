// SPDX-License-Identifier: MIT
//
// What is said of a component of a prefab, beside what its class is: Unity's fields in the
// inspector of a NetworkBehaviour.
#pragma once

#include <cstdint>

namespace replayout {

/// Who is sent a component (Mirror: SyncMode), or one SyncVar of it. What both say together holds.
enum class SyncMode : std::uint8_t {
    Observers,     ///< all who see the object, its owner too
    Owner,         ///< its owner alone
    ExcludeOwner,  ///< all who see the object but its owner (FishNet); of a SyncVar
};

/// Who decides what a component is (Mirror: SyncDirection).
enum class SyncDirection : std::uint8_t {
    ServerToClient,
    /// The client that owns the object tells the server, which tells all others; while nobody owns
    /// it, the server. What travels is an object of the component's class: of such a class
    /// constructors and destructors touch nothing outside of their object.
    ClientToServer,
};

/// When and how hooks of SyncVars run (docs/unity.md has the rules of both).
enum class HookStyle : std::uint8_t {
    Mirror,  ///< hook(previous, current) after the assignment, also of initial values that differ
    UNet,    ///< hook(value) instead of the assignment, and never of initial values
};

struct SyncSettings {
    SyncMode sync_mode = SyncMode::Observers;
    SyncDirection sync_direction = SyncDirection::ServerToClient;
    HookStyle hook_style = HookStyle::Mirror;
    /// Microseconds between two times that the component is sent; what changes meanwhile is sent
    /// together. 0: with each late_update(). A call of the object sends it sooner.
    std::int64_t sync_interval_us = 0;
    /// Microseconds after which clients have a change that the class of a SyncVar tolerates: a
    /// struct with a serializer and Identical (StructTraitsOf), such as an angle that counts as the
    /// same within a degree. 0, or sync_interval_us to 3,600,000,000; 0: such a change waits for
    /// one that is large enough. All other SyncVars, quantised ones too, are sent with each change
    /// that a client could see, so nothing of them waits.
    std::int64_t sync_interval_max_us = 0;
};

}  // namespace replayout
