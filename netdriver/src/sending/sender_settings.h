// SPDX-License-Identifier: MIT
//
// What a ReplicationSender is made with.
#pragma once

#include <replayout/netdriver/net_config.h>
#include <replayout/netdriver/transport.h>
#include <replayout/type_counters.h>

#include "bundle_choice.h"
#include "flush_changes.h"
#include "flush_copy.h"
#include "open_runs.h"
#include "reliable_account.h"
#include "send_order.h"

#include <cstdint>
#include <span>

namespace replayout {

class InterestManager;
struct ClientInterest;

struct SenderSettings {
    const NetConfig& config;                ///< outlives the sender
    PeerId peer;                            ///< whom it sends to
    std::span<TypeCounters> type_counters;  ///< by layout number; empty: nobody counts
    SendOrder::Candidates& candidates;      ///< scratch of the order
    OpenRuns& open_runs;                    ///< of the lane
    FlushCopies& flush_copies;              ///< of the lane
    std::uint32_t lane;                     ///< to which it belongs
    BundleChoice& bundle_choice;            ///< scratch of the lane
    const FlushChanges& changes;            ///< outlives the sender
    const NetTime& receive_now;             ///< of what its connection receives, likewise
    WaitingPool& waiting_pool;              ///< of the server, likewise
};

/// What the order of a flush goes by, for one connection.
struct PriorityInputs {
    const UpdateCalendar& calendar;
    const InterestManager& interest;
    const ClientInterest& client;
    float distance = 0;  ///< see NetRates::set_priority_distance()
};

}  // namespace replayout
