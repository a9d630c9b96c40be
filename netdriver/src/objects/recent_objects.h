// SPDX-License-Identifier: MIT
//
// Objects that a game added a short while ago. Most clients have not acknowledged the open of such
// an object yet, so its blocks may be laid down for these clients too (FlushChanges::young).
//
// Two rows take turns, so that no object has a time of its own:
//
//     flush      0 ....... 32 ....... 64 ....... 96
//     added         a    b    c    d       e
//     current    [ a b ]   [ c d ]    [ e ]
//     previous   [     ]   [ a b ]    [ c d ]
#pragma once

#include <replayout/reflection/memory.h>

#include "bit_row.h"

#include <cstdint>
#include <utility>

namespace replayout {

class RecentObjects {
  public:
    explicit RecentObjects(MemoryResource* resource) : current_(resource), previous_(resource) {}

    void add(ObjectIndex index) {
        current_.insert(index);
        is_any_current_ = true;
    }
    /// Does nothing if the object is not recent.
    void erase(ObjectIndex index) noexcept {
        current_.erase(index);
        previous_.erase(index);
    }
    /// Call it at the end of each flush. `flush` is its number.
    void end_flush(std::uint64_t flush) noexcept {
        if (flush % period != 0 || !is_any()) {
            return;
        }
        std::swap(current_, previous_);
        is_any_previous_ = std::exchange(is_any_current_, false);
        current_.clear_all();
    }

    [[nodiscard]] bool is_any() const noexcept { return is_any_current_ || is_any_previous_; }
    [[nodiscard]] bool contains(ObjectIndex index) const noexcept {
        return current_.test(index) || previous_.test(index);
    }
    [[nodiscard]] std::uint64_t word(std::size_t index) const noexcept {
        return current_.word(index) | previous_.word(index);
    }

    /// An object is recent for as many flushes, and for twice as many at most.
    static constexpr std::uint64_t period = 32;

  private:
    BitRow current_;
    BitRow previous_;
    bool is_any_current_ = false;
    bool is_any_previous_ = false;
};

}  // namespace replayout
