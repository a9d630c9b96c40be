// SPDX-License-Identifier: MIT
//
// Datagrams of one connection that overtook others, held back until the end of a dispatch. A packet
// that comes behind a later one is never processed, so without this a network that swaps two
// packets loses one.
//
//     arrived      1   4   3   6   2       end of the dispatch
//     processed    1               2 3 4   6: 5 is lost
#pragma once

#include <replayout/reflection/memory.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

/// Holds up to a fixed count of them, in memory that is used again.
class ReorderBuffer {
  public:
    ReorderBuffer(std::uint32_t datagrams_max, MemoryResource* resource)
        : datagrams_max_(datagrams_max), held_(Allocator<Held>(resource)) {}

    /// A copy of the datagram, if there is none of that sequence. It must not be full.
    void hold(std::uint64_t sequence, std::span<const std::byte> datagram);
    [[nodiscard]] bool is_empty() const noexcept { return count_ == 0; }
    [[nodiscard]] bool is_full() const noexcept { return count_ == datagrams_max_; }
    /// The lowest; there is one.
    [[nodiscard]] std::uint64_t first_sequence() const noexcept { return held_[0].sequence; }
    /// Takes out the one with the lowest sequence. The bytes are valid until the next hold().
    [[nodiscard]] std::span<const std::byte> take_first() noexcept;

  private:
    struct Held {
        std::uint64_t sequence = 0;
        Vector<std::byte> bytes;
    };

    std::uint32_t datagrams_max_;
    std::uint32_t count_ = 0;
    Vector<Held> held_;  // the first count_, ascending; behind them memory for others
};

}  // namespace replayout
