// SPDX-License-Identifier: MIT
//
// Bunches by their order. They come at the end and mostly leave at the front, so they stand in a
// ring. One that leaves from between others leaves a gap:
//
//     7   8   .   10
//
// A gap at an end is removed at once. All gaps are removed when there are 16 more of them than
// bunches.
#pragma once

#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/memory.h>

#include "bunch_pool.h"
#include "out_bunch.h"
#include "ring_queue.h"

#include <cstddef>
#include <utility>

namespace replayout {

class BunchQueue {
  public:
    using BunchPtr = BunchPool::BunchPtr;

    /// `pool` outlives this.
    BunchQueue(BunchPool& pool, MemoryResource* resource) : pool_(pool), slots_(resource) {}
    BunchQueue(const BunchQueue&) = delete;
    BunchQueue& operator=(const BunchQueue&) = delete;
    BunchQueue(BunchQueue&&) = delete;
    BunchQueue& operator=(BunchQueue&&) = delete;
    ~BunchQueue() {
        (void)erase_if([](const OutBunch&) { return true; });
    }

    [[nodiscard]] bool is_empty() const noexcept { return count_ == 0; }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

    /// Requires an order greater than any that was here.
    void push_back(BunchOrder order, BunchPtr bunch) {
        REPLAYOUT_ASSERT(slots_.count() == 0 || slots_.at(slots_.count() - 1).order < order);
        slots_.push_back() = {order, bunch.get()};
        (void)bunch.release();
        ++count_;
    }
    /// Requires an order that is not here. O(count of those after it).
    void insert(BunchOrder order, BunchPtr bunch);
    /// The bunch of the least order. The queue must not be empty.
    [[nodiscard]] const OutBunch& first() const noexcept { return *slots_.front().bunch; }
    /// Takes that bunch out. The queue must not be empty.
    [[nodiscard]] BunchPtr take_first() noexcept {
        BunchPtr bunch = leave(0);
        close_gaps();
        return bunch;
    }

    /// Null: it is not here. O(log count), of the first O(1). Valid until the queue changes.
    [[nodiscard]] OutBunch* find(BunchOrder order) const noexcept;
    /// Takes the bunch out. Null: it is not here. O(log count), of the first O(1).
    [[nodiscard]] BunchPtr take(BunchOrder order) noexcept;
    /// The order of the first lost bunch from `order` on. There must be one.
    [[nodiscard]] BunchOrder first_lost_from(BunchOrder order) const noexcept;

    /// Calls `visit(bunch)` for each, in order.
    template <typename Visitor>
    void for_each(Visitor visit) {
        for (std::size_t i = 0; i < slots_.count(); ++i) {
            if (OutBunch* const bunch = slots_.at(i).bunch) {
                visit(*bunch);
            }
        }
    }
    /// Gives back each for which `bool is_dropped(bunch)`. Returns how many these are.
    template <typename Predicate>
    std::size_t erase_if(Predicate is_dropped) {
        const std::size_t before = count_;
        for (std::size_t i = 0; i < slots_.count(); ++i) {
            const OutBunch* const bunch = slots_.at(i).bunch;
            if (bunch != nullptr && is_dropped(*bunch)) {
                (void)leave(i);
            }
        }
        close_gaps();
        return before - count_;
    }
    /// See RingQueue.
    void trim() { slots_.trim(); }

  private:
    struct Slot {
        BunchOrder order;
        OutBunch* bunch = nullptr;  ///< null: a gap
    };

    /// Number of the first slot that is not before `order`.
    [[nodiscard]] std::size_t slot_of(BunchOrder order) const noexcept;
    /// The bunch there leaves, and a gap is left.
    BunchPtr leave(std::size_t slot) noexcept {
        --count_;
        return pool_.own(std::exchange(slots_.at(slot).bunch, nullptr));
    }
    /// Those at the ends, or all if they are many.
    void close_gaps() noexcept;

    BunchPool& pool_;
    RingQueue<Slot> slots_;  // in order; neither the first nor the last is a gap
    std::size_t count_ = 0;  // without gaps
};

}  // namespace replayout
