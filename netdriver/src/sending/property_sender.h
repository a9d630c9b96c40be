// SPDX-License-Identifier: MIT
//
// Properties of one connection on their way out: what a pair owes goes into packets, in one block
// or in parts, copied where another connection was sent the same.
//
// A block is written in place. Until the open of its channel is acknowledged it carries its length,
// which stands before it, so it is laid down apart first. What one packet cannot hold is cut into
// parts; a single value that it cannot hold travels reliably, as a bunch of the object's channel.
#pragma once

#include <replayout/bit_writer.h>
#include <replayout/netdriver/net_config.h>
#include <replayout/send_properties.h>

#include "connection_pairs.h"
#include "packet_sender.h"
#include "send_outcome.h"
#include "sender_settings.h"
#include "sent_records.h"
#include "waiting_values.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace replayout {

class PropertySender {
  public:
    /// `body` has room for a packet, and is scratch between two calls. `config` outlives this.
    PropertySender(const ObjectStore& objects, ConnectionPairs& pairs, WaitingValues& values,
                   SentRecords& records, PacketSender& packets, SendContext& context,
                   const NetConfig& config, std::span<std::byte> body, MemoryMeters& memory);

    /// Sends what the pair owes, of an object whose channel is open or about to be. The pair is
    /// then no longer pending, unless the window has no room.
    [[nodiscard]] SendOutcome replicate_properties(std::uint32_t index);
    /// What a regular pair is owed.
    struct RegularBlock {
        std::span<const std::byte> bytes;  ///< empty: the object must go its own way
        std::uint32_t property_count = 0;
        std::optional<BlockMiss> miss;  ///< nothing: it is a copy
    };
    /// Returns the block for a pair at `position`. It fits into an empty packet, and is valid until
    /// the next call and while the caller holds the object's lock (ObjectStore::lock).
    [[nodiscard]] RegularBlock regular_block(std::uint32_t index, const OwedVersions& position);
    /// Counts a block that was put into a packet.
    void count_regular(std::uint32_t index, const RegularBlock& block);
    /// Values too large for a packet that are under way, and that the client may not see any more:
    /// no byte of them is sent from now on.
    void take_back_hidden_values(std::uint32_t index);

  private:
    /// A block between its header and its end.
    struct BlockFrame {
        ChannelIndex channel;
        BitWriter packet;
        BitWriter body;                 // where the properties go
        std::size_t body_offset_bytes;  // in `body`, of the first of them
        bool has_length;
    };

    /// Whether nothing rare is kept of the pair, and what it is owed depends on versions alone.
    [[nodiscard]] bool is_plain(const RepLayout& layout, std::uint32_t index) const;
    [[nodiscard]] OwedVersions position_of_plain(std::uint32_t index,
                                                 const SendingRepState& pair) const;
    /// What a plain pair is owed was written for another one, and can go out as it is. Null: not.
    [[nodiscard]] const SharedPayload* find_plain_payload(const ChangelistState& state,
                                                          const OwedVersions& position) const;
    /// Sends that. Nothing: it does not fit into a packet.
    [[nodiscard]] std::optional<SendOutcome> copy_plain(std::uint32_t index,
                                                        const OwedVersions& position,
                                                        const SharedPayload& payload);
    /// A block was written with all that is owed.
    void record_plain(std::uint32_t index, const OwedVersions& position);
    [[nodiscard]] SendOutcome replicate_parts(std::uint32_t index, OwedVersions position);
    /// Keyed arrays begin anew where they must, by what SendScratch::owed says.
    void restart_arrays(std::uint32_t index, OwedVersions& position);
    /// A call waits for the object (StateAhead). Nothing: it goes its usual way meanwhile.
    [[nodiscard]] std::optional<SendOutcome> replicate_ahead(std::uint32_t index);
    [[nodiscard]] SendOutcome send_ahead(std::uint32_t index);
    /// What goes next of it in one message, from that handle on: as much as a packet has room for,
    /// or one value. Empty: nothing more is owed.
    [[nodiscard]] RepRange next_message(std::uint32_t index, const OwedVersions& position,
                                        std::uint32_t handle);
    /// The owed handles that lie within `handles`.
    [[nodiscard]] ChangeMask owed_within(std::uint32_t index, const RepRange& handles) const;
    /// Where the next parts begin: at the first one that found no room the last time.
    [[nodiscard]] RepCursor take_rest(std::uint32_t index);
    /// The parts from `rest` on found no room. `had_place`: a SendOrder knew the object's place
    /// before anything of it was owed anew (ConnectionPairs::placed()).
    void keep_rest(const TakenOfPair& taken, const RepCursor& begin, const RepCursor& rest,
                   bool had_place);
    /// The block of this pair is what its position and its conditions say, for all who share them.
    [[nodiscard]] bool may_share_payload(std::uint32_t index, const OwedVersions& position) const;
    [[nodiscard]] SharedSerialization::PayloadKey payload_key(std::uint32_t index,
                                                              const OwedVersions& position) const;
    /// Null: nobody was sent the same yet.
    [[nodiscard]] const SharedPayload* find_payload(std::uint32_t index,
                                                    const OwedVersions& position) const;
    [[nodiscard]] BlockFrame begin_block(std::uint32_t index, bool is_part);
    void end_block(BlockFrame& frame, bool more_parts_follow, BlockMiss miss);
    /// Whole, or DoesNotFit into what is left of the packet.
    [[nodiscard]] SendResult write_payload(std::uint32_t index, const SharedPayload& payload);
    [[nodiscard]] SendResult write_whole_block(std::uint32_t index, const OwedVersions& position);
    /// A block was written with all that is owed: others may be sent the same.
    void keep_payload(std::uint32_t index, const OwedVersions& position,
                      std::span<const std::byte> block);
    /// Why a whole block was written, in which values may have been left out. Before it is kept.
    [[nodiscard]] BlockMiss miss_of(std::uint32_t index, const OwedVersions& position) const;
    void count_reuse(std::span<const std::byte> block, std::uint32_t property_count);
    /// A block of that length may be in a bundle, see BundleBuilder::array_steps_per_byte().
    [[nodiscard]] bool is_bundled(std::size_t body_bytes, std::size_t array_steps) const noexcept;
    /// regular_block() of most blocks where nothing is shared (RowBlock). Without bytes: it is
    /// something else, and nothing was done.
    [[nodiscard]] RegularBlock regular_row(const ChangelistState& state, std::size_t bytes_max);
    [[nodiscard]] SendResult write_part(std::uint32_t index, const OwedVersions& position,
                                        RepCursor& cursor, RepRange& range);
    enum class LargeValue : std::uint8_t {
        Sent,    ///< or it never will be
        Owed,    ///< too many of the object's bunches are under way, or a call waits for these
        Waiting  ///< for its turn; the value is owed
    };
    /// `is_initial`: with all that is sent only at first.
    [[nodiscard]] LargeValue send_large_value(std::uint32_t index, const OwedVersions& position,
                                              const RepRange& handles, bool is_initial);
    /// The client is not sent these, which are larger than any message may be.
    void leave_out_over_limit(std::uint32_t index, const ChangeMask& handles,
                              const OwedVersions& position);
    /// Whatever its size, and whatever waits for the object.
    [[nodiscard]] LargeValue send_reliably(std::uint32_t index, const OwedVersions& position,
                                           const RepRange& handles, bool is_initial);

    const ObjectStore& objects_;
    ConnectionPairs& pairs_;
    WaitingValues& values_;
    SentRecords& records_;
    PacketSender& packets_;
    SendContext& context_;
    const NetConfig& config_;
    std::span<std::byte> body_;  // scratch: a block that is laid down apart
    RowBlock row_;               // the last that regular_row() wrote
    MemoryResource* resource_;
};

}  // namespace replayout
