// SPDX-License-Identifier: MIT
//
// Why a recording could not be made or played.
#pragma once

#include <cstdint>
#include <string_view>

namespace replayout {

enum class ReplayError : std::uint8_t {
    None,
    WriteFailed,      ///< the sink refused bytes; nothing is recorded from then on
    ConnectionEnded,  ///< the server gave the recording up (NetStats::closed, the log)
    ReadFailed,       ///< the source gave fewer bytes than it has
    NotAReplay,       ///< it does not begin as a recording does
    UnknownVersion,   ///< of another version of the file format
    WireVersion,      ///< its packets are of another version of the wire
    LayoutMismatch,   ///< its classes are not ours, and may not be, or cannot be read
    Empty,            ///< it ends before there is anything to show
    Corrupt,          ///< a part of it is not what was written there
    Refused,          ///< it is whole, and holds what no server sends (ReplayPlayer::close_reason)
    TooLong,          ///< it has lasted 50 days, or is 36,000 years from its clock's origin
    Misused,          ///< the player was called wrongly; the log says what to do
};

/// Stable lower-case English phrase ("not a replay").
[[nodiscard]] std::string_view to_string(ReplayError error) noexcept;

}  // namespace replayout
