// SPDX-License-Identifier: MIT
//
// How far the last flush of a connection came with what it had to send, and what stopped it:
//
//     BeforeObjects    opens, bunches or the initial batch took all the room
//     AmongObjects     some objects found no room
//     Complete         all of them found room
#pragma once

#include <cstdint>

namespace replayout {

class FlushProgress {
  public:
    enum class End : std::uint8_t { Complete, AmongObjects, BeforeObjects };

    [[nodiscard]] End end() const noexcept { return end_; }
    [[nodiscard]] bool is_complete() const noexcept { return end_ == End::Complete; }
    /// Whether the window of packets stopped the flush, and not the cap. Requires a flush that is
    /// not complete.
    [[nodiscard]] bool was_stopped_by_window() const noexcept { return was_stopped_by_window_; }

    /// Objects have their turn. The flush is complete unless stop() is called.
    void begin_objects() noexcept { end_ = End::Complete; }
    void stop(End end, bool is_by_window) noexcept {
        end_ = end;
        was_stopped_by_window_ = is_by_window;
    }

  private:
    End end_ = End::Complete;
    bool was_stopped_by_window_ = false;
};

}  // namespace replayout
