// SPDX-License-Identifier: MIT
//
// Reliable calls whose channel closed while they were under way: nobody sends them again, so
// whether they run is up to the packets that have them.
//
//     channel's calls     1 delivered    2 in flight    3 in flight
//     2 is lost                          never runs     never runs: it comes after 2
//     2 is delivered                     ran            up to its own packet
#pragma once

#include <replayout/reflection/memory.h>

#include <compare>
#include <cstdint>

namespace replayout {

/// Names a call within its connection; later ones are greater.
struct CallOrder {
    std::uint64_t value = 0;

    friend constexpr auto operator<=>(CallOrder, CallOrder) noexcept = default;
};

class UndecidedCalls {
  public:
    explicit UndecidedCalls(MemoryResource* resource) : calls_(Allocator<Call>(resource)) {}

    /// A channel closes; its calls follow, in order.
    void begin_channel() noexcept { ++channel_; }
    /// `parts_under_way` packets carry parts of the call. If one of them is lost, it never runs.
    void add(CallOrder order, std::uint32_t parts_under_way);
    void delivered(CallOrder order) noexcept;
    /// A packet with the call was lost. Returns how many calls never run because of that.
    [[nodiscard]] std::uint32_t lost(CallOrder order) noexcept;

  private:
    struct Call {
        CallOrder order;
        std::uint64_t channel = 0;
        std::uint32_t parts_under_way = 0;
    };

    [[nodiscard]] Vector<Call>::iterator find(CallOrder order) noexcept;
    /// Where nothing of it is under way any more.
    void forget_decided(std::uint64_t channel) noexcept;

    Vector<Call> calls_;
    std::uint64_t channel_ = 0;
};

}  // namespace replayout
