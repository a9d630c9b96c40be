// SPDX-License-Identifier: MIT
//
// Which pairs of one connection are regular, and how far they have come in this flush. Nothing but
// a bit is kept of a regular pair: it was sent its object's version as of the last flush, and has
// the one of this flush once all of them have caught up.
#pragma once

#include <replayout/reflection/memory.h>

#include "bit_row.h"

#include <cstdint>

namespace replayout {

class RegularPairs {
  public:
    explicit RegularPairs(MemoryResource* resource) : row_(resource) {}

    [[nodiscard]] const BitRow& row() const noexcept { return row_; }
    [[nodiscard]] bool contains(ObjectIndex index) const noexcept { return row_.test(index); }
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
    void grow(std::uint32_t pair_count) { row_.grow(pair_count); }
    /// Requires a pair that is not regular.
    void add(ObjectIndex index) noexcept {
        row_.set(index);
        ++count_;
    }
    /// Requires a pair that is.
    void remove(ObjectIndex index) noexcept {
        row_.clear(index);
        --count_;
        are_all_changed_ = false;
    }

    /// Notes that the layout of one of them needs the held version.
    void note_held() noexcept { has_held_ = true; }
    /// Whether the layout of one, now or before, needs it.
    [[nodiscard]] bool has_held() const noexcept { return has_held_; }

    // In a flush

    /// Notes whether any pairs of objects that changed are regular, and whether all of these are.
    void note_changed(bool has_changed, bool are_all_changed) noexcept {
        has_changed_ = has_changed;
        are_all_changed_ = are_all_changed;
    }
    /// Notes that a pair, which may be one of an object that changed, begins anew.
    void note_reset() noexcept { are_all_changed_ = false; }
    /// Whether any regular pair was one of an object that changed, when the flush began.
    [[nodiscard]] bool has_changed() const noexcept { return has_changed_; }
    /// Whether all pairs of objects that changed were regular then, and still are.
    [[nodiscard]] bool are_all_changed() const noexcept { return are_all_changed_; }
    /// Notes that they were sent what changed in that flush, or are no longer regular.
    void caught_up(std::uint64_t flush) noexcept { caught_up_flush_ = flush; }
    [[nodiscard]] bool have_caught_up(std::uint64_t flush) const noexcept {
        return caught_up_flush_ == flush;
    }

  private:
    std::uint64_t caught_up_flush_ = 0;
    std::uint32_t count_ = 0;  // of row_
    bool are_all_changed_ = false;
    bool has_changed_ = false;
    bool has_held_ = false;
    BitRow row_;  // by object index
};

}  // namespace replayout
