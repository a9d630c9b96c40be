// SPDX-License-Identifier: MIT
//
// A row of bits that knows at once that nothing is set, so that one which is empty most of the time
// costs a look and not a walk.
#pragma once

#include "bit_row.h"

namespace replayout {

class MarkedRow {
  public:
    explicit MarkedRow(MemoryResource* resource) : row_(resource) {}

    /// Before marks of a tick that is to take no memory.
    void grow(std::uint32_t bit_count) { row_.grow(bit_count); }
    void mark(ObjectIndex bit) {
        row_.insert(bit);
        is_any_ = true;
    }
    void mark_all(const BitRow& bits) {
        row_.merge(bits);
        is_any_ = true;
    }
    void forget(ObjectIndex bit) noexcept { row_.erase(bit); }
    [[nodiscard]] bool is_any() const noexcept { return is_any_; }
    [[nodiscard]] bool test(ObjectIndex bit) const noexcept { return row_.test(bit); }

    /// Calls `visit(bit)` for all that are marked, in order, each no longer marked by then; and
    /// again for what is marked meanwhile.
    template <typename Visitor>
    void take_all(Visitor&& visit) {
        while (is_any_) {
            is_any_ = false;
            for (ObjectIndex bit = row_.first(); bit != BitRow::no_bit; bit = row_.after(bit)) {
                row_.clear(bit);
                visit(bit);
            }
        }
    }

  private:
    bool is_any_ = false;
    BitRow row_;
};

}  // namespace replayout
