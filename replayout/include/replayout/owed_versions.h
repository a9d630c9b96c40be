// SPDX-License-Identifier: MIT
//
// The question "what is this receiver owed", as the encoder takes it: a receiver's position in the
// versions of an object, and, where only a part of a large object was lost, which part.
#pragma once

#include <replayout/handle.h>
#include <replayout/sending_rep_state.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace replayout {

/// A span of an object's handles; of a single array handle also a span of its elements.
struct RepRange {
    static constexpr std::uint32_t no_end = std::numeric_limits<std::uint32_t>::max();

    std::uint32_t handle_begin = 1;
    std::uint32_t handle_end = no_end;
    std::uint32_t element_begin = 0;
    std::uint32_t element_end = no_end;

    [[nodiscard]] constexpr bool is_whole() const noexcept {
        return handle_begin == 1 && handle_end == no_end;
    }
    [[nodiscard]] constexpr bool contains(RepHandle handle) const noexcept {
        return handle.value >= handle_begin && handle.value < handle_end;
    }
    /// Elements count only where the span is a single handle.
    [[nodiscard]] constexpr bool contains_element(std::uint32_t element) const noexcept {
        const bool is_single = handle_begin + 1 == handle_end;
        return !is_single || (element >= element_begin && element < element_end);
    }

    friend constexpr bool operator==(const RepRange&, const RepRange&) noexcept = default;
};

/// The smallest range that contains both.
[[nodiscard]] constexpr RepRange hull(const RepRange& left, const RepRange& right) noexcept {
    const bool is_same_handle =
        left.handle_begin == right.handle_begin && left.handle_end == right.handle_end;
    return {std::min(left.handle_begin, right.handle_begin),
            std::max(left.handle_end, right.handle_end),
            is_same_handle ? std::min(left.element_begin, right.element_begin) : 0,
            is_same_handle ? std::max(left.element_end, right.element_end) : RepRange::no_end};
}

/// See SendingRepState for the meaning of the two versions. A value; equal questions have equal
/// answers, so an answer can be shared.
struct OwedVersions {
    Version sent_version = 0;
    VersionInterval lost;
    RepRange lost_range;
    /// The receiver holds, of each property, its value at sent_version (SendingRepState::is_exact):
    /// what is back at that value is not owed. False is always safe, and the same where nothing is.
    bool is_exact = false;
    /// Everything that last changed at this version or before has arrived, for certain: what is
    /// under way or lost is newer. Asked where a layout needs it (RepLayout::needs_held_version),
    /// to be left at 0 elsewhere, so that receivers have more in common. 0, nothing is certain, is
    /// always safe. See InFlightVersions.
    Version held_version = 0;
    /// Nothing of the object was sent before this version: of what was removed up to it the
    /// receiver has at most what the archetype had. To be left at 0 where held_version is not less,
    /// and where a layout does not ask for that; 0, nothing is known, is always safe.
    Version joined_version = 0;

    constexpr OwedVersions() noexcept = default;
    constexpr explicit OwedVersions(const SendingRepState& state,
                                    const RepRange& range = RepRange()) noexcept
        : sent_version(state.sent_version), lost(state.lost()), lost_range(range) {}

    [[nodiscard]] constexpr bool owes(Version last_changed) const noexcept {
        return last_changed > sent_version || lost.contains(last_changed);
    }

    /// The question of a receiver of whom only is known what it holds.
    [[nodiscard]] constexpr OwedVersions since_held() const noexcept {
        OwedVersions question;
        question.sent_version = held_version;
        question.held_version = held_version;
        question.joined_version = joined_version;
        return question;
    }

    friend constexpr bool operator==(const OwedVersions&, const OwedVersions&) noexcept = default;
};

}  // namespace replayout
