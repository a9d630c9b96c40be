// SPDX-License-Identifier: MIT
//
// A bunch: what a channel sends reliably. Opens, closes, control messages, values too large for a
// packet, calls. A payload larger than a fragment travels as partial bunches with consecutive
// sequences; all fragments but the last are full.
//
//     packed   channel      0: control; else the object's channel
//     u8       flags        bit 0 open, 1 close, 2 partial, 3 first of the parts,
//                           4 last of the parts, 5 call, 6 unreliable, 7 message
//     u16      sequence     of the channel, low 16 bits; not of what is sent once, and not of an
//                           open, which is the first of its channel
//     packed   byte count   of the payload
//     ...      payload
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/bit_writer.h>

#include <cstddef>
#include <cstdint>

namespace replayout {

/// Names a channel of a connection. 0 is the control channel; an object's is its index + 1, the
/// same for all connections, so that shared bytes can hold it.
struct ChannelIndex {
    std::uint32_t value = 0;

    [[nodiscard]] constexpr bool is_control() const noexcept { return value == 0; }
    friend constexpr auto operator<=>(ChannelIndex, ChannelIndex) noexcept = default;
};

struct BunchHeader {
    ChannelIndex channel;
    bool is_open = false;
    bool is_close = false;
    bool is_partial = false;
    bool is_partial_initial = false;
    bool is_partial_final = false;
    bool is_call = false;        ///< of a remote function; counted apart from the other bunches
    bool is_unreliable = false;  ///< of a call: one that is not in parts is sent once
    bool is_message = false;     ///< about the object; its first byte says which
    std::uint16_t sequence = 0;  ///< low 16 bits
    std::uint32_t payload_bytes = 0;

    /// It is counted, kept and sent again when it is lost. The parts of an unreliable call are.
    [[nodiscard]] constexpr bool has_sequence() const noexcept {
        return !is_unreliable || is_partial;
    }
    /// Its sequence is written. That of an open is not: it is always the first of its channel.
    [[nodiscard]] constexpr bool writes_sequence() const noexcept {
        return has_sequence() && !is_open;
    }
};

/// Bytes of the longest header: channel, flags, sequence, byte count.
inline constexpr std::size_t bunch_header_bytes_max = 5 + 1 + 2 + 5;
/// Likewise of a call, or a part of one: no larger than a packet, so that its byte count takes two.
inline constexpr std::size_t call_header_bytes_max = 5 + 1 + 2 + 2;

/// Payload of one fragment, such that a packet has room for one: 192 bytes of the smallest packet,
/// which has 256. Both ends must cut alike, so this is part of the wire format.
[[nodiscard]] constexpr std::size_t fragment_bytes(std::size_t packet_bytes_max) noexcept {
    // What PacketBuilder reserves, and a bunch header: 54 at most, rounded up.
    constexpr std::size_t overhead_bytes = 64;
    return packet_bytes_max - overhead_bytes;
}

[[nodiscard]] std::size_t bunch_header_bytes(const BunchHeader& header) noexcept;
void write_bunch_header(BitWriter& writer, const BunchHeader& header) noexcept;

/// The reader, at a byte boundary, fails on reserved bits, on flags that exclude each other, and on
/// a payload that goes beyond its end. The sequence of an open is 0, whatever the first one is.
[[nodiscard]] BunchHeader read_bunch_header(BitReader& reader) noexcept;

}  // namespace replayout
