// SPDX-License-Identifier: MIT
//
// What a game programmer writes by hand for the class Pawn, and the first yardstick of the
// benchmarks: a shadow copy of every pawn for every connection. Each tick, for each connection, the
// pawns are compared with their shadows, and what differs goes out.
#pragma once

#include "support/replicators/pawn_record.h"
#include "support/replicators/pawn_replicator.h"

#include <replayout/netdriver/transport.h>

#include <array>
#include <vector>

namespace replayout::bench {

class NaiveReplicator final : public PawnReplicator {
  public:
    /// `transport` must outlive the replicator.
    NaiveReplicator(std::uint32_t pawn_count, std::uint32_t connection_count, Transport& transport);

    void replicate(std::span<const Pawn> pawns) override;
    void replicate(std::span<const Pawn> pawns, std::span<const std::uint32_t> changed) override;

    [[nodiscard]] std::uint64_t values_sent() const noexcept override { return values_sent_; }

  private:
    class Packets;

    struct Connection {
        PeerId peer;
        std::vector<PawnShadow> shadows;
        // A record is written first and found too much afterwards.
        std::array<std::byte, packet_bytes_max + pawn_record_bytes_max> packet;
    };

    Transport& transport_;
    std::vector<Connection> connections_;
    std::uint64_t values_sent_ = 0;
};

}  // namespace replayout::bench
