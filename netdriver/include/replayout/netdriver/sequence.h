// SPDX-License-Identifier: MIT
//
// Sequence numbers: 64 bits in memory, where they never wrap and compare with <, and their low 16
// bits on the wire. A reader gets the rest back from a number that it knows to be near.
//
//     reference   ... 1 fff0                     the newest number seen so far
//     wire            0003                       16 bits out of a packet
//     candidates  1 0003    2 0003    3 0003     65536 apart
//     result                2 0003               0x13 ahead; the one before is 0xffed behind
#pragma once

#include <cstdint>

namespace replayout {

/// How many sequence numbers the wire can tell apart.
inline constexpr std::uint64_t wire_sequence_count = 0x10000;

/// The part of a sequence number that goes on the wire.
[[nodiscard]] constexpr std::uint16_t wire_sequence(std::uint64_t sequence) noexcept {
    return static_cast<std::uint16_t>(sequence & (wire_sequence_count - 1));
}

/// The sequence number nearest to `reference` whose low 16 bits are `wire`: 32768 behind to 32767
/// ahead of it. There are no numbers below 0, so close to the start the result may be further ahead
/// instead. Total over bytes from a peer: whether the result makes sense is the caller's question.
[[nodiscard]] constexpr std::uint64_t expand_sequence(std::uint64_t reference,
                                                      std::uint16_t wire) noexcept {
    const std::uint64_t ahead = wire_sequence(wire - reference);
    const std::uint64_t candidate = reference + ahead;
    const bool previous_is_nearer = ahead >= wire_sequence_count / 2;
    return previous_is_nearer && candidate >= wire_sequence_count ? candidate - wire_sequence_count
                                                                  : candidate;
}

}  // namespace replayout
