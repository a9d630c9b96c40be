// SPDX-License-Identifier: MIT
//
// Writes blocks of properties into the packets of one connection, and copies them where another
// connection was sent the same.
//
// A block is written in place. Until the open of its channel is acknowledged it carries its length,
// which stands before it, so it is laid down apart first.
#pragma once

#include <replayout/bit_writer.h>
#include <replayout/send_properties.h>

#include "connection_pairs.h"
#include "packet_stream.h"
#include "property_parts.h"
#include "waiting_values.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace replayout {

class BlockWriter {
  public:
    /// `body` has room for a packet, and is scratch between two calls.
    BlockWriter(const PropertyParts& parts, std::span<std::byte> body);

    /// Returns the block that another connection was sent for what this pair is owed. Null: nobody
    /// was sent the same yet.
    [[nodiscard]] const SharedPayload* find_payload(PairRef ref,
                                                    const OwedVersions& position) const;
    /// The same for a pair of which nothing rare is kept.
    [[nodiscard]] const SharedPayload* find_plain_payload(PairRef ref,
                                                          const OwedVersions& position) const;

    // Each returns DoesNotFit if the open packet has no room.

    [[nodiscard]] SendResult write_payload(PairRef ref, const SharedPayload& payload);
    /// Writes all of `owed`, and keeps it for other connections.
    [[nodiscard]] SentBlock write_whole(PairRef ref, const OwedVersions& position,
                                        const ChangeMask& owed);
    /// As send_part().
    [[nodiscard]] SentBlock write_part(PairRef ref, const OwedVersions& position,
                                       const ChangeMask& owed, RepCursor& cursor, RepRange& range);

    /// What a regular pair is owed.
    struct RegularBlock {
        std::span<const std::byte> bytes;  ///< empty: the object must go its own way
        std::uint32_t property_count = 0;
        std::optional<BlockMiss> miss;            ///< nothing: it is a copy
        const BlockFindings* findings = nullptr;  ///< null: it is a copy, or of plain values
    };
    /// Returns the block for a pair at `position`. It fits into an empty packet, after a length if
    /// it has one, and is valid until the next call and while the caller holds the object's lock
    /// (ObjectStore::lock).
    [[nodiscard]] RegularBlock regular_block(PairRef ref, const OwedVersions& position,
                                             BlockLength length);
    /// The same of the first block of a plain object, of which nobody was sent one like it. The
    /// block is kept, so find_plain_payload() finds it from now on.
    [[nodiscard]] RegularBlock first_block(PairRef ref, const OwedVersions& position);
    /// Writes that block, or a copy of it, if `first` has no bytes. Requires room for it.
    void write_kept(PairRef ref, const SharedPayload& payload, const RegularBlock& first);
    /// Counts a block that was put into a packet.
    void count_regular(ObjectIndex index, const RegularBlock& block);

  private:
    /// A block between its header and its end.
    struct BlockFrame {
        ChannelIndex channel;
        BitWriter packet;
        BitWriter body;                 // where the properties go
        std::size_t body_offset_bytes;  // in `body`, of the first of them
        bool has_length;
    };

    [[nodiscard]] BlockFrame begin_block(ObjectIndex index, bool is_part);
    void end_block(BlockFrame& frame, const SentBlock& block, BlockMiss miss);
    /// The block of this pair is what its position and its conditions say, for all who share them.
    [[nodiscard]] bool may_share_payload(PairRef ref, const OwedVersions& position) const;
    [[nodiscard]] SharedSerialization::PayloadKey payload_key(PairRef ref,
                                                              const OwedVersions& position) const;
    /// A block was written with all that is owed: keeps it for others that may be sent the same.
    /// Returns why it had to be written.
    [[nodiscard]] BlockMiss note_whole(PairRef ref, const OwedVersions& position,
                                       const SentBlock& block, std::span<const std::byte> bytes);
    /// Encodes a block into `body_`. Without bytes: it must go its own way.
    [[nodiscard]] RegularBlock lay_apart(PairRef ref, const OwedVersions& position,
                                         const ChangeMask& owed, std::size_t bytes_max);
    /// A block of that length may be in a bundle, see ServerBundles::array_steps_per_byte().
    [[nodiscard]] bool is_bundled(std::size_t body_bytes, std::size_t array_steps) const noexcept;
    /// regular_block() of most blocks where nothing is shared (PlainBlock). Without bytes: it is
    /// something else, and nothing was done.
    [[nodiscard]] RegularBlock plain_block(const ChangelistState& state, std::size_t bytes_max);

    PropertyParts parts_;
    std::span<std::byte> body_;  // scratch: a block that is laid down apart
    PlainBlock plain_;           // the last that plain_block() wrote
};

}  // namespace replayout
