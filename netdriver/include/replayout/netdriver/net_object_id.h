// SPDX-License-Identifier: MIT
//
// How a game names an object to the driver that it added it to: a value to be kept beside the
// object, valid until remove_object(), and of that driver alone.
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
