// SPDX-License-Identifier: MIT
//
// The world of one or several recordings as far as their ops were applied: the objects with their
// values, and who is live and which fields were ever set. A server replicates it; clients of
// another process play it beside what they are sent, to know what that should be.
#pragma once

#include "match/battle/match_world.h"
#include "match/judge/end_state.h"

#include <cstdint>
#include <span>
#include <vector>

namespace replayout::match {

/// Something that an op did.
struct RecordedChange {
    OpKind kind = OpKind::Set;
    ObjectHandle handle;
    const MatchObject& object;  ///< behind a spawn or a set, before a destroy
    std::size_t field = 0;      ///< of a set, by its index
};

class RecordedWorld {
  public:
    /// Both are on loan for the life of this object.
    RecordedWorld(std::span<const Recording> recordings, const MatchSchema& schema);

    /// Ticks of the longest recording.
    [[nodiscard]] std::uint64_t tick_count() const noexcept;

    /// One tick of all recordings; `tell` is called with a RecordedChange for each op.
    template <typename Tell>
    void apply_tick(std::uint64_t tick, Tell&& tell) {
        for (std::uint32_t index = 0; index < recordings_.size(); ++index) {
            if (tick >= recordings_[index].tick_count()) {
                continue;
            }
            for (const Op& op : recordings_[index].ops_of_tick(tick)) {
                const ObjectHandle handle = schema_.server_handle(index, op.object);
                if (op.kind != OpKind::Destroy) {
                    apply(index, op);
                }
                tell(RecordedChange{op.kind, handle, *world_.find(handle), op.class_or_field});
                if (op.kind == OpKind::Destroy) {
                    apply(index, op);
                }
            }
        }
    }

    [[nodiscard]] MatchWorld& world() noexcept { return world_; }
    [[nodiscard]] const MatchWorld& world() const noexcept { return world_; }
    [[nodiscard]] const MatchSchema& schema() const noexcept { return schema_; }
    [[nodiscard]] std::span<const Recording> recordings() const noexcept { return recordings_; }
    /// By recording.
    [[nodiscard]] const std::vector<EndState>& end_states() const noexcept { return end_states_; }

  private:
    void apply(std::uint32_t recording_index, const Op& op);

    std::span<const Recording> recordings_;
    const MatchSchema& schema_;
    MatchWorld world_;
    std::vector<EndState> end_states_;
};

}  // namespace replayout::match
