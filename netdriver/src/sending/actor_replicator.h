// SPDX-License-Identifier: MIT
//
// Replicates one object to one client: opens its channel, or writes what its pair owes. A client
// sees an object once its open has arrived. So opens that were lost go out before all else, each
// with the block of its object, and an open that goes out now has the first block in its packet:
//
//     packet   [ open A ][ block A ]  [ open B ][ block B ]   [ block C ]
//                A was lost             B is new                C is shown
//
// A pair that was sent everything becomes regular. If the object changed in this flush, the pair
// waits here until regular pairs have been sent that change.
#pragma once

#include <replayout/reflection/memory.h>
#include <replayout/send_properties.h>
#include <replayout/type_counters.h>

#include "connection_pairs.h"
#include "hidden_states.h"
#include "initial_batch.h"
#include "kept_room.h"
#include "object_channels.h"
#include "object_store.h"
#include "packet_stream.h"
#include "property_sender.h"
#include "send_order.h"
#include "send_outcome.h"
#include "shared_opens.h"

#include <span>

namespace replayout {

class ActorReplicator {
  public:
    /// All of them outlive this.
    struct Parts {
        const ObjectStore& objects;
        ConnectionPairs& pairs;
        PropertySender& properties;
        ObjectChannels& channels;
        HiddenStates& hidden_states;
        PacketStream& packets;
        SendContext& context;
        OpenRuns& open_runs;
        // They decide whether pairs may be regular.
        const InitialBatch& initial_batch;
        const SendOrder& order;
    };

    /// `type_counters` are by layout number; empty: nobody counts.
    ActorReplicator(const Parts& parts, std::span<TypeCounters> type_counters,
                    MemoryResource* scratch);
    ActorReplicator(const ActorReplicator&) = delete;
    ActorReplicator& operator=(const ActorReplicator&) = delete;

    /// Replicates the object, after opens that wait.
    [[nodiscard]] SendOutcome replicate_actor(ObjectIndex index) {
        if (parts_.packets.has_lost_opens()) {
            write_lost_opens();  // of this object, it may be
            if (parts_.packets.has_lost_opens()) {
                return SendOutcome::NoRoom;
            }
        }
        return replicate_after_opens(index);
    }
    /// Opens objects that follow each other, from `index` on, as SharedOpens::open_several(),
    /// before any other replicates them. Returns how many; 0: the object is to be replicated by
    /// itself.
    [[nodiscard]] std::uint32_t open_several(ObjectIndex index, const SharedOpens::Order& order) {
        return shared_opens_.has_several() && type_counters_.empty() &&
                       !parts_.packets.has_lost_opens()
                   ? open_as_laid_down(index, order)
                   : 0;
    }
    /// Writes lost opens, each with the block of its object, as many as find room.
    void write_lost_opens();
    /// Writes the first blocks of objects whose opens are in the packet without them.
    [[nodiscard]] SendOutcome write_first_blocks() {
        return parts_.packets.opens().has_unfollowed() || parts_.packets.has_lost_opens()
                   ? write_missing_blocks()
                   : SendOutcome::Done;
    }

    /// Whether pairs of a connection with these parts may be regular. It needs no replicator, so
    /// that a tick which only asks touches none.
    [[nodiscard]] static bool may_have_regular_pairs(const InitialBatch& initial_batch,
                                                     const PacketStream& packets,
                                                     const SendOrder& order) noexcept {
        // Objects that find no room under a cap have an order of their own.
        return initial_batch.state() == InitialBatch::State::Finished &&
               (!packets.bandwidth().is_capped() || order.pressure() == 0);
    }
    /// The client was sent the object as it was laid down, and pairs may be regular.
    void settle_opened(const OpenRuns::Entry& entry) {
        if (!parts_.pairs.settle_opened(entry.object_index, entry.may_be_regular)) {
            to_settle_.push_back(entry.object_index);
        }
    }
    /// Nobody counts by type.
    [[nodiscard]] bool counts_no_types() const noexcept { return type_counters_.empty(); }
    [[nodiscard]] SharedOpens& shared_opens() noexcept { return shared_opens_; }
    /// Pairs may be regular from now on. The pair becomes so if the client was sent all of the
    /// object; else once that is so.
    void settle_arrived(ObjectIndex index) {
        if (!parts_.pairs.is_regular(index) && !parts_.pairs.pending_row().test(index) &&
            may_have_regular_pairs(parts_.initial_batch, parts_.packets, parts_.order)) {
            (void)parts_.pairs.settle(index);
        }
    }
    /// Pairs that had to wait become regular. Requires that regular pairs were sent the changes of
    /// this flush.
    void settle_waiting();
    /// Between flushes, see KeptRoom.
    void trim() { to_settle_.trim(); }

  private:
    [[nodiscard]] SendOutcome write_missing_blocks();
    [[nodiscard]] SendOutcome replicate_after_opens(ObjectIndex index);
    [[nodiscard]] std::uint32_t open_as_laid_down(ObjectIndex index,
                                                  const SharedOpens::Order& order);
    /// The open of `outer` goes out again. Until it arrives the client throws the blocks of its
    /// parts away, also of those whose own open has arrived. So all of them is owed anew: a block
    /// that leans on one of before would show an atomic struct of which the client has half.
    void owe_early_parts(ObjectIndex outer);
    /// Writes blocks of those parts whose open has arrived: the client makes them with their outer.
    void write_early_parts(ObjectIndex outer);
    [[nodiscard]] bool is_frozen(ObjectIndex index) const noexcept {
        return parts_.pairs.dormancy().frozen.test(index);
    }
    /// The client was sent all of the object.
    void settle(ObjectIndex index);
    /// The same where pairs may be regular.
    void settle_if_regular(ObjectIndex index) {
        if (may_have_regular_pairs(parts_.initial_batch, parts_.packets, parts_.order)) {
            settle(index);
        }
    }

    Parts parts_;
    SharedOpens shared_opens_;
    std::span<TypeCounters> type_counters_;
    KeptVector<ObjectIndex> to_settle_;  // pairs, once regular ones have caught up
};

}  // namespace replayout
