// SPDX-License-Identifier: MIT
//
// Packets taken apart and put together by hand, from docs/wire_format.md and with the public
// headers alone: to find a certain packet in a session, and to be a peer that does not keep to the
// rules.
//
//     PacketForge forge(session);
//     const Bytes packet = forge.make({open_bunch(1, NetGUID{7}, TestSchema::pawn_number)});
#pragma once

#include <replayout/bit_writer.h>
#include <replayout/change_mask.h>
#include <replayout/net_guid.h>
#include <replayout/netdriver/bunch.h>
#include <replayout/netdriver/channel_close_reason.h>
#include <replayout/netdriver/close_reason.h>
#include <replayout/netdriver/packet_notify.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "support/checks/byte_dump.h"

namespace replayout::test {

struct Bunch {
    BunchHeader header;
    Bytes payload;
};

struct Packet {
    PacketHeader header;
    std::vector<Bunch> bunches;
    Bytes blocks;

    [[nodiscard]] bool has_open(std::uint32_t channel) const noexcept;
    [[nodiscard]] bool has_close(std::uint32_t channel) const noexcept;
    /// On any channel but the control channel.
    [[nodiscard]] bool has_open() const noexcept;
    [[nodiscard]] bool has_part() const noexcept;
    [[nodiscard]] bool has_control() const noexcept;
    [[nodiscard]] bool has_content() const noexcept { return !bunches.empty() || !blocks.empty(); }
};

/// Nothing when the bytes are no packet. Blocks are not looked at.
[[nodiscard]] std::optional<Packet> parse_packet(std::span<const std::byte> datagram);

/// One bunch with these payload bytes; `header.payload_bytes` is filled in.
[[nodiscard]] Bunch make_bunch(BunchHeader header, Bytes payload);

/// What `write` writes, up to the end of its last byte.
[[nodiscard]] Bytes written(const std::function<void(BitWriter&)>& write);

// Bunches as a server of ours sends them.
[[nodiscard]] Bunch open_bunch(std::uint32_t channel, NetGUID guid, std::uint64_t layout_number,
                               std::uint64_t facts = 0,
                               const std::function<void(BitWriter&)>& write_record = {});
[[nodiscard]] Bunch message_bunch(std::uint32_t channel, std::uint16_t sequence, Bytes message);
[[nodiscard]] Bunch close_bunch(std::uint32_t channel, std::uint16_t sequence,
                                ChannelCloseReason reason = ChannelCloseReason::Destroyed);
[[nodiscard]] Bunch value_bunch(std::uint32_t channel, std::uint16_t sequence, Bytes block);
[[nodiscard]] Bunch control_bunch(std::uint16_t sequence, Bytes message);
[[nodiscard]] Bytes welcome_bytes();
[[nodiscard]] Bytes goodbye_bytes(std::uint8_t reason);

/// A property block: `handles`, of `handle_count`, and behind them what `write_values` writes.
[[nodiscard]] Bytes make_block(std::uint32_t handle_count,
                               std::initializer_list<std::uint32_t> handles,
                               const std::function<void(BitWriter&)>& write_values);

/// A block in a packet, the first or one whose channel does not follow on the one before.
[[nodiscard]] Bytes block_of(std::uint32_t channel, const Bytes& block);
[[nodiscard]] Bytes block_with_length_of(std::uint32_t channel, const Bytes& block,
                                         bool more_parts_follow = false);

/// Numbers packets and acknowledges nothing, unless told otherwise.
class PacketForge {
  public:
    explicit PacketForge(std::uint16_t session) noexcept { header_.session = session; }

    /// The header of the next packet, but for its sequence and has_bunches.
    [[nodiscard]] PacketHeader& header() noexcept { return header_; }

    [[nodiscard]] Bytes make(const std::vector<Bunch>& bunches, const Bytes& blocks = {});
    /// The same with a payload that need not be one.
    [[nodiscard]] Bytes make_raw(bool has_bunches, std::span<const std::byte> payload);

  private:
    PacketHeader header_;
};

}  // namespace replayout::test
