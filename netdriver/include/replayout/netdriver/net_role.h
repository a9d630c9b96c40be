// SPDX-License-Identifier: MIT
//
// What an end of a connection is to an object: whether it decides what the object is, controls it,
// or shows what it is told.
#pragma once

#include <cstdint>

namespace replayout {

/// In Unreal's words and order.
enum class NetRole : std::uint8_t {
    None,             ///< it is not replicated here
    SimulatedProxy,   ///< a client shows what it is told
    AutonomousProxy,  ///< the client that owns it controls it
    Authority,        ///< decides: the server, and its own player; of no client of a driver
};

/// What one client is to an object of its server.
struct ObjectRole {
    NetRole role = NetRole::SimulatedProxy;
    /// It may call the object's functions of the server, and meets its conditions for owners.
    bool is_owned = false;
    /// It is the player's own object, the one that the game follows; only where it is owned.
    bool is_player = false;

    friend constexpr bool operator==(const ObjectRole&, const ObjectRole&) noexcept = default;
};

/// Of no object.
inline constexpr ObjectRole nobodys_role{NetRole::None, false, false};

}  // namespace replayout
