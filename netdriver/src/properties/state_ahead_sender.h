// SPDX-License-Identifier: MIT
//
// Sends all that an object owes in messages of its channel, ahead of a call or of the end of the
// initial batch, once blocks alone do not get it there (StateAhead).
#pragma once

#include <replayout/send_properties.h>

#include "connection_pairs.h"
#include "large_value_sender.h"
#include "packet_stream.h"
#include "property_parts.h"
#include "send_outcome.h"
#include "sent_records.h"
#include "waiting_values.h"

#include <cstdint>
#include <optional>

namespace replayout {

class StateAheadSender {
  public:
    /// `large_values` outlives this.
    StateAheadSender(const PropertyParts& parts, LargeValueSender& large_values);

    /// Replicates an object that a call or the initial batch waits for. Nothing: neither does, or
    /// the object goes its usual way meanwhile.
    [[nodiscard]] std::optional<SendOutcome> replicate(PairRef ref);

  private:
    [[nodiscard]] SendOutcome send(PairRef ref);
    /// Returns what of `owed` goes next in one message, from that handle on: as much as a packet
    /// has room for, or one value. Empty: nothing more is owed.
    [[nodiscard]] RepRange next_message(PairRef ref, const OwedVersions& position,
                                        const ChangeMask& owed, std::uint32_t handle) const;

    PropertyParts parts_;
    LargeValueSender& large_values_;
};

}  // namespace replayout
