// SPDX-License-Identifier: MIT
#include "connection_pairs.h"

#include <utility>

#include "table_growth.h"

namespace replayout {

ConnectionPairs::ConnectionPairs(const ObjectStore& objects, const FlushChanges& changes,
                                 PacketStream& packets, PeerId peer, MemoryMeters& memory)
    : objects_(objects),
      changes_(changes),
      packets_(packets),
      pairs_(Allocator<SendingRepState>(&memory.pairs)),
      regular_(&memory.pairs),
      conditions_(peer),
      resource_(&memory.pairs),
      validation_resource_(&memory.validation),
      pending_(resource_),
      ordered_(resource_),
      tracked_(resource_),
      opening_(resource_),
      closing_(resource_),
      extras_(resource_),
      deltas_(Allocator<std::pair<ObjectIndex, DeltaStates>>(resource_)),
      dormancy_(resource_) {}

void ConnectionPairs::start_validating(const NetGUIDCache& guids) {
    validator_.emplace(objects_, guids, validation_resource_);
}

void ConnectionPairs::grow() {
    if (pairs_.size() < objects_.slot_count()) {
        grow_table(pairs_, objects_.slot_count(), SendingRepState());
        pending_.grow(objects_.slot_count());
        regular_.grow(objects_.slot_count());
        opening_.grow(objects_.slot_count());
        closing_.grow(objects_.slot_count());
        dormancy_.resting_words.grow(static_cast<std::uint32_t>(regular_.row().word_count()));
    }
}

PairExtra& ConnectionPairs::extra_of(ObjectIndex index) {
    if (PairExtra* const extra = find_extra(index)) {
        return *extra;
    }
    return extras_.add(index, PairExtra(packets_.sequence_behind_open(), resource_));
}

CompleteVersions* ConnectionPairs::tracked(ObjectIndex index) noexcept {
    return tracked_.test(index) ? &find_extra(index)->complete : nullptr;
}

CompleteVersions& ConnectionPairs::track(ObjectIndex index) {
    PairExtra& extra = extra_of(index);
    if (!extra.complete.is_tracking()) {
        const std::uint32_t bundles = bundles_with(index);
        extra.complete.begin(std::uint32_t{(*this)[index].in_flight} + bundles -
                             extra.paused.count());
        tracked_.insert(index);
        ++tracked_count_;
        packets_.sent().add_accounted(bundles);
    }
    return extra.complete;
}

void ConnectionPairs::erase_extra(ObjectIndex index) noexcept {
    if (!extras_.contains(index)) {
        return;
    }
    if (tracked_.test(index)) {
        packets_.sent().take_accounted(bundles_with(index));
        tracked_.clear(index);
        --tracked_count_;
    }
    extras_.erase(index);
}

void ConnectionPairs::mark_changed() {
    grow();
    if (are_all_regular()) {
        // Most often, of who sees everything.
        regular_.note_changed(changes_.has_any(), true);
        return;
    }
    const bool may_be_late = has_opening();
    // All of these are as long as the store has slots.
    const std::uint64_t* const changed_words = changes_.objects.words().data();
    const std::uint64_t* const regular_words = regular_.row().words().data();
    const std::uint64_t* const opening_words = opening_.words().data();
    std::uint64_t regular = 0;
    std::uint64_t others = 0;
    std::size_t visited = 0;
    for_each_stirring_word(changes_, [&](std::uint32_t word) {
        const std::uint64_t changed = changed_words[word];
        std::uint64_t among = changed & regular_words[word];
        if (may_be_late) {
            if (std::uint64_t late = among & opening_words[word];
                late != 0 && (late &= ~changes_.young.word(word)) != 0) {
                leave_late(word, late);
                among ^= late;
            }
        }
        regular |= among;
        ++visited;
        if (const std::uint64_t left = changed ^ among; left != 0) {
            others |= left;
            owe_changed(word, left);
        }
    });
    REPLAYOUT_ASSERT(visited == changes_.words.size() || do_resting_words_rest());
    regular_.note_changed(regular != 0, others == 0 && visited == changes_.words.size());
}

void ConnectionPairs::owe_changed(std::uint32_t word, std::uint64_t objects) noexcept {
    const std::uint64_t resting = dormancy_.dormant.word(word) | dormancy_.irrelevant.word(word);
    if (const std::uint64_t owed = objects & ~resting & ~closing_.word(word); owed != 0) {
        pending().merge_word(word, owed);
        BitRow::for_each_in_word(word, owed, [this](ObjectIndex index) { prefetch(index); });
    } else if (~resting == 0) {
        dormancy_.resting_words.insert(word);
    }
}

void ConnectionPairs::leave_late(std::size_t word, std::uint64_t objects) noexcept {
    BitRow::for_each_in_word(word, objects, [this](ObjectIndex index) { leave_regular(index); });
}

bool ConnectionPairs::do_resting_words_rest() const noexcept {
    for (const std::uint32_t word : changes_.words) {
        const std::uint64_t resting =
            dormancy_.dormant.word(word) | dormancy_.irrelevant.word(word);
        if (dormancy_.resting_words.test(word) && (~resting | regular_.row().word(word)) != 0) {
            return false;
        }
    }
    return true;
}

SendingRepState& ConnectionPairs::reset(ObjectIndex index) noexcept {
    regular_.note_reset();
    if (regular_.contains(index)) {
        regular_.remove(index);
    }
    ordered_.erase(index);
    stop_opening(index);
    closing_.clear(index);
    pairs_[index] = SendingRepState();
    return pairs_[index];
}

bool ConnectionPairs::may_be_regular(ObjectIndex index) const {
    const SendingRepState& pair = pairs_[index];
    const ServerObject* const info = objects_.at(index);
    const ChannelState channel = channel_state(pair);
    const bool is_opening = channel == ChannelState::OpenSent && has_opening() &&
                            opening_.test(index) && changes_.recent.contains(index);
    if (info == nullptr || (channel != ChannelState::Open && !is_opening) || is_initial(pair) ||
        pending_.test(index)) {
        return false;  // also a pair whose object is gone
    }
    const ChangelistState& state = info->changelist_state();
    if (pair.owes_any(state.version()) || !replayout::may_be_regular(state.layout()) ||
        dormancy_.is_resting(index)) {
        return false;
    }
    const PairExtra* extra = find_extra(index);
    return (extra == nullptr || extra->is_at_rest()) && conditions_.are_regular(*info) &&
           (!state.layout().needs_held_version() || holds_pivot(index));
}

bool ConnectionPairs::holds_pivot(ObjectIndex index) const noexcept {
    const PairExtra* const extra = find_extra(index);
    if (extra == nullptr) {
        return false;
    }
    const Version held = held_version(index, pairs_[index], *extra);
    return held >= objects_.at(index)->changelist_state().pivots().newest &&
           held >= extra->joined_version && held >= extra->restart_version;
}

Version ConnectionPairs::held_version(ObjectIndex index, const SendingRepState& pair,
                                      const PairExtra& extra) const noexcept {
    const Version held = extra.in_flight.held_version(pair);
    // What goes in bundles has no record of its own.
    if (is_regular(index)) {
        return std::min(held, held_by_regular(index, regular_version(index)));
    }
    return packets_.sent().has_bundles_until(extra.held_flush) ? std::min(held, extra.held_max)
                                                               : held;
}

void ConnectionPairs::leave_regular(ObjectIndex index) noexcept {
    pairs_[index].catch_up(regular_version(index));
    if (regular_.has_held()) {
        hold_version(index);
    }
    regular_.remove(index);
    if (is_behind(index)) {
        pending().set(index);
    }
}

void ConnectionPairs::hold_version(ObjectIndex index) noexcept {
    if (!needs_held_version(index)) {
        return;
    }
    if (PairExtra* const extra = find_extra(index)) {
        extra->held_max = held_by_regular(index, regular_version(index));
        extra->held_flush = changes_.flush;
    }
}

void ConnectionPairs::pivot_sent(ObjectIndex index) noexcept {
    (void)edit(index);
    if (PairExtra* const extra = find_extra(index)) {
        extra->held_max = objects_.at(index)->changelist_state().pivots().before;
    }
}

DeltaStates* ConnectionPairs::deltas_of(PairRef ref) {
    if (!ref.layout().has_delta_structs()) {
        return nullptr;
    }
    DeltaStates* deltas = find_deltas(ref.index);
    return deltas != nullptr ? deltas
                             : &deltas_.emplace(ref.index, DeltaStates(resource_)).first->second;
}

OwedVersions ConnectionPairs::position_of(ObjectIndex index) const {
    const SendingRepState pair = (*this)[index];
    const PairExtra* extra = find_extra(index);
    OwedVersions position(pair);
    if (extra != nullptr) {
        extra->lost_parts.describe(position);
    }
    const ChangelistState& state = objects_.at(index)->changelist_state();
    // Told apart only where it makes a difference, so that receivers have more in common.
    position.is_exact = state.is_any_back(pair.sent_version) && is_exact(index);
    if (state.layout().needs_held_version() && extra != nullptr) {
        position.held_version = held_version(index, pair, *extra);
        const Version joined = extra->joined_version;
        position.joined_version = joined > position.held_version ? joined : 0;
        const Version restarted = extra->restart_version;
        position.restart_version = restarted > position.held_version ? restarted : 0;
        if (!state.layout().has_groups_of_arrays()) {
            const ChangelistState::Pivots pivots = state.pivots();
            const Version held = position.held_version;
            position.held_version = held >= pivots.newest   ? pivots.newest
                                    : held >= pivots.before ? pivots.before
                                                            : held;
        }
    }
    return position;
}

bool ConnectionPairs::has_arrived(ObjectIndex index) const {
    return (*this)[index].is_exact() && bundles_with(index) == 0;
}

bool ConnectionPairs::is_exact(ObjectIndex index) const {
    if (!has_arrived(index)) {
        return false;
    }
    const PairExtra* extra = find_extra(index);
    return extra == nullptr || extra->left_out.is_empty() ||
           !extra->left_out.is_any_seen(objects_.at(index)->changelist_state().conditions(),
                                        passing_of(index));
}

OwedVersions ConnectionPairs::position_since(PairRef ref, Version complete) const {
    OwedVersions position;
    position.sent_version = complete;
    position.held_version = ref.layout().needs_held_version() ? complete : 0;
    const PairExtra* extra = find_extra(ref.index);
    if (extra != nullptr && extra->restart_version > complete) {
        position.restart_version = extra->restart_version;
    }
    return position;
}

void ConnectionPairs::collect_owed(PairRef ref, const OwedVersions& position, ChangeMask& owed) {
    const ChangelistState& state = ref.state();
    if (ref.layout().conditions().is_trivial()) {
        state.collect_owed(position, owed);
    } else {
        state.collect_owed(position, passing_of(ref.index), owed);
    }
    if (const DeltaStates* deltas = deltas_of(ref)) {
        deltas->remove_held(state, owed);
    }
    const PairExtra* extra = find_extra(ref.index);
    if (extra != nullptr) {
        extra->paused.remove_paused(owed);
    }
}

bool ConnectionPairs::has_object(ObjectIndex index) const noexcept {
    if (!contains(index)) {
        return false;
    }
    const ChannelState state = channel_state(pairs_[index]);
    return state == ChannelState::OpenSent || state == ChannelState::Open ||
           dormancy_.kept.test(index);
}

std::optional<ConnectionShadow> ConnectionPairs::connection_shadow(ObjectIndex index) const {
    if (!contains(index) || channel_state(pairs_[index]) != ChannelState::Open ||
        dormancy_.leaving.test(index)) {
        return std::nullopt;
    }
    OwedVersions position = position_of(index);
    position.is_exact = is_exact(index);
    return ConnectionShadow(objects_.at(index)->changelist_state(), position, passing_of(index));
}

LifetimeConditionSet ConnectionPairs::passing_of(ObjectIndex index) const {
    return conditions_.passing(objects_.at(index)->ownership(), is_initial(pairs_[index]));
}

void ConnectionPairs::ownership_changed(ObjectIndex index, const ObjectOwnership& before,
                                        const ObjectOwnership& after) {
    grow();
    const ServerObject& info = *objects_.at(index);
    conditions_.for_each_shown(info, before, after,
                               [&](const RepRange& handles) { owe_from_start(index, handles); });
    if (!info.changelist_state().layout().conditions().is_trivial()) {
        (void)edit(index);  // it may meet others than most from now on
    }
}

void ConnectionPairs::dynamic_condition_changed(ObjectIndex index, ParentIndex parent,
                                                LifetimeCondition after) {
    grow();
    const ServerObject& info = *objects_.at(index);
    const ChangelistState& state = info.changelist_state();
    if (conditions_.shows(info.ownership(), is_initial(pairs_[index]),
                          state.conditions().condition_of(parent), after)) {
        const RepParentCmd& cmd = state.layout().parents()[parent.value];
        owe_from_start(index, {cmd.first_handle, cmd.first_handle + cmd.handle_count});
    }
}

void ConnectionPairs::set_is_replay(bool is_replay) {
    grow();
    PairConditions after = conditions_;
    after.set_is_replay(is_replay);
    for (ObjectIndex index{}; objects_.has_slot(index); ++index) {
        if (const ServerObject* const info = objects_.at(index)) {
            conditions_.for_each_shown(
                *info, after, [&](const RepRange& handles) { owe_from_start(index, handles); });
            (void)edit(index);
        }
    }
    conditions_ = after;
}

void ConnectionPairs::begin(ObjectIndex index) {
    if (dormancy_.kept.test(index)) {
        start_over(index);
        return;
    }
    SendingRepState& pair = reset(index);
    set_channel_state(pair, ChannelState::OpenSent);
    set_initial(pair, true);
    if (changes_.recent.contains(index) && !objects_.is_part(index)) {
        opening_.set(index);
        ++opening_count_;
    }
    const ChangelistState& state = objects_.at(index)->changelist_state();
    if (objects_.is_named(index)) {
        // The client may have been told of it before: it kept it as it then was, and what is back
        // at the archetype is not what it has.
        pair.reopen(state.version());
    }
    if (state.layout().needs_held_version()) {
        extra_of(index).joined_version = state.version();
        extra_of(index).restart_version = 0;
    }
    if (validator_) {
        validator_->channel_opened(index);
    }
}

void ConnectionPairs::start_over(ObjectIndex index) {
    ordered_.erase(index);
    SendingRepState& pair = edit(index);
    const bool was_initial = is_initial(pair);
    set_channel_state(pair, ChannelState::OpenSent);
    owe_what_is_initial(index);
    // What is sent only at first may have changed since the object was opened the first time.
    if (!was_initial) {
        owe_initial_from_start(index, RepRange());
    }
}

void ConnectionPairs::add_lost_part(ObjectIndex index, const LostPart& part, PairExtra* extra) {
    // Most often; LostParts::add() would find out as much.
    if (part.range.is_whole() &&
        (extra == nullptr ||
         (extra->lost_parts.is_empty() &&
          !objects_.at(index)->changelist_state().layout().has_keyed_arrays()))) {
        return;
    }
    PairExtra& kept = extra != nullptr ? *extra : extra_of(index);
    const SendingRepState pair = (*this)[index];
    kept.lost_parts.add(pair, part.versions, part.range,
                        objects_.at(index)->changelist_state().keeps_versions_apart(
                            hull(pair.lost(), part.versions).after, kept.restart_version));
}

void ConnectionPairs::owe_part(ObjectIndex index, const LostPart& part, PairExtra* extra) {
    add_lost_part(index, part, extra);
    edit(index).return_unsent({part.versions, {}});
}

void ConnectionPairs::owe_again(ObjectIndex index, RepHandle handle) {
    pending().set(index);
    const ServerObject& info = *objects_.at(index);
    const ChangelistState& state = info.changelist_state();
    if (state.conditions().is_initial(handle, conditions_.passing(info.ownership(), false))) {
        owe_initial(index, RepRange::of(handle));  // it did not arrive, as if its block were lost
        return;
    }
    const VersionInterval versions = state.versions_to_repeat(handle, (*this)[index].sent_version);
    if (!versions.is_empty()) {
        owe_part(index, {versions, RepRange::of(handle)});
    }
}

void ConnectionPairs::owe_what_is_initial(ObjectIndex index) {
    set_initial(edit(index), true);
    if (PairExtra* extra = find_extra(index)) {
        extra->is_initial_lost = true;
    }
}

void ConnectionPairs::owe_initial(ObjectIndex index, const RepRange& range) {
    owe_what_is_initial(index);
    ordered_.erase(index);
    owe_initial_from_start(index, range);  // what changed of it since was passed over
}

void ConnectionPairs::owe_initial_from_start(ObjectIndex index, const RepRange& range) {
    conditions_.for_each_initial(*objects_.at(index), range,
                                 [&](const RepRange& handles) { owe_from_start(index, handles); });
}

void ConnectionPairs::owe_from_start(ObjectIndex index, const RepRange& handles) {
    const VersionInterval all{0, (*this)[index].sent_version};
    if (!has_object(index) || all.is_empty()) {
        return;  // it will be sent everything that it may see
    }
    note_lost_while_paused(index, handles, all);
    owe_part(index, {all, handles});
    if (CompleteVersions* complete = tracked(index)) {
        complete->began_to_see_more();
        find_extra(index)->ahead.stop();
    }
    if (!dormancy_.is_resting(index)) {
        pending().set(index);
    }
}

void ConnectionPairs::owe_everything(ObjectIndex index) {
    SendingRepState& pair = edit(index);
    note_lost_while_paused(index, RepRange(), {0, pair.sent_version});
    pair.lose_everything();
    owe_what_is_initial(index);
    ordered_.erase(index);
    PairExtra* extra = find_extra(index);
    if (extra != nullptr) {
        extra->lost_parts.clear();
        extra->complete.restart();
        extra->ahead.stop();
    }
    if (DeltaStates* deltas = find_deltas(index)) {
        deltas->restart();
    }
    pending().set(index);
}

void ConnectionPairs::note_lost_while_paused(ObjectIndex index, const RepRange& range,
                                             VersionInterval lost) {
    PairExtra* extra = find_extra(index);
    if (extra != nullptr) {
        const RepLayout& layout = objects_.at(index)->changelist_state().layout();
        extra->paused.note_lost(layout, range, lost);
    }
}

}  // namespace replayout
