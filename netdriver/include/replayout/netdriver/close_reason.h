// SPDX-License-Identifier: MIT
//
// Why a connection ended. One enum, one phrase each; the number travels in the goodbye and is
// counted on both sides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace replayout {

/// The order is part of the wire: append only.
enum class CloseReason : std::uint8_t {
    None,       ///< not closed
    Requested,  ///< this side or the other asked for it
    Timeout,    ///< nothing was heard for too long, or what was sent not acknowledged
    Replaced,   ///< the same peer started a new session
    ServerFull,
    WireVersion,      ///< the other side speaks another version of the protocol
    LayoutMismatch,   ///< the two sides disagree about a type
    MalformedPacket,  ///< bytes that no peer of ours sends
    MalformedBunch,
    MalformedBlock,    ///< property data that breaks its layout or a limit
    NotAllowed,        ///< well-formed, but not this side's to send
    InvalidAck,        ///< an ack of a packet that was never sent
    UnknownChannel,    ///< a block or a call on a channel that is not open
    ReliableOverflow,  ///< more reliable data out of order than may wait
    TooManyChannels,
    TooManyReferences,
    TooManyLayouts,   ///< descriptions of layouts beyond what a client takes
    UnknownFunction,  ///< a client called what is not there, or is not its to call
    CallRefused,      ///< a function's own validation refused a client's call
    TooManyCalls,     ///< reliable calls of a client beyond its rate
    CallsStalled,     ///< a client did not take the reliable calls that wait for it
    TooMuchMemory,    ///< the arrays and texts of all objects are beyond a client's limit
};

inline constexpr std::size_t close_reason_count = 22;

/// Stable lower-case English phrase ("layout mismatch").
[[nodiscard]] std::string_view to_string(CloseReason reason) noexcept;

}  // namespace replayout
