// SPDX-License-Identifier: MIT
//
// What one connection of a server is owed, and the sending of it: the pairs of this connection with
// all objects.
//
// A pair is sixteen bytes in a row by object index (SendingRepState); what is rare lies beside it:
// the part of a large object that was lost, and values that travel reliably because no packet holds
// them.
//
//     Closed --open goes out--> OpenSent --open delivered--> Open
//       ^                          |                           |
//       |                          +----- object removed ------+
//       +--all bunches delivered-- Closing
//
// The close alone is not enough to use the channel again: it may arrive before the open does, which
// then is still to come.
//
// An open that was lost goes out again, and everything sent since the first one is owed again,
// because the client threw it away.
#pragma once

#include <replayout/netdriver/net_world.h>
#include <replayout/send_properties.h>

#include "bit_row.h"
#include "object_store.h"
#include "packet_sender.h"
#include "pair_validator.h"
#include "unmapped_values.h"

#include <array>
#include <cstdint>
#include <optional>

namespace replayout {

class ReplicationSender final : public SentContentHandler, private ReceiverIds {
  public:
    ReplicationSender(const ObjectStore& objects, PacketSender& packets, SendContext& context,
                      NetStats& stats, std::uint32_t bunch_bytes_max, MemoryResource* resource);

    /// From now on, before anything is sent, every pair is checked against a copy of what the
    /// client holds; see PairValidator.
    void start_validating(const NetGUIDCache& guids) {
        validator_.emplace(objects_, guids, resource_);
    }

    /// Objects of `changed` (a row over the store) must be looked at.
    void mark_pending(const BitRow& changed);
    /// The object of that slot is about to be removed.
    void object_removed(std::uint32_t index);

    /// Sends what is pending, as far as the window goes.
    void process_prioritized_actors();

    /// After the above: checks the pairs that something happened to, when validating.
    void validate_pairs();

    [[nodiscard]] const SendingRepState& state_of(std::uint32_t index) const noexcept {
        return pairs_[index];
    }
    /// Whether everything was sent and delivered, opens and closes included.
    [[nodiscard]] bool is_settled() const noexcept;

  private:
    enum class ChannelState : std::uint8_t { Closed, OpenSent, Open, Closing };
    enum class Outcome : std::uint8_t {
        Done,
        WindowFull,  ///< of packets: nothing more can be sent
        HeldBack,    ///< by the window of bunches: this object must wait
    };

    struct PausedValue {
        RepHandle handle;
        Version version = 0;             ///< of the object when it was sent
        std::uint32_t bunches_left = 0;  ///< fragments not yet delivered
    };
    /// Beside a pair, where needed.
    struct PairExtra {
        explicit PairExtra(MemoryResource* resource) : paused(Allocator<PausedValue>(resource)) {}

        RepRange lost_range;
        std::uint16_t next_sequence = 2;  ///< of the channel's bunches; 1 was the open
        Vector<PausedValue> paused;
    };

    /// A block between its header and its end.
    struct BlockFrame {
        ChannelIndex channel;
        BitWriter packet;
        BitWriter body;                 ///< where the properties go
        std::size_t body_offset_bytes;  ///< in `body`, of the first of them
        bool has_length;
    };

    // SentContentHandler
    void record_delivered(const SentRecord& record) override;
    void record_lost(const SentRecord& record) override;
    void bunch_delivered(const BunchTag& tag) override;
    void bunch_lost(const BunchTag& tag) override;

    // ReceiverIds: the client has what it acknowledged the open of.
    [[nodiscard]] bool is_mapped(NetGUID guid) const override;

    [[nodiscard]] Outcome replicate_actor(std::uint32_t index);
    [[nodiscard]] Outcome open_channel(std::uint32_t index);
    [[nodiscard]] Outcome replicate_properties(std::uint32_t index);
    [[nodiscard]] Outcome replicate_parts(std::uint32_t index, const OwedVersions& position);
    [[nodiscard]] bool has_paused_value(std::uint32_t index) const;
    [[nodiscard]] bool is_paused(std::uint32_t index, RepHandle handle) const;
    /// Null: nobody in this position was sent the object at this version yet.
    [[nodiscard]] const SharedPayload* find_payload(std::uint32_t index,
                                                    const OwedVersions& position) const;
    [[nodiscard]] BlockFrame begin_block(std::uint32_t index);
    void end_block(BlockFrame& frame);
    /// Whole, or DoesNotFit into what is left of the packet.
    [[nodiscard]] SendResult write_payload(std::uint32_t index, const SharedPayload& payload);
    [[nodiscard]] SendResult write_whole_block(std::uint32_t index, const OwedVersions& position);
    [[nodiscard]] SendResult write_part(std::uint32_t index, const OwedVersions& position,
                                        RepCursor& cursor, RepRange& range);
    /// False: too many of the object's bunches are under way; the value stays owed.
    [[nodiscard]] bool send_large_value(std::uint32_t index, const OwedVersions& position,
                                        RepHandle handle);
    /// The values of `handles` were sent: notes which of them are not fully mapped or left out.
    void note_sent_values(std::uint32_t index, const RepRange& handles);
    /// The object is about to be removed: nothing of it waits, and nothing waits for it.
    void forget_unmapped(std::uint32_t index);
    /// The client has the object now: what waited for it is owed again.
    void object_mapped(std::uint32_t index);
    void owe_again(std::uint32_t index, RepHandle handle);
    void value_delivered(const BunchTag& tag);
    /// The client has the value; changes of it may go out again.
    void resume_value(std::uint32_t index, const PausedValue& value);
    void collect_owed(std::uint32_t index, const OwedVersions& position);
    [[nodiscard]] PairExtra& extra_of(std::uint32_t index);

    [[nodiscard]] static ChannelState channel_state(const SendingRepState& pair) noexcept;
    static void set_channel_state(SendingRepState& pair, ChannelState state) noexcept;
    /// Until its open is acknowledged, a client may have to skip a block of the channel.
    [[nodiscard]] static bool block_has_length(const SendingRepState& pair) noexcept;
    /// Bunches of the channel that are queued or under way.
    [[nodiscard]] static std::uint32_t bunch_count(const SendingRepState& pair) noexcept;
    void queue_bunch(const BunchHeader& header, std::uint16_t sequence,
                     std::span<const std::byte> payload, const BunchTag& tag);
    void finish_close(std::uint32_t index);
    [[nodiscard]] OwedVersions position_of(std::uint32_t index) const;
    /// A loss within `range` is about to be noted in the pair.
    void widen_lost_range(std::uint32_t index, const RepRange& range);
    void grow();

    const ObjectStore& objects_;
    PacketSender& packets_;
    SendContext& context_;
    NetStats& stats_;
    std::uint32_t bunch_bytes_max_;
    MemoryResource* resource_;
    Vector<SendingRepState> pairs_;  // by object index
    BitRow pending_;
    FlatMap<std::uint32_t, PairExtra> extras_;  // by object index
    UnmappedValues unmapped_;
    std::optional<PairValidator> validator_;
    std::uint32_t closing_count_ = 0;
    std::array<std::byte, PacketBuilder::packet_bytes_limit> body_;
};

}  // namespace replayout
