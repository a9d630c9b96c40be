// SPDX-License-Identifier: MIT
//
// The identity of a replicated object on the wire: given by the server, never used again, the same
// for every connection. That is what makes a reference shareable: its bits do not depend on who
// receives it.
#pragma once

#include <compare>
#include <cstdint>

namespace replayout {

/// 0 names nothing. Ids grow monotonically in the order in which the server first mentions an
/// object, also one that is not yet or no longer alive.
struct NetGUID {
    std::uint64_t value = 0;

    [[nodiscard]] constexpr bool is_null() const noexcept { return value == 0; }
    friend constexpr auto operator<=>(NetGUID, NetGUID) noexcept = default;
};

}  // namespace replayout
