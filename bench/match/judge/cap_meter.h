// SPDX-License-Identifier: MIT
//
// How much each client is sent under a cap: in any second, and in all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace replayout::match {

class CapMeter {
  public:
    explicit CapMeter(std::size_t client_count)
        : tick_bytes_(client_count), seconds_(client_count) {}

    /// A client is sent a packet in this tick.
    void add(std::uint32_t client, std::size_t bytes) { tick_bytes_[client] += bytes; }
    [[nodiscard]] std::uint64_t bytes_of_tick(std::uint32_t client) const {
        return tick_bytes_[client];
    }
    /// Returns what was sent in it to all clients.
    std::uint64_t end_tick();

    [[nodiscard]] std::uint64_t most_bytes_in_second() const noexcept { return most_; }

  private:
    static constexpr std::size_t ticks_of_second = 31;  // both ends included

    std::vector<std::uint64_t> tick_bytes_;            // by client
    std::vector<std::vector<std::uint64_t>> seconds_;  // by client: of the last ticks
    std::uint64_t most_ = 0;
};

}  // namespace replayout::match
