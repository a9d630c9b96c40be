// SPDX-License-Identifier: MIT
//
// Replicates pending objects, as far as there is room, and remembers where it stopped:
//
//     without a cap   by index, from where the last flush stopped:  9 12 40, then 3 7
//     with a cap      by SendOrder: objects that are due, then the others
//
// A flush may get to no object at all. Objects that were due in it are due in the next one that
// gets to any.
#pragma once

#include <replayout/reflection/memory.h>

#include "actor_replicator.h"
#include "connection_pairs.h"
#include "object_store.h"
#include "packet_stream.h"
#include "send_order.h"
#include "sender_settings.h"
#include "update_calendar.h"

#include <cstdint>
#include <optional>

namespace replayout {

class PendingSender {
  public:
    struct Parts {
        const ObjectStore& objects;
        ConnectionPairs& pairs;
        PacketStream& packets;
        ActorReplicator& replicator;
    };

    /// `candidates` is scratch of the order. The replicator may be made later: this keeps the
    /// reference, and does not use it yet.
    PendingSender(const Parts& parts, SendOrder::Candidates& candidates, MemoryResource* resource);
    PendingSender(const PendingSender&) = delete;
    PendingSender& operator=(const PendingSender&) = delete;

    [[nodiscard]] const SendOrder& order() const noexcept { return order_; }

    /// Replicates pending objects. Under a cap, a second call in a flush goes on where the first
    /// one stopped. False: there is no room left.
    [[nodiscard]] bool replicate(const PriorityInputs& inputs);
    /// Without a cap: the next flush begins with the first of them.
    [[nodiscard]] bool begins_with_first() const noexcept { return first_index_ == ObjectIndex{}; }
    /// Under a cap, after all calls of replicate() in a flush.
    void end_flush();
    /// Objects have no turn in this flush, unless there is room for replicate() after all.
    void skip_flush(const UpdateCalendar& calendar) noexcept {
        // Objects that are due now have their turn in the next flush: the next one of their own may
        // be hundreds of flushes away.
        if (!skipped_since_) {
            skipped_since_ = calendar.flush_before();
        }
    }
    /// Sends changes of the object in the next flush, as far as there is room.
    void force(ObjectIndex index) {
        if (parts_.packets.bandwidth().is_capped()) {
            order_.force(index);
        }
    }
    /// Returns how far the pair steps down now.
    [[nodiscard]] std::uint32_t step_down(ObjectIndex index,
                                          const PriorityInputs& inputs) const noexcept;
    /// Between flushes, see KeptRoom.
    void trim() { order_.trim(); }

  private:
    /// Replicates pending objects from slot `begin` to `end`. False: there is no room left, and the
    /// next flush begins where this one stopped.
    [[nodiscard]] bool replicate_slots(ObjectIndex begin, ObjectIndex end);
    [[nodiscard]] bool replicate_by_priority(const PriorityInputs& inputs);
    /// Replicates the candidates that there are. False: there is no room left.
    [[nodiscard]] bool replicate_candidates();
    /// Replicates the next candidate. False: there is no room left.
    [[nodiscard]] bool replicate_next();
    /// Describes an object that is owed something and is not in the order yet.
    [[nodiscard]] SendOrder::Arrival arrival_of(ObjectIndex index, const PriorityInputs& inputs);
    [[nodiscard]] SendOrder::Kind kind_of(ObjectIndex index) const noexcept;
    [[nodiscard]] std::uint32_t band_of(ObjectIndex index,
                                        const PriorityInputs& inputs) const noexcept;
    void prefetch_coming() const noexcept;

    Parts parts_;
    SendOrder order_;                                     // of a flush, with a cap
    std::optional<UpdateCalendar::Flush> skipped_since_;  // all flushes after it got to no object
    ObjectIndex first_index_{};  // where the next flush begins, without a cap
};

}  // namespace replayout
