// SPDX-License-Identifier: MIT
//
// A replicator that is written by hand, with a scene of its own, ready for tick after tick of the
// same changes that a ServerSession plays.
#pragma once

#include "dropping_transport.h"
#include "pawn.h"
#include "pawn_replicator.h"

#include <cstdint>
#include <memory>
#include <string>

namespace replayout::bench {

enum class YardstickKind : std::uint8_t {
    NaivePoll,        ///< a shadow for each connection, all pawns compared with each
    NaiveDirty,       ///< the same, told which pawns changed
    SharedOncePoll,   ///< one shadow, all pawns compared with it, one record for all connections
    SharedOnceDirty,  ///< the same, told which pawns changed
};

class Yardstick {
  public:
    struct TickCost {
        double seconds = 0;
        std::uint64_t allocations = 0;
        PawnChanges changes;
    };

    /// Its scene has played as many ticks as that of a ServerSession that is ready.
    Yardstick(YardstickKind kind, std::uint32_t pawn_count, std::uint32_t connection_count,
              std::uint64_t scene_seed);

    /// The clock runs for the replicator alone.
    TickCost tick();

    /// What was sent since it is ready: so many records and values, and the bytes of these.
    [[nodiscard]] bool has_sent(const PawnChanges& changes) const noexcept;
    /// Since it is ready, by receiver.
    [[nodiscard]] std::uint64_t values_sent() const noexcept {
        return replicator_->values_sent() - values_before_;
    }
    [[nodiscard]] std::uint64_t bytes_sent() const noexcept {
        return transport_.bytes - bytes_before_;
    }

  private:
    [[nodiscard]] bool is_given_changes() const noexcept;

    YardstickKind kind_;
    std::uint32_t connection_count_;
    PawnScene scene_;
    DroppingTransport transport_;
    std::unique_ptr<PawnReplicator> replicator_;
    std::uint64_t values_before_ = 0;
    std::uint64_t bytes_before_ = 0;
    bool has_sent_first_ = false;  // all values of all pawns, to everyone
};

}  // namespace replayout::bench
