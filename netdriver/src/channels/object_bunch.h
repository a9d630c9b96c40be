// SPDX-License-Identifier: MIT
//
// A bunch of an object's channel is counted in the pair while it is queued or under way: the
// channel is free only when none is.
#pragma once

#include <replayout/netdriver/bunch.h>

#include "pair_extra.h"
#include "reliable_sender.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

/// The pair counts bunches of its channel that are queued now.
inline void add_bunches(SendingRepState& pair, std::uint32_t count) noexcept {
    REPLAYOUT_ASSERT(bunch_count(pair) + count <= bunch_count_max);
    pair.holder_bits = static_cast<std::uint16_t>(pair.holder_bits + count * one_bunch);
}

/// Returns how many bunches it takes; `sequence` is that of the first.
inline std::uint32_t queue_bunch(ReliableSender& reliable, SendingRepState& pair,
                                 const BunchHeader& header, std::uint16_t sequence,
                                 std::span<const std::byte> payload, const BunchTag& tag) {
    const std::uint32_t count = reliable.queue(header, sequence, payload, tag);
    add_bunches(pair, count);
    return count;
}

/// So many of them never went out.
inline void drop_bunches(SendingRepState& pair, std::uint32_t count) noexcept {
    REPLAYOUT_ASSERT(bunch_count(pair) >= count);
    pair.holder_bits = static_cast<std::uint16_t>(pair.holder_bits - count * one_bunch);
}

/// One of them was delivered.
inline void resolve_bunch(SendingRepState& pair) noexcept {
    REPLAYOUT_ASSERT(bunch_count(pair) > 0);
    pair.holder_bits = static_cast<std::uint16_t>(pair.holder_bits - one_bunch);
}

}  // namespace replayout
