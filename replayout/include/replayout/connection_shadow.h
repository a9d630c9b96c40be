// SPDX-License-Identifier: MIT
//
// What one receiver has and lacks of one object: the public view of a pair. It holds no values of
// its own; they come out of the object's history, shared by all receivers.
//
//     const auto shadow = driver.connection_shadow(peer, pawn_id);
//     if (shadow && shadow->is_exact() && !shadow->owes(health)) { ... }
#pragma once

#include <replayout/changelist_state.h>

namespace replayout {

/// A view, on loan: valid until the object or the pair changes.
class ConnectionShadow {
  public:
    /// A receiver in this position of the object's versions. `position.is_exact` must say whether
    /// it is exact indeed.
    ConnectionShadow(const ChangelistState& object, const OwedVersions& position,
                     LifetimeConditionSet passing) noexcept
        : object_(&object), position_(position), passing_(passing) {}

    /// Nothing is lost or under way, so what the receiver holds is known.
    [[nodiscard]] bool is_exact() const noexcept { return position_.is_exact; }

    /// Whether the value at `handle`, one of the object's own, is to be sent. What was taken to be
    /// sent counts as sent, so this is false for what parts under way still hold and for what is
    /// paused or left out; ObjectReplicator::owes_any() may be true all the same.
    [[nodiscard]] bool owes(RepHandle handle) const noexcept;

    /// The value that the receiver holds, in shadow form (shadow_state.h). Null when it is not
    /// known: not exact, hidden from this receiver, or older than what is kept of the property; of
    /// a dynamic array also when it changed since.
    [[nodiscard]] ConstShadowBuffer held(RepHandle handle) const noexcept;

    // For people, see dump.h.

    [[nodiscard]] const ChangelistState& object() const noexcept { return *object_; }
    [[nodiscard]] const OwedVersions& position() const noexcept { return position_; }
    /// The conditions that the receiver meets.
    [[nodiscard]] LifetimeConditionSet passing() const noexcept { return passing_; }

  private:
    const ChangelistState* object_;
    OwedVersions position_;
    LifetimeConditionSet passing_;
};

}  // namespace replayout
