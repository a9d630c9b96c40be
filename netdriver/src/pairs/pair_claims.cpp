// SPDX-License-Identifier: MIT
#include "pair_claims.h"

#include <replayout/reflection/diagnostics.h>

namespace replayout {

PairClaims::PairClaims(const ObjectStore& objects, ConnectionPairs& pairs,
                       const WaitingValues& values, SendContext& context, MemoryResource* resource)
    : objects_(objects), pairs_(pairs), values_(values), context_(context), hidden_(resource) {}

void PairClaims::check_touched() {
    PairValidator* validator = pairs_.validator();
    REPLAYOUT_ASSERT(validator != nullptr);
    for (ObjectIndex index = validator->take_touched(); index != BitRow::no_bit;
         index = validator->take_touched()) {
        if (pairs_.dormancy().frozen.test(index)) {
            continue;  // no value of it is sent any more
        }
        if (pairs_.dormancy().awaits_outer.test(index)) {
            continue;  // the client throws its blocks away meanwhile, and they are owed again
        }
        check(index, *validator);
    }
}

void PairClaims::check(ObjectIndex index, PairValidator& validator) {
    ChangeMask& excused = context_.scratch.owed;
    const ChangelistState& state = objects_.at(index)->changelist_state();
    const LifetimeConditionSet passing = pairs_.passing_of(index);
    state.collect_owed(pairs_.position_of(index), passing, excused);
    if (const DeltaStates* deltas = pairs_.deltas_of(pairs_.ref(index))) {
        deltas->remove_held(state, excused);
    }
    hidden_.reset(state.layout().handle_count());
    state.conditions().add_hidden(passing, hidden_);
    const PairExtra* extra = pairs_.find_extra(index);
    PairValidator::Claim claim;
    claim.state = pairs_[index];
    claim.state.in_flight =
        static_cast<std::uint16_t>(claim.state.in_flight + pairs_.bundles_with(index));
    claim.is_open = channel_state(claim.state) == ChannelState::Open;
    if (extra != nullptr) {
        extra->paused.add_to(excused);
        claim.paused_count = extra->paused.count();
    }
    claim.has_unmapped_values = values_.mark_unmapped(index, excused);
    validator.check(index, claim, excused, hidden_);
}

}  // namespace replayout
