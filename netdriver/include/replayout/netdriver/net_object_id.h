// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstdint>

namespace replayout {

/// An object of a server's driver. Stays invalid once the object was removed.
struct NetObjectId {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;  ///< 0: no object

    friend constexpr auto operator<=>(NetObjectId, NetObjectId) noexcept = default;
};

}  // namespace replayout
