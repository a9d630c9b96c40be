// SPDX-License-Identifier: MIT
//
// What an object is spawned with, beside its values: which of several archetypes it begins as, or
// the name by which both ends know it already, and where it is.
//
//     a pawn of the red team       archetype 7, location          the client makes one
//     the door of the map          stable name "cellar/door_3"    the client finds its own
//
// All of it is told once, when the object is opened to a client. What changes later is a property.
#pragma once

#include <replayout/reflection/lifetime_condition.h>
#include <replayout/reflection/math.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace replayout {

/// Names an archetype to both ends: a number that the game gives it for good, such as the hash of a
/// prefab's path or its asset id. 0: that of the class's layout.
struct ArchetypeId {
    std::uint32_t value = 0;

    friend constexpr auto operator<=>(ArchetypeId, ArchetypeId) noexcept = default;
};

/// Bytes of a stable name; a path within a level seldom has half of it.
inline constexpr std::size_t stable_name_bytes_max = 96;

/// A group that clients may be in, for subobjects that only some are to have: a number of the
/// game's own.
struct NetGroup {
    std::uint32_t value = 0;

    friend constexpr auto operator<=>(NetGroup, NetGroup) noexcept = default;
};

/// What an object is spawned with, beside its values. All numbers are finite.
struct SpawnParameters {
    /// Of an object that both ends have before it is replicated, because it lies in the map: its
    /// name there; of a subobject that its outer is made with, its name within that. UTF-8, up to
    /// stable_name_bytes_max; taken within the call. Empty: the client makes the object.
    std::string_view stable_name{};
    // Units, axes and order are the game's. Not quantised: four bytes each.
    std::optional<Vector3> location{};
    std::optional<Quat> rotation{};
    std::optional<Vector3> scale{};
    std::optional<Vector3> velocity{};
};

/// What a subobject is added with.
struct SubobjectParameters {
    /// Of a part that the outer is made with at both ends: its name there, as in SpawnParameters.
    /// Empty: the client makes it.
    std::string_view stable_name{};
    /// Which clients are to have it, of those that have its outer, by what they are to that: None,
    /// Never, NetGroup, or one that looks at owner, role, physics or replays alone.
    LifetimeCondition condition = LifetimeCondition::None;
};

}  // namespace replayout
