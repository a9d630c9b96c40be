// SPDX-License-Identifier: MIT
//
// The changes of a component that wait to be sent, and the time when the component was last sent. A
// part of the library itself: a game sees it through NetworkBehaviour.
#pragma once

#include <replayout/netdriver/time.h>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace replayout::detail {

class PendingChanges {
  public:
    /// A bit for each SyncVar; of a behaviour that serializes itself its own bits.
    [[nodiscard]] std::uint64_t sync_vars() const noexcept { return sync_vars_; }
    /// A bit for each collection.
    [[nodiscard]] std::uint64_t collections() const noexcept { return collections_; }
    [[nodiscard]] bool is_any() const noexcept { return sync_vars_ != 0 || collections_ != 0; }

    void mark_sync_vars(std::uint64_t mask) noexcept { sync_vars_ |= mask; }
    void mark_collection(std::size_t index) noexcept { collections_ |= std::uint64_t{1} << index; }
    void clear_sync_vars(std::uint64_t mask = ~std::uint64_t{0}) noexcept { sync_vars_ &= ~mask; }
    void clear_collection(std::size_t index) noexcept {
        collections_ &= ~(std::uint64_t{1} << index);
    }
    void clear() noexcept {
        sync_vars_ = 0;
        collections_ = 0;
    }

    /// Whether the component was never sent, or `interval_us` ago.
    [[nodiscard]] bool is_interval_over(NetTime now, std::int64_t interval_us) const noexcept {
        return last_sync_us_ == never_us || now.microseconds - last_sync_us_ >= interval_us;
    }
    void sent(NetTime now) noexcept { last_sync_us_ = now.microseconds; }

    /// The offset of the bits of SyncVars, which travel as a part of a section (sync_section.h).
    [[nodiscard]] static constexpr std::size_t sync_vars_offset() noexcept {
        return offsetof(PendingChanges, sync_vars_);
    }

  private:
    /// A time at which nothing was ever sent. The game's clock has no such time.
    static constexpr std::int64_t never_us = std::numeric_limits<std::int64_t>::min();

    std::uint64_t sync_vars_ = 0;
    std::uint64_t collections_ = 0;
    std::int64_t last_sync_us_ = never_us;
};

}  // namespace replayout::detail
