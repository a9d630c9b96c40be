// SPDX-License-Identifier: MIT
//
// Finds out why a client does not have all that an object is (OwedReason): asks the parts of a
// sender, one after the other, whether the object waits for them. An instance answers one question
// and keeps nothing.
#pragma once

#include <replayout/netdriver/net_rates.h>

#include "connection_pairs.h"
#include "flush_progress.h"
#include "initial_batch.h"
#include "object_channels.h"
#include "object_store.h"
#include "packet_stream.h"
#include "pending_sender.h"
#include "sender_settings.h"
#include "waiting_values.h"

namespace replayout {

class OwedReasons {
  public:
    struct Parts {
        const ObjectStore& objects;
        const ConnectionPairs& pairs;
        const WaitingValues& values;
        const ObjectChannels& channels;
        const PacketStream& packets;
        const InitialBatch& initial_batch;
        const PendingSender& pending;
        const FlushProgress& last_flush;
    };

    explicit OwedReasons(const Parts& parts) noexcept : parts_(parts) {}

    [[nodiscard]] OwedReason reason_of(ObjectIndex index,
                                       const PriorityInputs& inputs) const noexcept;

  private:
    [[nodiscard]] OwedReason pending_reason(ObjectIndex index,
                                            const PriorityInputs& inputs) const noexcept;

    Parts parts_;
};

}  // namespace replayout
