// SPDX-License-Identifier: MIT
//
// What most receivers are to an object: neither its owner, nor new to it, nor a recording, and sent
// everything up to the version before the newest one. Bundles are laid down for such receivers.
#pragma once

#include <replayout/changelist_state.h>
#include <replayout/owed_versions.h>
#include <replayout/rep_layout.h>
#include <replayout/replication_flags.h>

#include "object_store.h"

namespace replayout {

/// The conditions that such a receiver meets of an object with these facts.
[[nodiscard]] inline LifetimeConditionSet regular_conditions(
    const ObjectOwnership& ownership) noexcept {
    ReplicationFlags flags;
    flags.is_simulated = true;
    flags.has_physics = ownership.has_physics;
    return passing_conditions(flags);
}

/// Whether objects of that layout may have regular pairs: what such a pair is owed depends on
/// versions alone, and on whether the last pivot has arrived (ChangelistState::pivots).
[[nodiscard]] inline bool may_be_regular(const RepLayout& layout) noexcept {
    return layout.is_fully_shared() && !layout.has_groups_of_arrays() &&
           !layout.has_delta_structs();
}

/// Up to which version a regular pair holds everything for certain when `version` is about to be
/// sent, as far as that makes a difference: the last pivot before it.
[[nodiscard]] inline Version held_before_regular(const ChangelistState& state,
                                                 Version version) noexcept {
    const ChangelistState::Pivots pivots = state.pivots();
    return pivots.newest < version ? pivots.newest : pivots.before;
}

/// What a pair is owed that was sent the version before the newest one, and lost nothing since.
[[nodiscard]] inline OwedVersions position_before_newest(const ChangelistState& state) noexcept {
    OwedVersions position;
    position.sent_version = state.version() - 1;
    position.held_version = state.layout().needs_held_version()
                                ? held_before_regular(state, state.version())
                                : Version{0};
    return position;
}

}  // namespace replayout
