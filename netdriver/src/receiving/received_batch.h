// SPDX-License-Identifier: MIT
//
// What the server says of the initial batch: the objects that were there when this client joined.
#pragma once

#include <replayout/netdriver/initial_batch_progress.h>
#include <replayout/netdriver/net_world.h>

#include "received_objects.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace replayout {

class ReceivedBatch {
  public:
    explicit ReceivedBatch(ReceivedObjects& objects) noexcept : objects_(objects) {}

    /// False: it is no message of the initial batch, or none that may come now.
    [[nodiscard]] bool receive(std::span<const std::byte> message);
    [[nodiscard]] bool has_begun() const noexcept { return count_.has_value(); }
    /// Tells the world, once, that all of it is there.
    void tell_end(NetWorld& world);
    [[nodiscard]] InitialBatchProgress progress() const noexcept;
    /// The messages come once more, of another connection that is played. The world is not told
    /// again.
    void begin_anew() noexcept;

  private:
    ReceivedObjects& objects_;
    std::optional<std::uint32_t> count_;  // what the server said
    bool is_finished_ = false;
    bool is_end_told_ = false;
};

}  // namespace replayout
