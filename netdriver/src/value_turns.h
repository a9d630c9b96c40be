// SPDX-License-Identifier: MIT
//
// Objects of one connection with a value too large for a packet, for which there was no room: they
// wait in a row, and the value is encoded when it is its turn, as it is then. So nothing of it is
// held, and what becomes of the object meanwhile, or of who may see it, is told by what is sent.
#pragma once

#include <replayout/reflection/memory.h>

#include "bit_row.h"
#include "ring_queue.h"

#include <algorithm>
#include <cstdint>

namespace replayout {

class ValueTurns {
  public:
    explicit ValueTurns(MemoryResource* resource)
        : row_(resource), waiting_(resource), has_turn_(resource) {}

    /// Nobody waits who would have to go first.
    [[nodiscard]] bool may_go(std::uint32_t index) const noexcept {
        return row_.count() == 0 || has_turn_.test(index);
    }
    /// It waits, if it does not already, for room for so many fragments.
    void wait(std::uint32_t index, std::uint32_t fragments) {
        has_turn_.erase(index);
        if (!waiting_.test(index)) {
            waiting_.insert(index);
            row_.push_back() = {index, fragments};
        }
    }
    /// It does not wait any more.
    void leave(std::uint32_t index) noexcept {
        waiting_.erase(index);
        has_turn_.erase(index);
        while (row_.count() > 0 && !waiting_.test(row_.front().index)) {
            row_.pop_front();
        }
    }
    [[nodiscard]] bool is_waiting(std::uint32_t index) const noexcept {
        return waiting_.test(index);
    }
    [[nodiscard]] bool is_empty() const noexcept { return row_.count() == 0; }

    /// Those who came first have their turn, as many as there is room for, so many fragments, and
    /// one at least where there is any. Calls `visit(index)` for each.
    template <typename Visitor>
    void begin(std::uint32_t room, Visitor visit) {
        while (row_.count() > 0 && room > 0) {
            const Place first = row_.front();
            room -= std::min(room, first.fragments);
            leave(first.index);
            has_turn_.insert(first.index);
            visit(first.index);
        }
    }

  private:
    struct Place {
        std::uint32_t index = 0;
        std::uint32_t fragments = 0;
    };

    // Who left stands in the row until it is at the front.
    RingQueue<Place> row_;
    BitRow waiting_;
    BitRow has_turn_;  // and has not used it
};

}  // namespace replayout
