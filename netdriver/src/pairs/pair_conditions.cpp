// SPDX-License-Identifier: MIT
#include "pair_conditions.h"

#include "regular_receiver.h"

namespace replayout {

bool PairConditions::are_regular_among(LifetimeConditionSet conditions,
                                       const ObjectOwnership& ownership) const noexcept {
    return (passing(ownership, false) & conditions) == (regular_conditions(ownership) & conditions);
}

bool PairConditions::shows(const ObjectOwnership& ownership, bool is_initial,
                           LifetimeCondition before, LifetimeCondition after) const noexcept {
    const ReplicationFlags flags = flags_of(ownership, is_initial);
    // What was sent only at first may be old by now.
    return passes(after, flags) && (!passes(before, flags) || is_initial_condition(before));
}

}  // namespace replayout
