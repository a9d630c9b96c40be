// SPDX-License-Identifier: MIT
//
// Whether pending objects or the initial batch go first in a flush, where there is no room for
// both. They take turns by bytes: whichever was sent less since objects began to wait goes first.
//
//     flush                      1          2          3            4
//     bytes, objects : batch     0 : 0      600 : 0    600 : 400    600 : 800
//     first                      objects    batch      batch        objects
//
// If each flush began with the same ones, the others would never be sent. Bytes are counted and not
// flushes, as one flush may have room for a packet and the next for a whole window.
#pragma once

#include <cstdint>

namespace replayout {

class BatchTurns {
  public:
    [[nodiscard]] bool is_batch_first() const noexcept {
        return do_objects_wait_ && batch_bytes_ <= object_bytes_;
    }
    /// The batch had its turn, and wrote so many bytes.
    void add_batch(std::uint64_t bytes) noexcept { batch_bytes_ += bytes; }
    /// Pending objects had their turn, wrote so many bytes, and some found no room.
    void add_objects(std::uint64_t bytes) noexcept {
        do_objects_wait_ = true;
        object_bytes_ += bytes;
    }
    /// All pending objects found room.
    void end_wait() noexcept {
        do_objects_wait_ = false;
        batch_bytes_ = 0;
        object_bytes_ = 0;
    }

  private:
    std::uint64_t object_bytes_ = 0;
    std::uint64_t batch_bytes_ = 0;
    bool do_objects_wait_ = false;
};

}  // namespace replayout
