// SPDX-License-Identifier: MIT
//
// Properties of one connection on their way out: what a pair owes goes into packets, in one block
// or in parts. What one packet cannot hold is cut into parts; a single value that it cannot hold
// travels reliably.
//
//     BlockWriter        writes blocks, and copies those that another connection was sent
//     LargeValueSender   sends values that no packet can hold
//     StateAheadSender   sends the state that a call waits for
#pragma once

#include <replayout/netdriver/net_config.h>
#include <replayout/send_properties.h>

#include "block_writer.h"
#include "connection_pairs.h"
#include "large_value_sender.h"
#include "packet_stream.h"
#include "property_parts.h"
#include "send_outcome.h"
#include "sent_records.h"
#include "state_ahead_sender.h"
#include "waiting_values.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace replayout {

class PropertySender {
  public:
    /// `body` has room for a packet, and is scratch between two calls. `config` outlives this.
    PropertySender(const PropertyParts& parts, const NetConfig& config, std::span<std::byte> body,
                   MemoryMeters& memory);
    PropertySender(const PropertySender&) = delete;
    PropertySender& operator=(const PropertySender&) = delete;

    /// Sends what the pair owes, of an object whose channel is open or about to be. The pair is
    /// then no longer pending, unless the window has no room.
    [[nodiscard]] SendOutcome replicate_properties(ObjectIndex index);
    [[nodiscard]] BlockWriter& blocks() noexcept { return blocks_; }
    /// Values too large for a packet that are under way, and that the client may not see any more:
    /// no byte of them is sent from now on.
    void take_back_hidden_values(ObjectIndex index) { large_values_.take_back_hidden(index); }

    /// Whether nothing rare is kept of the pair, and what it is owed depends on versions alone.
    [[nodiscard]] bool is_plain(PairRef ref) const;

  private:
    /// A block was written with all that is owed.
    void record_plain(PairRef ref, const OwedVersions& position);
    [[nodiscard]] OwedVersions position_of_plain(PairRef ref, const SendingRepState& pair) const;
    /// Sends all that is owed in one block, that of `payload` or, if there is none, one of `owed`.
    /// Nothing: it does not fit into a packet.
    [[nodiscard]] std::optional<SendOutcome> replicate_whole(PairRef ref,
                                                             const OwedVersions& position,
                                                             const ChangeMask& owed,
                                                             const SharedPayload* payload,
                                                             bool is_plain_pair);
    [[nodiscard]] SendOutcome replicate_parts(PairRef ref, OwedVersions position, ChangeMask& owed);
    /// Where the next parts of `owed` begin: at the first one that found no room the last time.
    [[nodiscard]] RepCursor take_rest(PairRef ref, const ChangeMask& owed);
    /// The parts from `rest` on found no room. `was_ordered`: a SendOrder had the object before
    /// anything of it was owed anew (ConnectionPairs::ordered()).
    void keep_rest(const TakenOfPair& taken, const RepCursor& begin, const RepCursor& rest,
                   bool was_ordered);

    PropertyParts parts_;
    BlockWriter blocks_;
    LargeValueSender large_values_;
    StateAheadSender ahead_;
};

}  // namespace replayout
