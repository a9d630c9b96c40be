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
            std::uint32_t before = none;     ///< the step before it in the longest ascending row
            bool keeps_rank = false;
        };

        explicit Scratch(MemoryResource* resource)
            : steps(Allocator<Step>(resource)),
              items(Allocator<Item>(resource)),
              by_key(Allocator<std::uint32_t>(resource)),
              row_ends(Allocator<std::uint32_t>(resource)) {}

        Vector<Step> steps;
        Vector<Item> items;
        Vector<std::uint32_t> by_key;
        Vector<std::uint32_t> row_ends;
        ShadowArray elements;
    };

    explicit ShadowKeyedArray(MemoryResource* resource)
        : items(Allocator<Item>(resource)),
          by_key(Allocator<std::uint32_t>(resource)),
          deletions(Allocator<Deletion>(resource)),
          scratch(resource) {}

    [[nodiscard]] std::uint32_t count() const noexcept { return elements.count; }
    /// The element with that key, or count().
    [[nodiscard]] std::uint32_t find(std::uint64_t key) const noexcept;
    /// What was removed up to this version is nothing to a receiver at `position`: it was sent
    /// nothing before.
    [[nodiscard]] Version joined_version(const OwedVersions& position) const noexcept {
        return begins_empty ? position.joined_version : 0;
    }
    /// The index in by_key of the first element from that place on.
    [[nodiscard]] std::uint32_t first_from(std::uint64_t place) const noexcept;
    /// The log does not reach back to everything that was removed after `version`, and that a
    /// receiver at `position` may have.
    [[nodiscard]] bool is_forgotten(const OwedVersions& position, Version version) const noexcept {
        return version < forgotten_through && joined_version(position) < forgotten_through;
    }
    /// `handle` is that of the array.
    [[nodiscard]] bool owes_deletion(const OwedVersions& position, RepHandle handle,
                                     const Deletion& deletion) const noexcept;
    /// A receiver at `position` may have so much that is gone here that it would end with more than
    /// `count_max` elements, if it did not hear of deletions that are under way. Nothing is
    /// forgotten of these, or the full set is needed.
    [[nodiscard]] bool may_overflow(const OwedVersions& position,
                                    std::uint32_t count_max) const noexcept;

    ShadowArray elements;          ///< in the order of the object
    Vector<Item> items;            ///< likewise
    Vector<std::uint32_t> by_key;  ///< indices of elements, by ascending key
    Vector<Deletion> deletions;    ///< by ascending version; of keys that are not there now
    Scratch scratch;
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

/// Whether any of what `position` asks for is in the array, which is one of the object's own.
[[nodiscard]] bool owes_keyed_array(const RepLayout& layout, CmdIndex array_cmd,
                                    const ShadowKeyedArray& array,
                                    const OwedVersions& position) noexcept;

}  // namespace replayout
