// SPDX-License-Identifier: MIT
//
// The clock of what is measured piece by piece, and beside it the count of allocations.
#pragma once

#include "support/allocation_counter.h"

#include <chrono>
#include <cstdint>

namespace replayout::bench {

/// Runs from its making on.
class StopWatch {
  public:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] double seconds() const noexcept { return seconds_to(Clock::now()); }
    [[nodiscard]] std::uint64_t nanoseconds() const noexcept {
        return static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count());
    }
    /// To a time that was noted meanwhile.
    [[nodiscard]] double seconds_to(Clock::time_point end) const noexcept {
        return std::chrono::duration<double>(end - start_).count();
    }

  private:
    Clock::time_point start_ = Clock::now();
};

/// Calls of operator new from its making on.
class AllocationWatch {
  public:
    [[nodiscard]] std::uint64_t count() const noexcept { return allocation_count() - start_; }

  private:
    std::uint64_t start_ = allocation_count();
};

}  // namespace replayout::bench
