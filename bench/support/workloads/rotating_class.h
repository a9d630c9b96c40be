// SPDX-License-Identifier: MIT
//
// A class, how an object of it changes, and how somebody would send that by hand: what benchmarks
// play (rotating_workload.h), and what makes a row of the table of ./run savings.
// docs/performance.md, "Measure a class of your own", shows one.
#pragma once

#include "support/workloads/class_layout.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

namespace replayout::bench {

/// Bytes that are written by hand.
class HandWriter {
  public:
    /// The bytes of a number as they lie in memory.
    template <typename T>
    requires std::is_trivially_copyable_v<T>
    void number(T value) { append(std::as_bytes(std::span(&value, 1))); }
    void append(std::span<const std::byte> bytes) {
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    void clear() noexcept { bytes_.clear(); }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

  private:
    std::vector<std::byte> bytes_;
};

/// For a row, `Object` can be copied and compared by ==.
template <typename Object>
struct RotatingClass {
    const char* name = "";
    const char* changes = "";  ///< what changes in a tick, for people
    /// Registers the class and what it needs.
    ClassLayout::Declare declare;
    /// Gives the object other values than it had. `turn` grows by one from change to change.
    std::function<void(Object& object, std::uint32_t index, std::uint64_t turn)> change;
    /// Writes the values of `now` that are not those of `before`, and which they are.
    void (*write)(const Object& now, const Object& before, HandWriter& out) = nullptr;
    std::uint32_t object_count = 200;
    /// Each object changes in one of so many ticks: a divisor of object_count.
    std::uint32_t period_ticks = 1;
    /// That change of an object.
    std::uint32_t values = 1;
};

}  // namespace replayout::bench
