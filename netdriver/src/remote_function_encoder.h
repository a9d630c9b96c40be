// SPDX-License-Identifier: MIT
//
// A call as it travels: the function's index, and the parameters. They are taken once, when the
// call is made, and encoded once for all receivers where they may be shared.
#pragma once

#include <replayout/netdriver/bunch.h>
#include <replayout/netdriver/remote_function.h>
#include <replayout/rep_layout.h>
#include <replayout/rpc_parameters.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "packet_builder.h"

namespace replayout {

class RemoteFunctionEncoder {
  public:
    RemoteFunctionEncoder(std::size_t packet_bytes_max, MemoryResource* resource)
        : call_bytes_max_(fragment_bytes(packet_bytes_max)),
          resource_(resource),
          parameters_(resource) {}

    /// Takes the parameters of the next call; `params` as in NetDriver::call_function(). Sent, or a
    /// refusal.
    [[nodiscard]] CallResult set(const RepLayout& layout, FunctionIndex function,
                                 const void* params, PackageMap& package_map,
                                 ReplicationCounters& counters);
    /// Writes them for one receiver. Sent, or a refusal; bytes() is valid until the next call.
    [[nodiscard]] CallResult write(SendContext& context);
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
        return std::span(bytes_).first(size_);
    }

  private:
    std::size_t call_bytes_max_;  // whatever else, a call fits into an empty packet
    MemoryResource* resource_;
    // Looked up, never walked: the order of addresses reaches nobody.
    std::pmr::map<const RepLayout*, RpcParameters> parameters_;  // by that of the parameters
    RpcParameters* current_ = nullptr;                           // null: the function has none
    const Function* called_ = nullptr;
    FunctionIndex function_;
    std::array<std::byte, PacketBuilder::packet_bytes_limit> bytes_;
    std::size_t size_ = 0;
};

}  // namespace replayout
