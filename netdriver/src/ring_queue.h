// SPDX-License-Identifier: MIT
//
// A queue in a ring that grows to what it needs and stays there: packets are resolved in the order
// in which they were sent, and so is what they carried.
#pragma once

#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/memory.h>

#include <cstddef>
#include <utility>

namespace replayout {

template <typename T>
class RingQueue {
  public:
    explicit RingQueue(MemoryResource* resource) : slots_(Allocator<T>(resource)) {}

    [[nodiscard]] std::size_t count() const noexcept { return count_; }

    void push_back(const T& value) {
        if (count_ == slots_.size()) {
            grow();
        }
        slots_[(first_ + count_) & (slots_.size() - 1)] = value;
        ++count_;
    }

    [[nodiscard]] T pop_front() noexcept {
        REPLAYOUT_ASSERT(count_ > 0);
        T value = slots_[first_];
        first_ = (first_ + 1) & (slots_.size() - 1);
        --count_;
        return value;
    }

  private:
    static constexpr std::size_t initial_slots = 16;  // a power of two, as every size after it

    void grow() {
        Vector<T> larger(slots_.empty() ? initial_slots : slots_.size() * 2,
                         slots_.get_stored_allocator());
        for (std::size_t i = 0; i < count_; ++i) {
            larger[i] = slots_[(first_ + i) & (slots_.size() - 1)];
        }
        slots_ = std::move(larger);
        first_ = 0;
    }

    Vector<T> slots_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
};

}  // namespace replayout
