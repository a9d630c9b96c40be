// SPDX-License-Identifier: MIT
//
// While lanes send, an object's shared pieces and payloads are built by the first connection that
// needs them, and copied by the others: one at a time, of each object. Who holds the lock of one
// object asks for no other.
//
// Many objects share a lock, neighbours do not: connections go through the objects in the same
// order, and come to neighbours at about the same time.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>

#include "object_index.h"

namespace replayout {

using ObjectLock = std::unique_lock<std::mutex>;

class ObjectLocks {
  public:
    /// Whether there is anybody to lock out. By one thread, while no other is about.
    void set_shared(bool is_shared) noexcept { is_shared_ = is_shared; }

    [[nodiscard]] bool is_shared() const noexcept { return is_shared_; }

    [[nodiscard]] ObjectLock lock(ObjectIndex index) {
        return is_shared_ ? ObjectLock(locks_[value_of(index) % lock_count].mutex) : ObjectLock();
    }

  private:
    static constexpr std::size_t lock_count = 64;

    struct alignas(64) Lock {  // a cache line each
        std::mutex mutex;
    };

    bool is_shared_ = false;
    std::array<Lock, lock_count> locks_;
};

}  // namespace replayout
