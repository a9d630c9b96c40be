// SPDX-License-Identifier: MIT
//
// What reading one message may cost: in proportion to its bytes, so that what all messages ask for
// is bounded by what was sent for them.
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/netdriver/net_config.h>

#include <cstddef>
#include <cstdint>

namespace replayout {

/// The largest message earns as much memory as a packet may ask for. Each byte earns a turn of a
/// loop for each of its bits, which is the least that a value takes, and so many steps of keyed
/// arrays that a message of 65,536 bytes, the default limit, earns about what a packet is granted.
/// Beyond what it earns in array steps its first array, or group of arrays, is taken all the same.
[[nodiscard]] inline DecodeBudget message_budget(const NetConfig& config,
                                                 std::size_t payload_bytes) noexcept {
    constexpr std::uint64_t steps_per_byte = 8;
    constexpr std::uint64_t array_steps_per_byte = 16;
    const std::uint64_t allocation_per_byte =
        config.decode_allocation_bytes_max / config.bunch_bytes_max;
    DecodeBudget earned;
    earned.allocation_bytes = payload_bytes * allocation_per_byte;
    earned.steps = payload_bytes * steps_per_byte;
    earned.array_steps = payload_bytes * array_steps_per_byte;
    return earned;
}

/// A value goes as a message when no packet holds it. One of less than half of that comes from no
/// sender of ours.
[[nodiscard]] inline bool is_small_message(const NetConfig& config,
                                           std::size_t payload_bytes) noexcept {
    return payload_bytes < config.packet_bytes_max / 2;
}

}  // namespace replayout
