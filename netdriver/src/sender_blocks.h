// SPDX-License-Identifier: MIT
//
// What a ReplicationSender is made with, answers, and has at hand while it writes blocks.
#pragma once

#include <replayout/change_mask.h>
#include <replayout/netdriver/bunch.h>
#include <replayout/netdriver/net_config.h>
#include <replayout/netdriver/transport.h>
#include <replayout/reflection/memory.h>
#include <replayout/type_counters.h>

#include "packet_builder.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

struct SenderSettings {
    const NetConfig& config;                ///< outlives the sender
    PeerId peer;                            ///< whom it sends to
    std::span<TypeCounters> type_counters;  ///< by layout number; empty: nobody counts
};

/// What became of the attempt to send something.
enum class SendOutcome : std::uint8_t {
    Done,
    WindowFull,  ///< of packets: nothing more can be sent
    HeldBack,    ///< by the window of bunches: this object must wait
};

/// A block that is to go with a call, in SenderScratch::body.
struct CallBlock {
    std::uint32_t index = 0;
    std::size_t offset = 0;
    std::size_t size = 0;
    std::size_t array_steps = 0;
};

/// Memory that is used again.
struct SenderScratch {
    SenderScratch(MemoryResource* resource, MemoryResource* validation_resource)
        : hidden(validation_resource),
          waiting_channels(Allocator<ChannelIndex>(resource)),
          call_blocks(Allocator<CallBlock>(resource)),
          carried(Allocator<std::uint32_t>(resource)) {}

    ChangeMask hidden;  ///< of the validation
    std::array<std::byte, PacketBuilder::packet_bytes_limit> body;
    Vector<ChannelIndex> waiting_channels;  ///< with a call that waits
    Vector<CallBlock> call_blocks;
    /// Objects of which the open packet, of that number, carries all that changed since what was
    /// delivered.
    Vector<std::uint32_t> carried;
    std::uint64_t carried_packet = 0;
};

}  // namespace replayout
