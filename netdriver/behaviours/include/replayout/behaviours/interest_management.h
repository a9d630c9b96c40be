// SPDX-License-Identifier: MIT
//
// Who sees objects of Visibility::Default, in Mirror's words. One for a server; it is carried out
// by the driver's Interest, so nothing is looked at but what moved or changed.
//
//     NetworkServer server(settings, transport, types, manager, {InterestKind::Distance, 60});
//     tower.set_interest_range(200);             // seen from farther
//     player.set_position(where_it_is);          // of players: the viewer, too
//
// Whatever the kind: who is not ready sees nothing, an owner sees what it owns, and for one
// connection and object NetworkServer::show_to() and hide_from() decide.
#pragma once

#include <replayout/netdriver/interest.h>

#include <cstdint>

namespace replayout {

enum class InterestKind : std::uint8_t {
    Everybody,       ///< all who are ready
    Distance,        ///< whose player is within range of it
    SpatialHashing,  ///< whose player is in its cell of a grid, or one beside it
    Team,            ///< who owns an object of its team; all, where it is in none
    Match,           ///< who owns an object of its match; nobody, where it is in none
    Scene,           ///< who owns an object in its scene
    SceneDistance,   ///< both
    Custom,          ///< for whom NetworkBehaviour::on_check_observer() says so
};

struct InterestManagement {
    InterestKind kind = InterestKind::Everybody;
    /// Of Distance and SceneDistance, and of SpatialHashing twice a cell's edge. 0: Mirror's, 500
    /// and 30.
    float range = 0;

    /// That, or what stands for 0.
    [[nodiscard]] float effective_range() const noexcept {
        return range > 0 ? range : kind == InterestKind::SpatialHashing ? 30.0f : 500.0f;
    }
    [[nodiscard]] bool has_groups() const noexcept {
        return kind == InterestKind::Team || kind == InterestKind::Match ||
               kind == InterestKind::Scene || kind == InterestKind::SceneDistance;
    }
    /// Whether group 0 is one, too.
    [[nodiscard]] bool has_group_zero() const noexcept {
        return kind == InterestKind::Scene || kind == InterestKind::SceneDistance;
    }
    /// What the driver is made with for it; axes and hysteresis stay.
    [[nodiscard]] InterestSettings settings(InterestSettings given) const noexcept {
        if (kind == InterestKind::SpatialHashing) {
            given.cell_size = effective_range() / 2;
            given.view_radius = 0;  // its own cell, and those beside it
        }
        return given;
    }
};

}  // namespace replayout
