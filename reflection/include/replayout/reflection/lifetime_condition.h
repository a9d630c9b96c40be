// SPDX-License-Identifier: MIT
//
// Who is sent a property: Unreal's lifetime conditions, with its numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace replayout {

/// A condition belongs to a whole top-level property, never to a member of a struct. What the words
/// mean for one receiver stands in ReplicationFlags.
enum class LifetimeCondition : std::uint8_t {
    None,            ///< everybody, always
    InitialOnly,     ///< everybody, and only what it is when the object is opened for the receiver
    OwnerOnly,       ///< the owner of the object
    SkipOwner,       ///< all but the owner
    SimulatedOnly,   ///< who simulates the object
    AutonomousOnly,  ///< who controls it
    SimulatedOrPhysics,  ///< who simulates it; all, if the object replicates its physics
    InitialOrOwner,      ///< the owner always, others as InitialOnly
    Custom,              ///< everybody, while the property is active in its object
    ReplayOrOwner,       ///< replays and the owner
    ReplayOnly,
    SimulatedOnlyNoReplay,
    SimulatedOrPhysicsNoReplay,
    SkipReplay,
    Dynamic,   ///< any other one, chosen for each object while it runs; None until then
    Never,     ///< nobody
    NetGroup,  ///< of subobjects, not of properties: refused on one
};

inline constexpr std::size_t lifetime_condition_count = 17;

/// The enumerator's name ("OwnerOnly").
[[nodiscard]] std::string_view to_string(LifetimeCondition condition) noexcept;

}  // namespace replayout
