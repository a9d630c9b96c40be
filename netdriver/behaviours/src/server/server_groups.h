// SPDX-License-Identifier: MIT
//
// Groups of clients that a NetworkServer makes of its own, beside teams, matches and scenes.
#pragma once

#include <replayout/netdriver/spawn_parameters.h>

#include <cstdint>

namespace replayout {

/// A team, match or scene of the game. Not 0, which an object has that is in none yet.
[[nodiscard]] constexpr NetGroup game_group(std::uint32_t group) noexcept {
    return NetGroup{group + 1};
}
/// Those that are ready. Objects that nobody keeps from a client are in it.
inline constexpr NetGroup ready_group{0xFFFF'FFFF};
/// Nobody.
inline constexpr NetGroup empty_group{0xFFFF'FFFE};

}  // namespace replayout
