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
#include <span>

namespace replayout {

/// A span of an object's handles; of a single array handle also a span of its elements, by their
/// places. In a dynamic array a place is an index. In a keyed array it goes by the key, which means
/// the same whatever comes and goes: see place_of_key(). Place 0 is that of its deletions.
struct RepRange {
    static constexpr std::uint32_t no_handle_end = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::uint64_t no_element_end = std::numeric_limits<std::uint64_t>::max();

    std::uint32_t handle_begin = 1;
    std::uint32_t handle_end = no_handle_end;
    std::uint64_t element_begin = 0;
    std::uint64_t element_end = no_element_end;

    /// All of one value.
    [[nodiscard]] static constexpr RepRange of(RepHandle handle) noexcept {
        return {handle.value, handle.value + 1, 0, no_element_end};
    }
    /// All from that handle on.
    [[nodiscard]] static constexpr RepRange from(RepHandle handle) noexcept {
        return {handle.value, no_handle_end, 0, no_element_end};
    }

    [[nodiscard]] constexpr bool is_whole() const noexcept {
        return handle_begin == 1 && handle_end == no_handle_end;
    }
    [[nodiscard]] constexpr bool is_single() const noexcept {
        return handle_begin + 1 == handle_end;
    }
    [[nodiscard]] constexpr bool is_empty() const noexcept {
        return handle_begin >= handle_end ||
               (is_single() && element_end != no_element_end && element_begin >= element_end);
    }
    [[nodiscard]] constexpr bool contains(RepHandle handle) const noexcept {
        return handle.value >= handle_begin && handle.value < handle_end;
    }
    /// Elements count only where the span is a single handle.
    [[nodiscard]] constexpr bool contains_element(std::uint64_t place) const noexcept {
        return !is_single() ||
               (place >= element_begin && (place < element_end || element_end == no_element_end));
    }

    friend constexpr bool operator==(const RepRange&, const RepRange&) noexcept = default;
};

/// Places of elements, see RepRange.
struct PlaceSpan {
    std::uint64_t begin = 0;
    std::uint64_t end = RepRange::no_element_end;

    [[nodiscard]] constexpr bool contains(std::uint64_t place) const noexcept {
        return place >= begin && (place < end || end == RepRange::no_element_end);
    }
};

/// The place of an element of a keyed array. The two greatest keys share the last place.
[[nodiscard]] constexpr std::uint64_t place_of_key(std::uint64_t key) noexcept {
    return key == RepRange::no_element_end ? key : key + 1;
}
[[nodiscard]] constexpr std::uint64_t place_after(std::uint64_t place) noexcept {
    return place == RepRange::no_element_end ? place : place + 1;
}

/// The smallest range that contains both.
[[nodiscard]] constexpr RepRange hull(const RepRange& left, const RepRange& right) noexcept {
    const bool is_same_handle =
        left.handle_begin == right.handle_begin && left.handle_end == right.handle_end;
    return {
        std::min(left.handle_begin, right.handle_begin),
        std::max(left.handle_end, right.handle_end),
        is_same_handle ? std::min(left.element_begin, right.element_begin) : 0,
        is_same_handle ? std::max(left.element_end, right.element_end) : RepRange::no_element_end};
}

/// What both contain; it can be empty.
[[nodiscard]] constexpr RepRange overlap(const RepRange& left, const RepRange& right) noexcept {
    RepRange both{std::max(left.handle_begin, right.handle_begin),
                  std::min(left.handle_end, right.handle_end)};
    for (const RepRange& range : {left, right}) {
        if (both.is_single() && range.is_single()) {
            both.element_begin = std::max(both.element_begin, range.element_begin);
            both.element_end = std::min(both.element_end, range.element_end);
        }
    }
    return both;
}

/// Versions, of a part of an object: what was lost, or will be if a packet is.
struct LostPart {
    VersionInterval versions;
    RepRange range;

    friend constexpr bool operator==(const LostPart&, const LostPart&) noexcept = default;
};

/// What a receiver was sent, and lost, of one value in an object, or one place in it.
struct OwedAt {
    Version sent_version = 0;
    VersionInterval lost;  ///< the hull of what was lost there
    /// What changed before counts as changed here (OwedVersions::restart_version).
    Version restart_version = 0;
    /// Of these what was lost there, see OwedVersions::lost_parts. Empty: all of `lost`.
    std::span<const LostPart> lost_parts;
    RepHandle handle;
    std::uint64_t place = any_place;

    /// Wherever it lies in the value. (It is also the place of the greatest keys, of which more is
    /// owed then than was lost.)
    static constexpr std::uint64_t any_place = RepRange::no_element_end;

    [[nodiscard]] constexpr bool owes(Version last_changed) const noexcept {
        const Version changed = std::max(last_changed, restart_version);
        return changed > sent_version || (lost.contains(changed) && was_lost(changed));
    }

  private:
    [[nodiscard]] constexpr bool was_lost(Version version) const noexcept {
        return lost_parts.empty() ||
               std::any_of(lost_parts.begin(), lost_parts.end(), [&](const LostPart& part) {
                   return part.versions.contains(version) && part.range.contains(handle) &&
                          (place == any_place || part.range.contains_element(place));
               });
    }
};

/// See SendingRepState for the meaning of the two versions. A value, but for lost_parts, which is
/// lent; without them equal questions have equal answers, so an answer can be shared.
struct OwedVersions {
    Version sent_version = 0;
    VersionInterval lost;
    /// Where it was lost.
    RepRange lost_range;
    /// Where it was lost in several places: these, all within `lost` and `lost_range`. A loan, to
    /// outlive its use (LostParts). Empty: all of `lost_range`.
    std::span<const LostPart> lost_parts;
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
    /// Keyed arrays began anew at this version: with the first block of one that is written while
    /// this is set goes all that the receiver had of it before, so all of it counts as changed
    /// then. To be left at 0 where held_version is not less. 0: they did not, or all is there.
    Version restart_version = 0;

    constexpr OwedVersions() noexcept = default;
    constexpr explicit OwedVersions(const SendingRepState& state,
                                    const RepRange& range = RepRange()) noexcept
        : sent_version(state.sent_version), lost(state.lost()), lost_range(range) {}

    /// Whether a value is owed, if it lies where everything was lost.
    [[nodiscard]] constexpr bool owes(Version last_changed) const noexcept {
        return last_changed > sent_version || lost.contains(last_changed);
    }

    /// Calls `visit` with a LostPart for each that was lost of the value at `handle`.
    template <typename Visitor>
    constexpr void for_each_lost(RepHandle handle, Visitor visit) const {
        if (lost.is_empty()) {
            return;
        }
        const LostPart single{lost, lost_range};
        for (const LostPart& part : lost_parts.empty() ? std::span(&single, 1) : lost_parts) {
            if (part.range.contains(handle)) {
                visit(part);
            }
        }
    }
    /// Of the value at `handle`, of an array wherever in it.
    [[nodiscard]] constexpr OwedAt at(RepHandle handle) const noexcept {
        OwedAt owed{sent_version, {}, 0, lost_parts, handle};
        for_each_lost(handle,
                      [&](const LostPart& part) { owed.lost = hull(owed.lost, part.versions); });
        return owed;
    }
    /// Of the element of an array at that place.
    [[nodiscard]] constexpr OwedAt at(RepHandle handle, std::uint64_t place) const noexcept {
        OwedAt owed{sent_version, {}, 0, lost_parts, handle, place};
        for_each_lost(handle, [&](const LostPart& part) {
            if (part.range.contains_element(place)) {
                owed.lost = hull(owed.lost, part.versions);
            }
        });
        return owed;
    }

    /// The same question about something of which these versions were lost.
    [[nodiscard]] constexpr OwedVersions with_lost(VersionInterval versions) const noexcept {
        OwedVersions question = *this;
        question.lost = versions;
        question.lost_range = RepRange();
        question.lost_parts = {};
        return question;
    }

    /// The question of a receiver of whom only is known what it holds.
    [[nodiscard]] constexpr OwedVersions since_held() const noexcept {
        OwedVersions question;
        question.sent_version = held_version;
        question.held_version = held_version;
        question.joined_version = joined_version;
        question.restart_version = restart_version;
        return question;
    }

    friend constexpr bool operator==(const OwedVersions& left, const OwedVersions& right) noexcept {
        return left.sent_version == right.sent_version && left.lost == right.lost &&
               left.lost_range == right.lost_range && left.is_exact == right.is_exact &&
               left.held_version == right.held_version &&
               left.joined_version == right.joined_version &&
               left.restart_version == right.restart_version &&
               std::equal(left.lost_parts.begin(), left.lost_parts.end(), right.lost_parts.begin(),
                          right.lost_parts.end());
    }
};

}  // namespace replayout
