// SPDX-License-Identifier: MIT
//
// Time as the driver sees it: what the caller says it is. The library reads no clock.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace replayout {

/// A point on the caller's clock, in microseconds from any origin. Must not go back.
struct NetTime {
    std::int64_t microseconds = 0;

    friend constexpr auto operator<=>(NetTime, NetTime) noexcept = default;

    [[nodiscard]] static constexpr NetTime from_milliseconds(std::int64_t milliseconds) noexcept {
        return {milliseconds * 1000};
    }
    /// At the ends of what can be told it stays there.
    [[nodiscard]] constexpr NetTime plus_milliseconds(std::int64_t milliseconds) const noexcept {
        constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
        constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
        const std::int64_t step = milliseconds > most / 1000    ? most
                                  : milliseconds < least / 1000 ? least
                                                                : milliseconds * 1000;
        if (step > 0 ? microseconds > most - step : microseconds < least - step) {
            return {step > 0 ? most : least};
        }
        return {microseconds + step};
    }
    /// Microseconds from `earlier` to this time, as far as that can be told.
    [[nodiscard]] constexpr std::int64_t microseconds_since(NetTime earlier) const noexcept {
        if (earlier.microseconds < 0 &&
            microseconds > std::numeric_limits<std::int64_t>::max() + earlier.microseconds) {
            return std::numeric_limits<std::int64_t>::max();
        }
        if (earlier.microseconds > 0 &&
            microseconds < std::numeric_limits<std::int64_t>::min() + earlier.microseconds) {
            return std::numeric_limits<std::int64_t>::min();
        }
        return microseconds - earlier.microseconds;
    }
};

}  // namespace replayout
