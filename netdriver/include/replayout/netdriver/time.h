// SPDX-License-Identifier: MIT
//
// Time as the driver sees it: what the caller says it is. The library reads no clock.
#pragma once

#include <compare>
#include <cstdint>

namespace replayout {

/// A point on the caller's clock, in microseconds from any origin. Must not go back.
struct NetTime {
    std::int64_t microseconds = 0;

    friend constexpr auto operator<=>(NetTime, NetTime) noexcept = default;

    [[nodiscard]] static constexpr NetTime from_milliseconds(std::int64_t milliseconds) noexcept {
        return {milliseconds * 1000};
    }
    [[nodiscard]] constexpr NetTime plus_milliseconds(std::int64_t milliseconds) const noexcept {
        return {microseconds + milliseconds * 1000};
    }
};

}  // namespace replayout
