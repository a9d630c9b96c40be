// SPDX-License-Identifier: MIT
//
// What an update did to the elements of the keyed arrays of an object: fast arrays hear of it, and
// what was removed goes, when the update ends. Part of ReceiveScratch.
#pragma once

#include <replayout/handle.h>
#include <replayout/reflection/memory.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout::detail {

/// What became of an element. Moved: its rank changed, and maybe its leaves.
enum class ElementChange : std::uint8_t { Removed, Added, Moved, Changed };

struct KeyedChange {
    CmdIndex array;
    ElementChange change;
    std::uint64_t key;
};

class KeyedChanges {
  public:
    explicit KeyedChanges(MemoryResource* resource) : changes_(Allocator<KeyedChange>(resource)) {}

    void add(CmdIndex array, ElementChange change, std::uint64_t key) {
        changes_.push_back({array, change, key});
    }

    // What earlier parts of the update did.

    /// To an element; null: nothing.
    [[nodiscard]] const KeyedChange* find_earlier(CmdIndex array, std::uint64_t key) const noexcept;
    [[nodiscard]] bool has_earlier(CmdIndex array) const noexcept;
    /// How many elements of the array they removed.
    [[nodiscard]] std::size_t count_earlier_removed(CmdIndex array) const noexcept;

    /// Leaves one change of each element: that it is gone, or else new, or else moved, or else
    /// changed. By array and key. Returns the index from which on they were sorted again, at most
    /// that of the first that this part brought.
    std::size_t sort();
    /// More parts follow: what there is belongs to earlier parts from now on.
    void end_part();

    /// By array and key after sort().
    [[nodiscard]] std::span<const KeyedChange> changes() const noexcept {
        return {changes_.data(), changes_.size()};
    }
    /// Moves changes `begin` to `end` down to index `to`.
    void move_down(std::size_t begin, std::size_t end, std::size_t to) noexcept;
    /// Forgets all but the first `count`, which belong to earlier parts from now on.
    void keep_first(std::size_t count) {
        changes_.resize(count);
        earlier_count_ = count;
    }
    void clear() noexcept {
        changes_.clear();
        earlier_count_ = 0;
    }

  private:
    Vector<KeyedChange> changes_;    // what earlier parts brought comes first
    std::size_t earlier_count_ = 0;  // these are sorted
};

}  // namespace replayout::detail
