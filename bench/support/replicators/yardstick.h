// SPDX-License-Identifier: MIT
//
// A replicator that is written by hand, with a scene of its own, ready for tick after tick of the
// same changes that a server is given.
#pragma once

#include "support/dropping_transport.h"
#include "support/replicators/pawn_replicator.h"
#include "support/workloads/pawn.h"

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

struct YardstickSettings {
    YardstickKind kind = YardstickKind::NaivePoll;
    std::uint32_t pawns = 1'000;  ///< a multiple of 50
    std::uint32_t connections = 1;
    std::uint64_t scene_seed = 1;
    /// That its scene has played when it is ready; 50 at least.
    std::uint32_t ticks_played = PawnScene::period_ticks;
};

class Yardstick {
  public:
    struct TickCost {
        double seconds = 0;
        std::uint64_t allocations = 0;
        PawnChanges changes;
    };

    explicit Yardstick(const YardstickSettings& settings);
    Yardstick(const Yardstick&) = delete;
    Yardstick& operator=(const Yardstick&) = delete;

    [[nodiscard]] std::uint32_t connection_count() const noexcept { return settings_.connections; }
    /// See PawnScene.
    void set_moving_count(std::uint32_t moving_count) { scene_.set_moving_count(moving_count); }
    /// What was sent until now is not asked for below. Nor is what was sent until it was ready.
    void count_from_here() noexcept;

    /// The clock runs for the replicator alone.
    TickCost tick();

    /// What was sent since then: so many records and values, and the bytes of these.
    [[nodiscard]] bool has_sent(const PawnChanges& changes) const noexcept;
    /// Likewise, by receiver.
    [[nodiscard]] std::uint64_t values_sent() const noexcept {
        return replicator_->values_sent() - values_before_;
    }
    [[nodiscard]] std::uint64_t bytes_sent() const noexcept {
        return transport_.bytes - bytes_before_;
    }

  private:
    [[nodiscard]] bool is_given_changes() const noexcept;

    YardstickSettings settings_;
    PawnScene scene_;
    DroppingTransport transport_;
    std::unique_ptr<PawnReplicator> replicator_;
    std::uint64_t values_before_ = 0;
    std::uint64_t bytes_before_ = 0;
    bool has_sent_first_ = false;  // all values of all pawns, to everyone
};

}  // namespace replayout::bench
