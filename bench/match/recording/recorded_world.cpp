// SPDX-License-Identifier: MIT
#include "match/recording/recorded_world.h"

#include <algorithm>

namespace replayout::match {

RecordedWorld::RecordedWorld(std::span<const Recording> recordings, const MatchSchema& schema)
    : recordings_(recordings), schema_(schema), world_(schema) {
    for (const Recording& recording : recordings_) {
        end_states_.emplace_back(recording);
    }
}

std::uint64_t RecordedWorld::tick_count() const noexcept {
    std::uint64_t count = 0;
    for (const Recording& recording : recordings_) {
        count = std::max<std::uint64_t>(count, recording.tick_count());
    }
    return count;
}

void RecordedWorld::apply(std::uint32_t recording_index, const Op& op) {
    const ObjectHandle handle = schema_.server_handle(recording_index, op.object);
    end_states_[recording_index].apply(op);
    switch (op.kind) {
        case OpKind::Spawn:
            world_.add(handle, schema_.find(recording_index, op.class_or_field));
            return;
        case OpKind::Destroy:
            world_.remove(handle);
            return;
        case OpKind::Set:
            world_.set(recording_index, recordings_[recording_index], op);
            return;
    }
}

}  // namespace replayout::match
