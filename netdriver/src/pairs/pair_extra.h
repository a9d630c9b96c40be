// SPDX-License-Identifier: MIT
//
// What a connection's sender keeps of one object: what it puts into the holder bits of the pair,
// and what lies beside a pair where it is needed.
#pragma once

#include <replayout/in_flight_versions.h>
#include <replayout/left_out_values.h>
#include <replayout/lost_parts.h>
#include <replayout/owed_versions.h>
#include <replayout/paused_values.h>
#include <replayout/send_properties.h>
#include <replayout/sending_rep_state.h>

#include "channel_order.h"
#include "complete_versions.h"
#include "state_ahead.h"

#include <cstdint>

namespace replayout {

enum class ChannelState : std::uint8_t { Closed, OpenSent, Open, Closing };

// SendingRepState::holder_bits: the low two bits are the channel's state, the third says that the
// object is new to the connection, the others count the channel's bunches that are not delivered.
// That is 13 bits, so 8,191 of them (bunch_count_max); a value of the largest size takes 58.
inline constexpr std::uint16_t channel_state_mask = 3;
inline constexpr std::uint16_t initial_bit = 4;
inline constexpr std::uint16_t one_bunch = 8;
inline constexpr std::uint32_t bunch_count_max = 0xFFFFu >> 3;  // of one pair

[[nodiscard]] inline ChannelState channel_state(const SendingRepState& pair) noexcept {
    return static_cast<ChannelState>(pair.holder_bits & channel_state_mask);
}

inline void set_channel_state(SendingRepState& pair, ChannelState state) noexcept {
    pair.holder_bits = static_cast<std::uint16_t>((pair.holder_bits & ~channel_state_mask) |
                                                  static_cast<std::uint16_t>(state));
}

/// What is sent only at first has not been sent, or was lost.
[[nodiscard]] inline bool is_initial(const SendingRepState& pair) noexcept {
    return (pair.holder_bits & initial_bit) != 0;
}

inline void set_initial(SendingRepState& pair, bool is_initial) noexcept {
    pair.holder_bits = static_cast<std::uint16_t>((pair.holder_bits & ~initial_bit) |
                                                  (is_initial ? initial_bit : 0));
}

/// Bunches of the channel that are queued or under way.
[[nodiscard]] inline std::uint32_t bunch_count(const SendingRepState& pair) noexcept {
    return pair.holder_bits / one_bunch;
}

/// Until its open is acknowledged, a client may have to skip a block of the channel.
[[nodiscard]] inline bool block_has_length(const SendingRepState& pair) noexcept {
    return channel_state(pair) == ChannelState::OpenSent;
}

/// Beside a pair, where needed.
struct PairExtra {
    PairExtra(std::uint16_t sequence_behind_open, MemoryResource* resource)
        : lost_parts(resource),
          next_sequence(sequence_behind_open),
          order(resource),
          paused(resource),
          left_out(resource),
          in_flight(resource),
          complete(resource) {}

    /// Nothing of it bears upon what is owed.
    [[nodiscard]] bool is_at_rest() const noexcept {
        return paused.is_empty() &&
               left_out.is_empty();  // of parts nobody asks, if nothing is lost
    }
    /// No value is under way: if all of the state that a call waits for was sent, it has arrived.
    void end_state_ahead() noexcept {
        if (ahead.is_all_sent()) {
            complete.arrived(ahead.version());
            ahead.stop();
        }
    }
    /// Of a message of the channel, which goes out now.
    [[nodiscard]] std::uint16_t take_message_sequence() {
        order.message_queued(next_sequence);
        return next_sequence++;
    }

    LostParts lost_parts;
    std::uint16_t next_sequence;  ///< of the channel's bunches, behind the open
    ChannelOrder order;
    PausedValues paused;
    Version waited_since = 0;  ///< of values whose turn it is, the first of them; else 0
    LeftOutValues left_out;
    InFlightVersions in_flight;  ///< of layouts that need to know
    /// While bundles of `held_flush` or before are under way, of which in_flight has no record:
    /// up to which version all has arrived.
    Version held_max = 0;
    std::uint64_t held_flush = 0;
    CompleteVersions complete;    ///< where a call meant the object
    StateAhead ahead;             ///< where a call waits for the object
    Version joined_version = 0;   ///< of keyed arrays: the object's when its channel was opened
    Version restart_version = 0;  ///< likewise when they began anew, see OwedVersions
    RepCursor rest;               ///< where an object goes on that found room for some parts alone
    /// A value that is sent only at first was lost, and may lie before where the object goes on.
    bool is_initial_lost = false;
};

}  // namespace replayout
