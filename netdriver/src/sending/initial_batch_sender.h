// SPDX-License-Identifier: MIT
//
// Opens the objects that exist when a client joins, a few in each flush, and knows when the client
// has all of them:
//
//     InitialBatch   waiting  --open()-->  sent  --delivered, or no longer needed-->  over
//
// The fate of an object's first block tells whether the object came in one piece. SentRecords knows
// up to which version any other object is complete.
#pragma once

#include <replayout/netdriver/net_stats.h>
#include <replayout/reflection/memory.h>

#include "actor_replicator.h"
#include "connection_pairs.h"
#include "initial_batch.h"
#include "object_store.h"
#include "packet_stream.h"
#include "part_notice_sender.h"
#include "sent_content.h"
#include "sent_records.h"
#include "state_ahead_objects.h"

#include <cstddef>
#include <cstdint>

namespace replayout {

class InitialBatchSender {
  public:
    struct Parts {
        const ObjectStore& objects;
        ConnectionPairs& pairs;
        SentRecords& records;
        const PartNoticeSender& part_notices;
        StateAheadObjects& ahead;
        PacketStream& packets;
        ActorReplicator& replicator;
        const NetStats& stats;
    };

    /// The parts may be made later: this keeps references, and uses none of them yet.
    InitialBatchSender(const Parts& parts, MemoryResource* resource);
    InitialBatchSender(const InitialBatchSender&) = delete;
    InitialBatchSender& operator=(const InitialBatchSender&) = delete;

    /// The server, which knows the objects, fills and begins it.
    [[nodiscard]] InitialBatch& batch() noexcept { return batch_; }
    [[nodiscard]] const InitialBatch& batch() const noexcept { return batch_; }
    [[nodiscard]] bool is_finished() const noexcept {
        return batch_.state() == InitialBatch::State::Finished;
    }

    /// Objects that wait in the batch are not pending. Call it in each flush before anything is
    /// sent.
    void hold_back() noexcept {
        if (!is_finished()) {
            parts_.pairs.pending().remove(batch_.waiting());
        }
    }
    /// Opens objects until so many channels were opened. The share of joins pays for them. False:
    /// there is no room left.
    [[nodiscard]] bool open(std::uint32_t opens);
    /// Returns whether more room would open more objects. If the batch had all the room that it
    /// could use the last time, something else holds it up.
    [[nodiscard]] bool wants_room() const noexcept {
        return is_sending() && !batch_.waiting().is_empty() && !had_room_;
    }
    /// Returns whether no object waits, and the client has all that were opened.
    [[nodiscard]] bool is_over();

    /// Notes how the first block of an object came, if the record is of one.
    void note_first_block(const SentRecord& record, bool is_delivered) {
        if (is_sending()) {
            note_first_block_of_batch(record, is_delivered);
        }
    }
    /// A value of the object that travels reliably was delivered.
    void note_first_value(ObjectIndex index);
    /// The object's open was lost, so the client threw its first block away.
    void note_lost_open(ObjectIndex index) {
        if (is_sending()) {
            batch_.comes_in_pieces(index);
        }
    }

  private:
    [[nodiscard]] bool is_sending() const noexcept {
        return batch_.state() == InitialBatch::State::Sending;
    }
    [[nodiscard]] bool open_next(std::uint32_t opens);
    /// Opens objects from that one on, as others were opened in this flush. False: none.
    [[nodiscard]] bool open_several(ObjectIndex index, std::uint64_t count_max);
    /// Makes an object pending, with its parts.
    void release(ObjectIndex root);
    /// Undoes release() for all objects after the first `sent_before`.
    void take_back(std::size_t sent_before);
    [[nodiscard]] bool has_sent(const InitialBatch::Sent& object);
    /// The client has its first block, but more of what followed was lost than is usual, or a call
    /// began to send the state ahead.
    [[nodiscard]] bool needs_state_ahead(ObjectIndex index) const noexcept;
    void note_first_block_of_batch(const SentRecord& record, bool is_delivered);

    InitialBatch batch_;  // first, as every tick asks for its state
    bool had_room_ = false;
    Parts parts_;
};

}  // namespace replayout
