// SPDX-License-Identifier: MIT
//
// The end that is ours: a driver with its world, whose dispatches and memory are measured. A
// datagram that is handed over is dispatched alone, at a time at which there was nothing else to
// do; those that are held are dispatched together.
#pragma once

#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <span>
#include <vector>

#include "support/checks/counting_resource.h"
#include "worst/classes.h"
#include "worst/cost.h"
#include "worst/hostile/payload.h"

namespace replayout::worst {

inline constexpr PeerId server_peer{1};
inline constexpr PeerId client_peer{2};
inline constexpr std::uint32_t packet_bytes = 1'200;      // NetConfig::packet_bytes_max
inline constexpr std::size_t datagram_bytes_max = 2'048;  // the largest that an end reads
inline constexpr std::uint32_t no_place = ~std::uint32_t{0};

class MeasuredEnd {
  public:
    /// `marked`: the place of the dispatch that goes through a function of its own, by whose name
    /// Callgrind counts it alone: replayout_worst_marked_dispatch.
    MeasuredEnd(PeerId self, Costs& costs, std::uint32_t marked, const NetConfig& config = {});

    [[nodiscard]] NetDriver& driver() noexcept { return driver_; }
    [[nodiscard]] World& world() noexcept { return world_; }
    [[nodiscard]] NetTime now() const noexcept { return now_; }
    [[nodiscard]] std::int64_t bytes_in_use() const noexcept { return memory_.bytes_in_use(); }
    [[nodiscard]] std::uint32_t place() const noexcept { return place_; }
    [[nodiscard]] std::uint64_t bytes_taken() const noexcept { return bytes_taken_; }
    [[nodiscard]] std::uint64_t datagrams_taken() const noexcept { return datagrams_taken_; }

    /// Beyond `free_instructions`, which a hello may cost.
    void send(PeerId from, std::span<const std::byte> datagram, bool is_hello,
              std::uint64_t free_instructions);
    /// From now on until release() datagrams wait.
    void hold() noexcept { is_holding_ = true; }
    void release();
    void wait(std::uint32_t milliseconds);
    void flush() { driver_.tick_flush(now_); }
    [[nodiscard]] std::vector<Bytes> take_sent(PeerId to);

  private:
    void dispatch();

    Costs& costs_;
    std::uint32_t marked_;
    PeerId self_;
    CountingResource memory_;
    LoopbackNetwork network_;
    World world_;
    NetDriver driver_;
    NetTime now_ = NetTime::from_milliseconds(1'000);
    std::uint32_t place_ = 0;
    std::uint32_t waiting_ = 0;
    std::uint32_t hellos_waiting_ = 0;
    std::uint32_t others_waiting_ = 0;  ///< of neighbours of the hostile client
    std::uint64_t free_instructions_ = 0;
    std::uint64_t bytes_taken_ = 0;
    std::uint64_t datagrams_taken_ = 0;
    bool is_holding_ = false;
};

/// Settings without what looks for mistakes, whatever the build.
[[nodiscard]] NetDriverSettings plain_settings(MemoryResource* resource);

}  // namespace replayout::worst
