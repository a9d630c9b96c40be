// SPDX-License-Identifier: MIT
//
// Sends the values of one connection that no packet can hold: each travels reliably, as a bunch of
// its object's channel, once its turn comes (ValueTurns). A value that no bunch can hold either is
// left out.
#pragma once

#include <replayout/change_mask.h>
#include <replayout/netdriver/net_config.h>
#include <replayout/send_properties.h>

#include "connection_pairs.h"
#include "packet_stream.h"
#include "property_parts.h"
#include "sent_records.h"
#include "waiting_values.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

/// What became of a large value.
enum class LargeValue : std::uint8_t {
    Sent,    ///< or it never will be
    Owed,    ///< too many of the object's bunches are under way, or a call waits for these
    Waiting  ///< for its turn; the value is owed
};

class LargeValueSender {
  public:
    /// `config` outlives this.
    LargeValueSender(const PropertyParts& parts, const NetConfig& config, MemoryResource* resource);

    /// Sends what of `owed` lies within `handles`, unless a call waits for the object.
    /// `is_initial`: with all that is sent only at first.
    [[nodiscard]] LargeValue send(PairRef ref, const OwedVersions& position, const ChangeMask& owed,
                                  const RepRange& handles, bool is_initial);
    /// The same, whatever waits for the object, and whatever the size of the values.
    [[nodiscard]] LargeValue send_reliably(PairRef ref, const OwedVersions& position,
                                           const ChangeMask& owed, const RepRange& handles,
                                           bool is_initial);
    /// Returns how many bytes a block takes with what of `owed` lies within `handles`.
    [[nodiscard]] std::size_t bytes_of(PairRef ref, const OwedVersions& position,
                                       const ChangeMask& owed, const RepRange& handles) const;
    /// Values that are under way, and that the client may not see any more: no byte of them is sent
    /// from now on.
    void take_back_hidden(ObjectIndex index);

  private:
    /// Returns what of `owed` lies within `handles`.
    [[nodiscard]] ChangeMask owed_within(const ChangeMask& owed, const RepRange& handles) const;
    /// Whether its turn has come, and there is room. If not, the value waits for both.
    [[nodiscard]] bool takes_turn(ObjectIndex index, std::size_t byte_count);
    /// Writes `handles` into `payload`, which grows as far as a message may. DoesNotFit: they are
    /// larger.
    [[nodiscard]] SentBlock encode(PairRef ref, const OwedVersions& position,
                                   const ChangeMask& handles, Vector<std::byte>& payload);
    /// Queues the message. Returns how many bunches it takes.
    std::uint32_t queue(ObjectIndex index, const RepRange& handles,
                        std::span<const std::byte> message);
    /// The client is not sent these, which are larger than any message may be.
    void leave_out_over_limit(PairRef ref, const ChangeMask& handles, const OwedVersions& position);

    PropertyParts parts_;
    const NetConfig& config_;
    MemoryResource* resource_;
};

}  // namespace replayout
