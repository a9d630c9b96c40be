// SPDX-License-Identifier: MIT
#include "yardstick.h"

#include "naive_replicator.h"
#include "pawn_record.h"
#include "server_session.h"
#include "shared_once_replicator.h"
#include "stop_watch.h"

namespace replayout::bench {

namespace {

[[nodiscard]] std::unique_ptr<PawnReplicator> make_replicator(YardstickKind kind,
                                                              std::uint32_t pawn_count,
                                                              std::uint32_t connection_count,
                                                              Transport& transport) {
    if (kind == YardstickKind::NaivePoll || kind == YardstickKind::NaiveDirty) {
        return std::make_unique<NaiveReplicator>(pawn_count, connection_count, transport);
    }
    return std::make_unique<SharedOnceReplicator>(pawn_count, connection_count, transport);
}

}  // namespace

Yardstick::Yardstick(YardstickKind kind, std::uint32_t pawn_count, std::uint32_t connection_count,
                     std::uint64_t scene_seed)
    : kind_(kind),
      connection_count_(connection_count),
      scene_(pawn_count, scene_seed),
      replicator_(make_replicator(kind, pawn_count, connection_count, transport_)) {
    constexpr std::uint32_t last_ticks = PawnScene::period_ticks;
    for (std::uint32_t i = last_ticks; i < ServerSession::warm_up_ticks; ++i) {
        (void)scene_.advance();
    }
    replicator_->replicate(scene_.pawns());
    has_sent_first_ = replicator_->values_sent() ==
                      std::uint64_t{pawn_count} * pawn_property_count * connection_count;
    for (std::uint32_t i = 0; i < last_ticks; ++i) {
        (void)tick();
    }
    values_before_ = replicator_->values_sent();
    bytes_before_ = transport_.bytes;
}

Yardstick::TickCost Yardstick::tick() {
    TickCost cost;
    cost.changes = scene_.advance();
    const AllocationWatch allocations;
    const StopWatch watch;
    if (is_given_changes()) {
        replicator_->replicate(scene_.pawns(), scene_.changed());
    } else {
        replicator_->replicate(scene_.pawns());
    }
    cost.seconds = watch.seconds();
    cost.allocations = allocations.count();
    return cost;
}

// All values that change are of four bytes.
bool Yardstick::has_sent(const PawnChanges& changes) const noexcept {
    const std::uint64_t records = changes.pawns * connection_count_;
    const std::uint64_t values = changes.properties * connection_count_;
    return has_sent_first_ && values_sent() == values &&
           bytes_sent() == pawn_record_head_bytes * records + 4 * values;
}

bool Yardstick::is_given_changes() const noexcept {
    return kind_ == YardstickKind::NaiveDirty || kind_ == YardstickKind::SharedOnceDirty;
}

}  // namespace replayout::bench
