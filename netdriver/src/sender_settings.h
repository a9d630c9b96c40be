// SPDX-License-Identifier: MIT
//
// What a ReplicationSender is made with, and what its parts answer.
#pragma once

#include <replayout/netdriver/net_config.h>
#include <replayout/netdriver/transport.h>
#include <replayout/type_counters.h>

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

}  // namespace replayout
