// SPDX-License-Identifier: MIT
//
// The second yardstick, and the bound of the design: where all connections agree on everything, a
// pawn is compared once, with one shadow, a record is written once, and what scales with
// connections is a copy. Nobody who loses a packet, joins late or sees something else is served by
// it.
//
//     payloads    packet 0 | packet 1 | ...     written once a tick, and copied one by one into the
//     buffer      packet                        of each connection, from where they are sent
#pragma once

#include "support/replicators/packet_buffers.h"
#include "support/replicators/pawn_record.h"
#include "support/replicators/pawn_replicator.h"

#include <replayout/netdriver/transport.h>

#include <vector>

namespace replayout::bench {

class SharedOnceReplicator final : public PawnReplicator {
  public:
    /// `transport` must outlive the replicator.
    SharedOnceReplicator(std::uint32_t pawn_count, std::uint32_t connection_count,
                         Transport& transport);

    void replicate(std::span<const Pawn> pawns) override;
    void replicate(std::span<const Pawn> pawns, std::span<const std::uint32_t> changed) override;

    [[nodiscard]] std::uint64_t values_sent() const noexcept override { return values_sent_; }

  private:
    class Payloads;

    void send(const Payloads& payloads);

    Transport& transport_;
    std::vector<PawnShadow> shadows_;
    std::vector<std::byte> payloads_;
    std::vector<std::uint32_t> packet_bytes_;  // of the payloads, in their order
    PacketBuffers buffers_;
    std::uint64_t values_sent_ = 0;
};

}  // namespace replayout::bench
