// SPDX-License-Identifier: MIT
//
// What a replicator of pawns that is written by hand looks like to who measures it.
//
//     packet    record, record, ...             at most 1,200 bytes, records are not cut
//
// The peers are 2 to the number of connections + 1. None does what the library does besides: no
// packet headers, no acks and no repeats after a loss, no spawning, one class only. They are bounds
// and no replacements.
#pragma once

#include "support/workloads/pawn.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout::bench {

class PawnReplicator {
  public:
    static constexpr std::size_t packet_bytes_max = 1'200;
    static constexpr std::uint64_t first_peer = 2;

    virtual ~PawnReplicator() = default;

    /// One tick: looks at every pawn. As many as there have always been.
    virtual void replicate(std::span<const Pawn> pawns) = 0;
    /// One tick: looks at these alone, since the game knows that no other one changed.
    virtual void replicate(std::span<const Pawn> pawns, std::span<const std::uint32_t> changed) = 0;

    /// Values sent so far, by receiver.
    [[nodiscard]] virtual std::uint64_t values_sent() const noexcept = 0;
};

}  // namespace replayout::bench
