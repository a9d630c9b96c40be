// SPDX-License-Identifier: MIT
//
// How often a server looks at an object: in ticks in which it does not, the object is not compared
// and nothing new of it is sent, to anybody.
//
//     {10, 2}     ten times a second while it changes, down to twice a second while it does not
//
//     ticks       | | | | | | | | | | | |      60 a second
//     an object   |           |           |    10 a second, for all clients in the same ticks
//     another         |           |
#pragma once

namespace replayout {

/// 0, or 0.001 to 1,000,000 each. More than there are ticks is each tick.
struct NetUpdateFrequency {
    /// Looks a second, on the clock of the ticks; 0: one in each tick.
    float per_second = 0;
    /// Adaptive, where it is less than `per_second` and not 0: an object that did not change for a
    /// time T is looked at again within T / 4, but not more rarely than this; and as often as
    /// `per_second` from its next change on.
    float min_per_second = 0;

    [[nodiscard]] constexpr bool is_valid() const noexcept {
        return is_in_range(per_second) && is_in_range(min_per_second) &&
               (per_second != 0 || min_per_second == 0);
    }

    friend constexpr bool operator==(const NetUpdateFrequency&,
                                     const NetUpdateFrequency&) noexcept = default;

  private:
    [[nodiscard]] static constexpr bool is_in_range(float value) noexcept {
        return value == 0 || (value >= 0.001f && value <= 1'000'000.0f);
    }
};

}  // namespace replayout
