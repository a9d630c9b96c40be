// SPDX-License-Identifier: MIT
//
// A call as it travels: the function's index, and the parameters. They are taken once, when the
// call is made, and encoded once for all receivers where they may be shared.
#pragma once

#include <replayout/call_parameters.h>
#include <replayout/netdriver/calls.h>
#include <replayout/rep_layout.h>

#include <array>
#include <cstddef>
#include <map>
#include <span>

#include "call_queue.h"
#include "packet_builder.h"

namespace replayout {

class CallEncoder {
  public:
    /// `limits` are those of the other end.
    CallEncoder(const ReceiveLimits& limits, MemoryResource* resource)
        : packet_call_bytes_(limits.part_bytes),
          call_bytes_max_(largest_call_bytes(limits)),
          resource_(resource),
          parameters_(resource),
          large_bytes_(Allocator<std::byte>(resource)) {}

    /// Takes the parameters of the next call; `params` as in NetDriver::call_function(). Sent, or a
    /// refusal.
    [[nodiscard]] CallResult set(const RepLayout& layout, FunctionIndex function,
                                 const void* params, PackageMap& package_map,
                                 ReplicationCounters& counters);
    /// Writes them for one receiver. Sent, or a refusal; bytes() is valid until the next call.
    [[nodiscard]] CallResult write(SendContext& context);
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return room().first(size_); }

  private:
    /// Where calls like the present one are written.
    [[nodiscard]] std::span<const std::byte> room() const noexcept {
        return is_large_ ? std::span<const std::byte>(large_bytes_.data(), large_bytes_.size())
                         : std::span<const std::byte>(bytes_);
    }
    [[nodiscard]] CallParametersStatus write_into(std::span<std::byte> room, SendContext& context);

    std::size_t packet_call_bytes_;  // of one that goes in one piece
    std::size_t call_bytes_max_;
    MemoryResource* resource_;
    // Looked up, never walked: the order of addresses reaches nobody.
    std::pmr::map<const RepLayout*, CallParameters> parameters_;  // by that of the parameters
    CallParameters* current_ = nullptr;                           // null: the function has none
    const Function* called_ = nullptr;
    FunctionIndex function_;
    std::array<std::byte, PacketBuilder::packet_bytes_limit> bytes_;
    Vector<std::byte> large_bytes_;  // from the first larger call on
    bool is_large_ = false;
    std::size_t size_ = 0;
};

}  // namespace replayout
