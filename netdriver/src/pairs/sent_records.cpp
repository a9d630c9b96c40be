// SPDX-License-Identifier: MIT
#include "sent_records.h"

#include <bit>

namespace replayout {

SentRecords::SentRecords(ConnectionPairs& pairs, WaitingValues& values, PacketStream& packets,
                         SendContext& context, MemoryMeters& memory)
    : pairs_(pairs),
      values_(values),
      packets_(packets),
      context_(context),
      sending_parts_(Allocator<LostPart>(&memory.scratch)),
      carried_parts_(Allocator<LostPart>(&memory.scratch)) {}

OwedVersions SentRecords::sending_position_of(ObjectIndex index) {
    OwedVersions position = pairs_.position_of(index);
    sending_parts_.assign(position.lost_parts.begin(), position.lost_parts.end());
    position.lost_parts = {sending_parts_.data(), sending_parts_.size()};
    return position;
}

void SentRecords::restart_arrays(PairRef ref, OwedVersions& position, ChangeMask& owed) {
    const ChangelistState& state = ref.state();
    if (!state.must_restart_arrays(position, owed)) {
        return;
    }
    state.for_each_restarted(pairs_[ref.index].sent_version, [&](const LostPart& part) {
        pairs_.note_lost_while_paused(ref.index, part.range, part.versions);
        pairs_.owe_part(ref.index, part);
    });
    pairs_.extra_of(ref.index).restart_version = state.version();
    position = sending_position_of(ref.index);
    pairs_.collect_owed(ref, position, owed);
}

TakenOfPair SentRecords::take_owed(PairRef ref, const OwedVersions& position) {
    SendingRepState& pair = pairs_.edit(ref.index);
    const TakenOfPair taken{
        TakenOwed::take(pair, ref.state().version(), position, is_initial(pair)), ref};
    set_initial(pair, false);
    if (CompleteVersions* complete = pairs_.tracked(ref.index)) {
        complete->take();
    }
    return taken;
}

void SentRecords::skip(PairRef ref) {
    SendingRepState& pair = pairs_.edit(ref.index);
    pair.skip(ref.state().version());
    set_initial(pair, false);
    PairExtra* extra = pairs_.find_extra(ref.index);
    if (extra != nullptr) {
        extra->complete.take();
    }
    pairs_.pending().clear(ref.index);
}

void SentRecords::add_records_of_all(const TakenOfPair& taken, const SentBlock& block,
                                     bool is_complete) {
    carried_parts_.clear();
    collect_carried(taken.position, pairs_[taken.pair.index].sent_version, RepRange(),
                    carried_parts_,
                    taken.pair.state().keeps_versions_apart(taken.position.lost.after,
                                                            taken.position.restart_version));
    add_records(taken, carried_parts_, block, is_complete);
}

void SentRecords::add_records(const TakenOfPair& taken, std::span<const LostPart> carried,
                              const SentBlock& block, bool is_complete) {
    const ObjectIndex index = taken.pair.index;
    pairs_.edit(index).send_part();
    const RepLayout& layout = taken.pair.layout();
    bool is_more = false;
    for (const LostPart& part : carried) {
        packets_.sent().add_record(
            {index, taken.is_initial, is_more, layout.has_keyed_arrays(), part});
        is_more = true;
    }
    if (layout.needs_held_version()) {
        pairs_.extra_of(index).in_flight.sent(taken.versions);
    }
    if (CompleteVersions* complete = pairs_.tracked(index)) {
        complete->sent(taken.versions, is_complete);
    }
    if (DeltaStates* deltas = pairs_.deltas_of(taken.pair)) {
        deltas->block_sent(block.deltas());
    }
}

void SentRecords::return_unsent_from(const TakenOfPair& taken, const RepCursor& cursor) {
    carried_parts_.clear();
    collect_unsent(taken.position, pairs_[taken.pair.index].sent_version, cursor.handle,
                   cursor.element, carried_parts_);
    owe_carried(taken);
}

void SentRecords::return_unsent(const TakenOfPair& taken, const RepRange& range) {
    carried_parts_.clear();
    collect_carried(taken.position, pairs_[taken.pair.index].sent_version, range, carried_parts_);
    owe_carried(taken);
}

void SentRecords::return_unsent_before(const TakenOfPair& taken, const RepCursor& cursor) {
    PairExtra* const extra = pairs_.find_extra(taken.pair.index);
    if (cursor.handle.value == 1 && cursor.element == 0) {
        if (extra != nullptr) {
            extra->is_initial_lost = false;  // all goes now
        }
        return;
    }
    carried_parts_.clear();
    const Version version = pairs_[taken.pair.index].sent_version;
    if (cursor.handle.value > 1) {
        collect_owed_within(taken.position, version, {1, cursor.handle.value}, carried_parts_);
    }
    if (cursor.element > 0) {
        collect_owed_within(taken.position, version,
                            {cursor.handle.value, cursor.handle.value + 1, 0, cursor.element},
                            carried_parts_);
    }
    if (carried_parts_.empty()) {
        return;
    }
    // Values that only changed since their part went out are initial no longer.
    TakenOfPair rest = taken;
    rest.is_initial = taken.is_initial && extra != nullptr && extra->is_initial_lost;
    owe_carried(rest);
}

VersionInterval SentRecords::owed_of(ObjectIndex index, const OwedVersions& position,
                                     const RepRange& range) {
    carried_parts_.clear();
    collect_carried(position, pairs_[index].sent_version, range, carried_parts_);
    VersionInterval owed;
    for (const LostPart& part : carried_parts_) {
        owed = hull(owed, part.versions);
    }
    return owed;
}

void SentRecords::pause_unsent(const TakenOfPair& taken, const RepRange& range) {
    const VersionInterval owed = owed_of(taken.pair.index, taken.position, range);
    PairExtra& extra = pairs_.extra_of(taken.pair.index);
    extra.paused.wait(range, pairs_[taken.pair.index].sent_version, owed, extra.waited_since);
    pairs_.edit(taken.pair.index).send_part();  // as long as it waits, the pair is not exact
}

void SentRecords::owe_carried(const TakenOfPair& taken) {
    SendingRepState& pair = pairs_.edit(taken.pair.index);
    for (const LostPart& part : carried_parts_) {
        pairs_.owe_part(taken.pair.index, part);
    }
    if (CompleteVersions* complete = pairs_.tracked(taken.pair.index)) {
        complete->give_back();
    }
    set_initial(pair, is_initial(pair) || taken.is_initial);
    pairs_.ordered().erase(taken.pair.index);
    pairs_.pending().set(taken.pair.index);
}

void SentRecords::add_bundle(const SentBundle& bundle) {
    packets_.sent().add_bundle(bundle);
    track_bundle(bundle);
}

void SentRecords::track_bundle(const SentBundle& bundle) {
    if (!pairs_.has_tracked()) {
        return;
    }
    const SentBundle accounted = bundle.among(pairs_.tracked());
    const auto accounted_count = count_bits(accounted.blocks);
    context_.counters.blocks_accounted += accounted_count;
    packets_.sent().add_accounted(accounted_count);
    accounted.for_each_block([&](const BundleBlock& block) {
        CompleteVersions& complete = pairs_.find_extra(block.index)->complete;
        complete.take();
        complete.sent({{block.version - 1, block.version}, {}}, false);
    });
}

void SentRecords::bundles_delivered(const SentBundles& bundles, std::uint32_t count) {
    REPLAYOUT_ASSERT(pairs_.keeps_account());
    for (std::uint32_t i = 0; i < count; ++i) {
        const SentBundle bundle = bundles[i];
        const SentBundle accounted = bundle.among(pairs_.tracked());
        const auto accounted_count = count_bits(accounted.blocks);
        context_.counters.blocks_accounted += accounted_count;
        packets_.sent().take_accounted(accounted_count);
        accounted.for_each_block(
            [&](const BundleBlock& block) { resolve_block(pairs_.find_extra(block.index), true); });
        if (PairValidator* validator = pairs_.validator()) {
            bundle.for_each_block(
                [&](const BundleBlock& block) { validator->block_delivered(block.index); });
        }
    }
}

void SentRecords::bundle_lost(const SentBundle& bundle) {
    std::uint32_t accounted_count = 0;
    bundle.for_each_block([&](const BundleBlock& block) {
        if (PairValidator* validator = pairs_.validator()) {
            validator->block_lost(block.index);
        }
        PairExtra* const extra = pairs_.find_extra(block.index);
        accounted_count += extra != nullptr && extra->complete.is_tracking() ? 1u : 0u;
        if (extra != nullptr) {
            resolve_block(extra, false);
        }
        if (channel_state(pairs_.edit_channel(block.index)) == ChannelState::Closing) {
            return;  // nothing is owed any more
        }
        const VersionInterval versions{block.version - 1, block.version};
        // Most often; of the others what is lost may have to be kept apart.
        const bool is_simple =
            extra == nullptr ||
            (extra->paused.is_empty() && extra->lost_parts.is_empty() && !block.needs_held_version);
        if (is_simple) {
            if (extra != nullptr || !is_sent_since(block)) {
                pairs_.owe_whole(block.index, versions);
            }
        } else {
            owe_lost(block.index, extra, {versions, RepRange()});
        }
    });
    packets_.sent().take_accounted(accounted_count);
}

bool SentRecords::is_sent_since(const BundleBlock& block) noexcept {
    if (looks_left_ == 0) {
        return false;
    }
    --looks_left_;
    const ChangelistState& state = pairs_.ref(block.index).state();
    const std::uint64_t whole = state.layout().whole_handles();
    return whole != 0 && !state.history().is_any_last_changed_at(block.version, whole);
}

void SentRecords::record_delivered(const SentRecord& record) {
    if (record.is_more) {
        return;
    }
    pairs_.record_resolved(record.object_index);
    resolve_record(pairs_.find_extra(record.object_index), true);
    values_.resolve_deltas(record.object_index, true);
    if (PairValidator* validator = pairs_.validator()) {
        validator->block_delivered(record.object_index);
    }
}

void SentRecords::record_lost(const SentRecord& record) {
    const ObjectIndex index = record.object_index;
    PairExtra* const extra = pairs_.find_extra(index);
    if (!record.is_more) {
        if (PairValidator* validator = pairs_.validator()) {
            validator->block_lost(index);
        }
        resolve_record(extra, false);
        pairs_.record_resolved(index);  // what is owed for it follows
    }
    if (channel_state(pairs_[index]) == ChannelState::Closing) {
        return;  // nothing is owed any more
    }
    owe_lost(index, extra, record.carried);
    if (record.is_initial) {
        pairs_.owe_initial(index, record.carried.range);
    }
    if (!record.is_more) {
        values_.resolve_deltas(index, false);
    }
}

void SentRecords::owe_lost(ObjectIndex index, PairExtra* extra, const LostPart& part) {
    if (extra != nullptr && !extra->paused.is_empty()) {
        pairs_.note_lost_while_paused(index, part.range, part.versions);
    }
    pairs_.owe_part(index, part, extra);
    pairs_.pending().set(index);
}

void SentRecords::resolve_record(PairExtra* extra, bool is_delivered) {
    if (extra != nullptr && extra->in_flight.count() > 0) {
        extra->in_flight.resolved();
    }
    resolve_block(extra, is_delivered);
}

void SentRecords::resolve_block(PairExtra* extra, bool is_delivered) {
    if (extra == nullptr) {
        return;
    }
    extra->ahead.record_resolved();
    CompleteVersions& complete = extra->complete;
    if (!complete.is_tracking() || !complete.has_records()) {
        return;
    }
    if (is_delivered) {
        complete.delivered();
    } else {
        complete.lost();
    }
}

Version SentRecords::complete_version(ObjectIndex index) {
    values_.owe_left_out(pairs_.ref(index));
    const Version version = pairs_.track(index).version(pairs_[index]);
    REPLAYOUT_ASSERT(!pairs_.has_arrived(index) || version == pairs_[index].sent_version);
    return version;
}

}  // namespace replayout
