// SPDX-License-Identifier: MIT
//
// Keyed arrays on the sending side: the shadow of a dynamic array whose elements have keys
// (ArrayKey), in the object's order.
//
//     elements      key 7    key 3    key 9          in shadow form, a version for each leaf
//     created at    version 1       4        6
//     rank          -512     0        512            order kept: receivers sort by it
//     removed       key 5 at version 2, key 8 at 6   the log of deletions
//
// What a receiver is owed of it follows from its position, like all else: the leaves and ranks that
// changed at owed versions, and the keys that were removed at owed versions. An element that a
// receiver may not have yet goes out whole. When the log of deletions no longer reaches back to
// what is owed, the full set of keys is sent, marked as complete. In parts each is the full set of
// a range of keys, so one that is lost is owed of that range. Who was sent nothing before has
// nothing of what was gone then, unless the archetype had it. Where a receiver that misses
// deletions under way would have more elements than an array may, these are named again.
//
// What is not in the log any more cannot be named. A receiver that misses parts of full sets has
// what these would have taken away: at most what was removed since the version that it holds for
// certain, which is counted (removed_since). Where that could be more than it takes, the array
// begins anew for that receiver (OwedVersions::restart_version): full sets say so until all has
// arrived, and the first of them to arrive takes away all that came before. So whatever is lost,
// no receiver has more than full_set_parts_factor arrays may. (Rejected: to hold back what is new
// until acknowledgements come. With a round trip of many ticks nothing would be sent in most of
// them, though nothing was lost.)
//
// What a lost part owes is a range of places (RepRange): those of the keys that it spoke of, and
// where it named deletions place 0, which stands for all that were removed in these versions.
// A deletion that a full set went without is owed by the place of its key, and so is one that a
// part named for a loss elsewhere. (Rejected: place 0 for these. A few deletions that are lost
// would make all of these versions owed, which may take a full set of the whole array, and so
// without end.)
//
// Ranks are numbers with room between them, so that an element that is moved or inserted takes a
// new one and its neighbours keep theirs; and an element with its rank means the same whatever else
// arrives or is lost. (Rejected: positions, which are right only where everything before arrived.)
// Where there is no room left all ranks are given anew.
#pragma once

#include <replayout/owed_versions.h>
#include <replayout/reflection/memory.h>
#include <replayout/rep_layout.h>
#include <replayout/shadow_state.h>

#include <algorithm>
#include <cstdint>

namespace replayout {

/// Owned by the ShadowState that holds it.
struct ShadowKeyedArray {
    struct Item {
        std::uint64_t key = 0;
        std::int32_t rank = 0;     ///< order kept: grows from element to element
        Version created = 0;       ///< since when there is one of that key
        Version rank_version = 0;  ///< last change of the rank
        std::uint32_t mark = 0;    ///< of a fast array: what the element's own key was
    };
    struct Deletion {
        std::uint64_t key = 0;
        Version version = 0;
    };
    /// How many elements were removed up to a version, of all that ever were.
    struct RemovalCount {
        Version version = 0;
        std::uint64_t count = 0;
    };
    /// Deletions that are remembered. Beyond it the oldest are forgotten, and who is owed one of
    /// those is sent the full set.
    static constexpr std::uint32_t deletion_count_max = 256;

    /// What a change of keys or order takes while it is found out; kept, so that the next one
    /// takes no memory.
    struct Scratch {
        static constexpr std::uint32_t none = 0xFFFF'FFFFu;
        struct Step {
            std::uint32_t object_index = 0;
            std::uint32_t old_index = none;  ///< of the element in the shadow; none: it is new
            std::uint32_t before = none;     ///< the step before it in the longest ascent
            bool keeps_rank = false;
        };

        explicit Scratch(MemoryResource* resource)
            : steps(Allocator<Step>(resource)),
              items(Allocator<Item>(resource)),
              by_key(Allocator<std::uint32_t>(resource)),
              ascent_ends(Allocator<std::uint32_t>(resource)) {}

        Vector<Step> steps;
        Vector<Item> items;
        Vector<std::uint32_t> by_key;
        Vector<std::uint32_t> ascent_ends;
        ShadowArray elements;
    };

    explicit ShadowKeyedArray(MemoryResource* resource)
        : items(Allocator<Item>(resource)),
          by_key(Allocator<std::uint32_t>(resource)),
          deletions(Allocator<Deletion>(resource)),
          removal_counts(Allocator<RemovalCount>(resource)),
          scratch(resource) {}

    [[nodiscard]] std::uint32_t count() const noexcept { return elements.count; }
    /// The element with that key, or count().
    [[nodiscard]] std::uint32_t find(std::uint64_t key) const noexcept;
    /// What was removed up to this version is nothing to a receiver at `position`: it was sent
    /// nothing before.
    [[nodiscard]] Version joined_version(const OwedVersions& position) const noexcept {
        return begins_empty ? position.joined_version : 0;
    }
    /// OwedVersions::restart_version, of this array. What never changed has no part in it: nothing
    /// of it was ever sent.
    [[nodiscard]] Version restart_version(const OwedVersions& position) const noexcept {
        return first_changed != 0 && first_changed <= position.restart_version
                   ? position.restart_version
                   : 0;
    }
    /// A receiver at `position` has nothing that was removed up to this version.
    [[nodiscard]] Version known_version(const OwedVersions& position) const noexcept {
        return std::max(
            {position.held_version, joined_version(position), restart_version(position)});
    }
    /// At most so many elements were removed since: exact as far as the log reaches back.
    [[nodiscard]] std::uint64_t removed_since(Version version) const noexcept;
    /// `count` more elements were removed at that version, of an array of at most `count_max`.
    void count_removals(Version version, std::uint32_t count, std::uint32_t count_max);
    /// What a receiver at `position` was sent, and lost, of the element with that key.
    [[nodiscard]] OwedAt owed_at(const OwedVersions& position, RepHandle handle,
                                 std::uint64_t key) const noexcept {
        OwedAt owed = position.at(handle, place_of_key(key));
        owed.restart_version = restart_version(position);
        return owed;
    }
    /// The index in by_key of the first element from that place on.
    [[nodiscard]] std::uint32_t first_from(std::uint64_t place) const noexcept;
    /// The log does not reach back to everything that was removed after `version`, and that a
    /// receiver at `position` may have.
    [[nodiscard]] bool is_forgotten(const OwedVersions& position, Version version) const noexcept {
        const Version through = std::max(forgotten_through, restart_version(position));
        return version < through && joined_version(position) < through;
    }
    /// Of what was lost there only a full set will do.
    [[nodiscard]] bool is_forgotten(const OwedVersions& position,
                                    const LostPart& lost) const noexcept {
        return !is_void(position, lost) && is_forgotten(position, lost.versions.after);
    }
    /// It was lost before the array began anew.
    [[nodiscard]] bool is_void(const OwedVersions& position, const LostPart& lost) const noexcept {
        return lost.versions.through < restart_version(position);
    }
    /// `handle` is that of the array.
    [[nodiscard]] bool owes_deletion(const OwedVersions& position, RepHandle handle,
                                     const Deletion& deletion) const noexcept;
    /// Everything that a receiver at `position` may have is at most so much.
    [[nodiscard]] std::uint64_t receiver_count_max(const OwedVersions& position) const noexcept {
        return count() + removed_since(known_version(position));
    }

    ShadowArray elements;                 ///< in the order of the object
    Vector<Item> items;                   ///< likewise
    Vector<std::uint32_t> by_key;         ///< indices of elements, by ascending key
    Vector<Deletion> deletions;           ///< by ascending version; of keys that are not there now
    Vector<RemovalCount> removal_counts;  ///< by ascending version, with gaps; beyond the log
    Scratch scratch;
    std::uint64_t removed_count = 0;  ///< of all that ever were
    Version first_changed = 0;        ///< 0: it never did
    // The last version at which elements came or went, and the one before that; 0: there is none.
    Version membership_version = 0;
    Version membership_version_before = 0;
    Version forgotten_through = 0;  ///< deletions up to this version may be missing
    std::uint32_t mark = 0;         ///< of a fast array: what its key was
    /// Of a fast array: nobody has looked at it, so that its marks say nothing yet. Those of the
    /// archetype are no other object's.
    bool is_unseen = true;
    bool is_doubled = false;   ///< two elements have one key; that was logged
    bool begins_empty = true;  ///< there are no elements in the archetype
};

/// The key of an element, zero-extended.
[[nodiscard]] std::uint64_t key_of_element(const ArrayKey& key, const std::byte* element) noexcept;
void set_key_of_element(const ArrayKey& key, std::byte* element, std::uint64_t value) noexcept;

/// A receiver of a full set in parts may have so many times what an array may: of parts any may
/// have been lost, and what these would have taken away is still there.
inline constexpr std::uint32_t full_set_parts_factor = 4;

/// In parts the array might become more than a receiver at `position` takes, so it has to begin
/// anew.
[[nodiscard]] bool must_restart(const ShadowKeyedArray& array, const OwedVersions& position,
                                std::uint32_t count_max) noexcept;

/// Whether any of what `position` asks for is in the array, which is one of the object's own.
[[nodiscard]] bool owes_keyed_array(const RepLayout& layout, CmdIndex array_cmd,
                                    const ShadowKeyedArray& array,
                                    const OwedVersions& position) noexcept;

}  // namespace replayout
