// SPDX-License-Identifier: MIT
#include "support/workloads/pawn_workload.h"

#include <replayout/changelist_history.h>

#include <string_view>

namespace replayout::bench {

PawnWorkload::PawnWorkload(std::uint32_t count, bool is_push_based, std::uint64_t scene_seed)
    : layout_(is_push_based ? declare_push_based_pawn : declare_pawn),
      scene_(count, scene_seed),
      is_push_based_(is_push_based),
      error_(layout_.error()) {
    if (!error_.empty()) {
        return;
    }
    if (layout().handle_count() != pawn_property_count) {
        error_ = "the class Pawn has not as many handles as it has properties";
        return;
    }
    constexpr std::array<std::string_view, pawn_transform_count> names = {"px", "py", "pz", "qx",
                                                                          "qy", "qz", "qw"};
    transform_ = layout_.parents(names);
    health_ = layout().find_parent("health").value();
}

Changes PawnWorkload::advance(std::uint32_t connection_count) {
    const PawnChanges changes = scene_.advance();
    return owed_to_all(changes.pawns, changes.properties, connection_count);
}

// A pawn changes in every fifth tick.
std::uint32_t PawnWorkload::ticks_until_warm() const noexcept {
    return 6 * ChangelistHistory::count_max;
}

void PawnWorkload::mark(NetDriver& driver, std::span<const NetObjectId> ids) {
    const PawnRange moved = scene_.moved();
    for (std::uint32_t i = moved.first; i < moved.end(); ++i) {
        for (const ParentIndex property : transform_) {
            driver.mark_property_dirty(ids[i], property);
        }
    }
    const PawnRange hurt = scene_.hurt();
    for (std::uint32_t i = hurt.first; i < hurt.end(); ++i) {
        driver.mark_property_dirty(ids[i], health_);
    }
}

}  // namespace replayout::bench
