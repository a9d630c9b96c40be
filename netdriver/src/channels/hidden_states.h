// SPDX-License-Identifier: MIT
//
// What reliable calls of one connection need of objects that were hidden from it: encoded when the
// object is hidden, and never again.
//
//     value changes, call made    hidden: encoded       value or owner changes
//     ---------------------------------+-----------------------x----------------> not sent
//                                      +--> [ call ][ block as of the hide ] --> delivered, close
//
// A call means its object and the parts of the same family that its parameters name. For each of
// these the block has all that the client may see at that moment, and may not have yet. It goes in
// one packet with the call, as often as that is sent. Where both do not fit into one packet the
// block goes ahead, as a reliable bunch, and the call waits until that is delivered.
//
// A delta of a NetDeltaSerializer is written from what the client holds if all that is under way
// arrives. Where that is lost the client leaves the delta alone, and the call runs without it.
//
// Rejected: to send the object as before, but for what changed since. The shadow has the newest
// value alone, so a value that changed since the hide could not be sent again.
#pragma once

#include <replayout/block_counts.h>
#include <replayout/netdriver/net_config.h>
#include <replayout/reflection/memory.h>
#include <replayout/send_properties.h>
#include <replayout/type_counters.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "call_queue.h"
#include "connection_pairs.h"
#include "packet_stream.h"
#include "send_outcome.h"
#include "sent_records.h"
#include "waiting_values.h"

namespace replayout {

class HiddenStates {
  public:
    struct State {
        Vector<std::byte> block;
        std::size_t array_steps = 0;  ///< that it costs its receiver; of one that fits a packet
        BlockValues values;
    };

    /// What it works with, all of which outlives it.
    struct Parts {
        const ObjectStore& objects;
        ConnectionPairs& pairs;
        const WaitingValues& values;
        SentRecords& records;
        PacketStream& packets;
        CallQueue& calls;
        SendContext& context;
        const NetConfig& config;
        std::span<TypeCounters> type_counters;  ///< by layout number; empty: nobody counts
    };
    HiddenStates(const Parts& parts, MemoryResource* resource);

    /// Keeps what calls need of the object, as of now. False, and nothing is kept: it is larger
    /// than bunch_bytes_max, or all that is kept would exceed reliable_waiting_bytes_max.
    [[nodiscard]] bool keep(ObjectIndex index);
    /// Nothing that was sent on the object's channel may still change the object: the channel is
    /// open, or closed because the object is dormant.
    [[nodiscard]] bool is_at_rest(ObjectIndex index) const noexcept;
    /// Null: calls need nothing of the object, or the client has it.
    [[nodiscard]] const State* find(ObjectIndex index) const noexcept;
    /// The object's open was lost, and was just written once more: writes what calls need of the
    /// object behind it, so that the client does not begin without it. NoRoom: not in this flush.
    [[nodiscard]] SendOutcome write_with_open(ObjectIndex index);
    /// It does not fit beside a call. Queues it as a bunch if there is room, and keeps it no
    /// longer. Requires is_at_rest(), and an open channel.
    void send_ahead(ObjectIndex index);
    void forget(ObjectIndex index) noexcept;

  private:
    /// A call that was not delivered needs the object as of a later version than `complete`.
    [[nodiscard]] bool is_needed(ObjectIndex index, Version complete) const noexcept;
    /// A value that is sent only at first waits for its turn.
    [[nodiscard]] bool is_any_initial_waiting(ObjectIndex index) const;
    /// The block of that object leaves.
    void count_sent(ObjectIndex index, const State& state, BlockMiss miss);
    /// Encodes what the client may lack. False: it exceeds bunch_bytes_max.
    [[nodiscard]] bool encode(ObjectIndex index, Version complete, State& state);

    Parts parts_;
    MemoryResource* resource_;
    FlatMap<ObjectIndex, State> states_;  // by object index
    std::size_t bytes_ = 0;               // of all blocks
};

}  // namespace replayout
