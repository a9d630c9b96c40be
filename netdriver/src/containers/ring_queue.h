// SPDX-License-Identifier: MIT
//
// A queue in a ring that grows to what it needs: packets are resolved in the order in which they
// were sent, and so is what they carried. It keeps its size until trim().
#pragma once

#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/memory.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "kept_room.h"

namespace replayout {

template <typename T>
class RingQueue {
  public:
    explicit RingQueue(MemoryResource* resource) : slots_(Allocator<T>(resource)) {}
    // A copy would take its memory from another resource.
    RingQueue(const RingQueue&) = delete;
    RingQueue& operator=(const RingQueue&) = delete;
    RingQueue(RingQueue&&) = default;
    RingQueue& operator=(RingQueue&&) = default;
    ~RingQueue() = default;

    [[nodiscard]] std::size_t count() const noexcept { return count_; }

    /// A slot at the end, to be filled: it holds an old value.
    [[nodiscard]] T& push_back() {
        if (count_ == slots_.size()) {
            grow();
        }
        T& slot = slots_[(first_ + count_) & (slots_.size() - 1)];
        note_count(count_ + 1);
        return slot;
    }

    /// Likewise in front of all others.
    [[nodiscard]] T& push_front() {
        if (count_ == slots_.size()) {
            grow();
        }
        first_ = (first_ + slots_.size() - 1) & (slots_.size() - 1);
        note_count(count_ + 1);
        return slots_[first_];
    }

    [[nodiscard]] const T& front() const noexcept {
        REPLAYOUT_ASSERT(count_ > 0);
        return slots_[first_];
    }

    [[nodiscard]] T& front() noexcept {
        REPLAYOUT_ASSERT(count_ > 0);
        return slots_[first_];
    }

    /// The `index`-th from the front.
    [[nodiscard]] const T& at(std::size_t index) const noexcept {
        REPLAYOUT_ASSERT(index < count_);
        return slots_[(first_ + index) & (slots_.size() - 1)];
    }

    [[nodiscard]] T& at(std::size_t index) noexcept {
        REPLAYOUT_ASSERT(index < count_);
        return slots_[(first_ + index) & (slots_.size() - 1)];
    }

    void pop_back() noexcept {
        REPLAYOUT_ASSERT(count_ > 0);
        first_ = --count_ == 0 ? 0 : first_;
    }

    void pop_front() noexcept {
        REPLAYOUT_ASSERT(count_ > 0);
        // Who is empty again and again stays in the same lines of memory.
        first_ = --count_ == 0 ? 0 : (first_ + 1) & (slots_.size() - 1);
    }

    void clear() noexcept {
        first_ = 0;
        count_ = 0;
    }

    /// Once in KeptRoom::period: gives back what was not needed since.
    void trim() {
        const std::size_t most = std::exchange(most_, count_);
        if (slots_.size() > initial_slots &&
            KeptRoom::is_too_large(most, slots_.size(), sizeof(T))) {
            move_to(std::max(initial_slots, std::bit_ceil(2 * most)));
        }
    }

  private:
    static constexpr std::size_t initial_slots = 16;  // a power of two, as every size after it

    void note_count(std::size_t count) noexcept {
        count_ = count;
        most_ = std::max(most_, count);
    }

    void grow() { move_to(slots_.empty() ? initial_slots : slots_.size() * 2); }

    void move_to(std::size_t slot_count) {
        Vector<T> other(slot_count, slots_.get_stored_allocator());
        for (std::size_t i = 0; i < count_; ++i) {
            other[i] = slots_[(first_ + i) & (slots_.size() - 1)];
        }
        slots_ = std::move(other);
        first_ = 0;
    }

    Vector<T> slots_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
    std::size_t most_ = 0;  // since trim()
};

}  // namespace replayout
