// SPDX-License-Identifier: MIT
//
// Counters of a driver, for reading. Exact, never reset, the same in every version.
#pragma once

#include <replayout/netdriver/close_reason.h>
#include <replayout/replication_counters.h>

#include <array>
#include <cstdint>

namespace replayout {

/// What it took to find out who sees what (interest.h).
struct InterestCounters {
    /// By objects and viewers of which a place counts; a viewer has a cell in the grid and one for
    /// each power of two among cull distances.
    std::uint64_t cells_crossed = 0;
    std::uint64_t pairs_examined = 0;  ///< an object and a viewer, whose distance was looked at
    std::uint64_t pairs_decided = 0;   ///< an object and a client, of whom something changed
    // Of these, not as they began, with the object or with the client:
    std::uint64_t pairs_shown = 0;   ///< became relevant
    std::uint64_t pairs_hidden = 0;  ///< ceased to be
};

struct NetStats {
    std::uint64_t packets_sent = 0;
    std::uint64_t bytes_sent = 0;  ///< of datagrams
    std::uint64_t packets_received = 0;
    std::uint64_t bytes_received = 0;
    std::uint64_t packets_delivered = 0;  ///< of those sent
    std::uint64_t packets_lost = 0;       ///< of those sent
    std::uint64_t packets_dropped = 0;    ///< received and not processed: late, repeated, stray
    /// Of these: more of one connection in one dispatch than datagrams_per_connection_max, or
    /// while half of what may wait are calls that were put off.
    std::uint64_t packets_over_rate = 0;
    std::uint64_t bunches_sent = 0;    ///< each time one goes out
    std::uint64_t bunches_resent = 0;  ///< of these, after a loss
    std::uint64_t records_sent = 0;    ///< blocks, by receiver
    /// Of these, in packets that were lost; not what was in flight when a connection closed.
    std::uint64_t records_lost = 0;
    /// Too large for a packet, and thrown away by the client: a part went, or went again, without
    /// its bytes, as the channel closed or the client ceased to meet the value's condition.
    std::uint64_t values_abandoned = 0;
    std::uint64_t channels_opened = 0;
    std::uint64_t channels_closed = 0;
    std::uint64_t channels_dormant = 0;  ///< of these, closed because the object went dormant
    std::uint64_t blocks_received = 0;
    /// For an object whose open had not arrived, or that was refused.
    std::uint64_t blocks_skipped = 0;
    /// Received, and not taken by the property (a full name table).
    std::uint64_t values_refused = 0;
    std::uint64_t values_failed = 0;      ///< received; net_serialize said ok = false
    std::uint64_t values_unmapped = 0;    ///< received; net_serialize answered: not fully mapped
    std::uint64_t calls_sent = 0;         ///< remote calls, by receiver, each time one goes out
    std::uint64_t calls_resent = 0;       ///< of these, after a loss
    std::uint64_t call_parts_sent = 0;    ///< of calls larger than a packet, each time one goes out
    std::uint64_t call_parts_resent = 0;  ///< of these, after a loss
    std::uint64_t calls_run = 0;          ///< that came from the other side
    /// Calls that never ran: the object went first, an unreliable call found no room, or a call was
    /// queued too often. A call that was under way when the object went counts as soon as it is
    /// known not to run.
    std::uint64_t calls_dropped = 0;
    std::uint64_t calls_not_owned = 0;  ///< of clients, for an object that is not theirs
    std::uint64_t calls_over_rate = 0;  ///< of clients, unreliable
    /// Of a server, for a function that is not ours, or an object that was refused.
    std::uint64_t calls_unknown = 0;
    std::array<std::uint64_t, close_reason_count> closed{};  ///< connections, by CloseReason
    InterestCounters interest;
    ReplicationCounters replication;
};

}  // namespace replayout
