// SPDX-License-Identifier: MIT
//
// What a ReplicationSender has at hand while it writes blocks.
#pragma once

#include <replayout/bit_writer.h>
#include <replayout/netdriver/bunch.h>
#include <replayout/taken_owed.h>

#include <cstddef>
#include <cstdint>

namespace replayout {

/// What was taken of a pair, to go out in one block or in parts.
struct TakenOfPair : TakenOwed {
    std::uint32_t index = 0;
};

/// A block that is to go with a call, in ReplicationSender::body_.
struct CallBlock {
    std::uint32_t index = 0;
    std::size_t offset = 0;
    std::size_t size = 0;
    std::size_t array_steps = 0;
};

/// A block between its header and its end.
struct BlockFrame {
    ChannelIndex channel;
    BitWriter packet;
    BitWriter body;                 ///< where the properties go
    std::size_t body_offset_bytes;  ///< in `body`, of the first of them
    bool has_length;
};

}  // namespace replayout
