// SPDX-License-Identifier: MIT
#include "support/replicators/yardstick.h"

#include "support/replicators/naive_replicator.h"
#include "support/replicators/pawn_record.h"
#include "support/replicators/shared_once_replicator.h"
#include "support/stop_watch.h"

#include <replayout/reflection/diagnostics.h>

namespace replayout::bench {

namespace {

[[nodiscard]] std::unique_ptr<PawnReplicator> make_replicator(const YardstickSettings& settings,
                                                              Transport& transport) {
    if (settings.kind == YardstickKind::NaivePoll || settings.kind == YardstickKind::NaiveDirty) {
        return std::make_unique<NaiveReplicator>(settings.pawns, settings.connections, transport);
    }
    return std::make_unique<SharedOnceReplicator>(settings.pawns, settings.connections, transport);
}

}  // namespace

Yardstick::Yardstick(const YardstickSettings& settings)
    : settings_(settings),
      scene_(settings.pawns, settings.scene_seed),
      replicator_(make_replicator(settings, transport_)) {
    constexpr std::uint32_t last_ticks = PawnScene::period_ticks;
    REPLAYOUT_ASSERT(settings.ticks_played >= last_ticks);
    for (std::uint32_t i = last_ticks; i < settings.ticks_played; ++i) {
        (void)scene_.advance();
    }
    replicator_->replicate(scene_.pawns());
    has_sent_first_ = replicator_->values_sent() ==
                      std::uint64_t{settings.pawns} * pawn_property_count * settings.connections;
    for (std::uint32_t i = 0; i < last_ticks; ++i) {
        (void)tick();
    }
    count_from_here();
}

void Yardstick::count_from_here() noexcept {
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
    const std::uint64_t records = changes.pawns * settings_.connections;
    const std::uint64_t values = changes.properties * settings_.connections;
    return has_sent_first_ && values_sent() == values &&
           bytes_sent() == pawn_record_head_bytes * records + 4 * values;
}

bool Yardstick::is_given_changes() const noexcept {
    return settings_.kind == YardstickKind::NaiveDirty ||
           settings_.kind == YardstickKind::SharedOnceDirty;
}

}  // namespace replayout::bench
