// SPDX-License-Identifier: MIT
//
// What one connection is to the objects of its server, and so which of their properties it may see.
// When that changes, the connection is shown properties that it was not kept up to date with: of
// these it may hold any older value.
#pragma once

#include <replayout/netdriver/transport.h>
#include <replayout/object_conditions.h>
#include <replayout/reflection/lifetime_condition.h>
#include <replayout/replication_flags.h>

#include "object_store.h"

namespace replayout {

class PairConditions {
  public:
    explicit PairConditions(PeerId peer) noexcept : peer_(peer) {}

    /// What the connection is to an object with these facts. Not initial.
    [[nodiscard]] ReplicationFlags flags_for(const ObjectOwnership& ownership) const noexcept;
    /// The conditions that it meets. `is_initial`: the object is new to it.
    [[nodiscard]] LifetimeConditionSet passing(const ObjectOwnership& ownership,
                                               bool is_initial) const noexcept {
        return passing_conditions(flags_of(ownership, is_initial));
    }
    /// Whether the connection, to which the object is not new, meets the same conditions of its
    /// properties as most receivers do.
    [[nodiscard]] bool are_regular(const ServerObject& info) const noexcept {
        const LifetimeConditionSet conditions = info.changelist_state().layout().conditions();
        return conditions.is_trivial() || are_regular_among(conditions, info.ownership());
    }

    /// The connection records from now on instead of playing, or no longer does.
    void set_is_replay(bool is_replay) noexcept { is_replay_ = is_replay; }

    // What a change shows

    /// Calls `visit(RepRange)` for the handles of `info` that the connection may be sent by the
    /// facts `after`, and not by those `before`. What is sent only at first counts as not sent: it
    /// may be old by now, though a client that is to be sent some of it again meets its condition.
    template <typename Visitor>
    void for_each_shown(const ServerObject& info, const ObjectOwnership& before,
                        const ObjectOwnership& after, Visitor visit) const {
        info.changelist_state().conditions().for_each_turned_on(passing(before, false),
                                                                passing(after, false), visit);
    }
    /// The same when the connection itself becomes what `after` says.
    template <typename Visitor>
    void for_each_shown(const ServerObject& info, const PairConditions& after,
                        Visitor visit) const {
        info.changelist_state().conditions().for_each_turned_on(
            passing(info.ownership(), false), after.passing(info.ownership(), false), visit);
    }
    /// The same when the object is new to it once more, as far as the handles lie `within`.
    template <typename Visitor>
    void for_each_initial(const ServerObject& info, const RepRange& within, Visitor visit) const {
        info.changelist_state().conditions().for_each_turned_on(
            passing(info.ownership(), false), passing(info.ownership(), true), within, visit);
    }
    /// Whether a property shows whose condition becomes `after`, and was `before`.
    [[nodiscard]] bool shows(const ObjectOwnership& ownership, bool is_initial,
                             LifetimeCondition before, LifetimeCondition after) const noexcept;

  private:
    [[nodiscard]] bool are_regular_among(LifetimeConditionSet conditions,
                                         const ObjectOwnership& ownership) const noexcept;
    [[nodiscard]] ReplicationFlags flags_of(const ObjectOwnership& ownership,
                                            bool is_initial) const noexcept {
        ReplicationFlags flags = flags_for(ownership);
        flags.is_initial = is_initial;
        return flags;
    }

    PeerId peer_;
    bool is_replay_ = false;
};

inline ReplicationFlags PairConditions::flags_for(const ObjectOwnership& ownership) const noexcept {
    ReplicationFlags flags;
    flags.is_owner = ownership.has_owner && ownership.owner == peer_;
    flags.is_simulated = !(flags.is_owner && ownership.is_autonomous);
    flags.is_replay = is_replay_;
    flags.has_physics = ownership.has_physics;
    return flags;
}

}  // namespace replayout
