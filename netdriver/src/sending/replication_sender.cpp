// SPDX-License-Identifier: MIT
#include "replication_sender.h"

#include "owed_reasons.h"

namespace replayout {

ReplicationSender::ReplicationSender(const ObjectStore& objects, PacketStream& packets,
                                     SendContext& context, NetStats& stats,
                                     const SenderSettings& settings, MemoryMeters& memory)
    : objects_(objects),
      packets_(packets),
      context_(context),
      stats_(stats),
      bundle_sender_(objects, pairs_, records_, properties_, packets, context, settings),
      initial_batch_(
          {objects, pairs_, records_, part_notices_, ahead_, packets, replicator_, stats},
          &memory.pairs),
      pairs_(objects, settings.changes, packets, settings.peer, memory),
      changes_(settings.changes),
      values_(objects, pairs_, context, memory),
      records_(pairs_, values_, packets, context, memory),
      properties_({objects, pairs_, values_, records_, packets, context}, settings.config, body_,
                  memory),
      roles_(objects, pairs_, packets, settings.peer, &memory.pairs),
      closing_names_(&memory.pairs),
      part_notices_({objects, pairs_, packets, closing_names_, settings.config}, &memory.pairs),
      calls_(settings.config, ReceiveLimits::of_server(settings.config), packets.first_sequence(),
             &memory.in_flight),
      incoming_calls_(ReceiveLimits::of_client(settings.config), settings.receive_now,
                      &settings.waiting_pool, settings.config.called_channels_max,
                      &memory.connections),
      channels_({objects, pairs_, values_, roles_, part_notices_, closing_names_, packets, calls_,
                 incoming_calls_, stats, settings.peer},
                &memory.pairs),
      dormant_channels_(channels_),
      hidden_states_({objects, pairs_, values_, records_, packets, calls_, context, settings.config,
                      settings.type_counters},
                     &memory.pairs),
      leaving_channels_(channels_, hidden_states_, settings.config, memory),
      ahead_({objects, pairs_, packets, initial_batch_.batch()}, &memory.pairs),
      call_sender_({objects, pairs_, values_, records_, channels_, hidden_states_, ahead_, packets,
                    calls_, context},
                   settings, body_, memory),
      pending_sender_({objects, pairs_, packets, replicator_}, settings.candidates, &memory.pairs),
      replicator_({objects, pairs_, properties_, channels_, hidden_states_, packets, context,
                   settings.open_runs, initial_batch_.batch(), pending_sender_.order()},
                  settings.type_counters, &memory.scratch),
      flush_copier_({pairs_, packets, replicator_.shared_opens(), settings.changes, context,
                     settings.open_runs, settings.flush_copies}),
      claims_(objects, pairs_, values_, context, &memory.validation) {}

void ReplicationSender::set_is_replay(bool is_replay) {
    stir();
    pairs_.set_is_replay(is_replay);
    for (ObjectIndex index{}; objects_.has_slot(index); ++index) {
        if (objects_.at(index) != nullptr) {
            take_back_hidden_values(index);
        }
    }
}

void ReplicationSender::mark_pending(const BitRow& changed) {
    stir();
    pairs_.grow();
    pairs_.pending().merge_without(changed, pairs_.dormancy().dormant, pairs_.dormancy().irrelevant,
                                   pairs_.regular());
    if (PairValidator* validator = pairs_.validator()) {
        validator->touch(changed);
    }
}

void ReplicationSender::begin_sending() {
    pairs_.mark_changed();
    if (PairValidator* validator = pairs_.validator()) {
        validator->touch(changes_.objects);
    }
    initial_batch_.hold_back();
    context_.receiver = &values_;
}

void ReplicationSender::finish_initial_batch() {
    stir();
    initial_batch_.batch().finish();
    for (ObjectIndex index{}; objects_.has_slot(index); ++index) {
        if (objects_.at(index) != nullptr) {
            replicator_.settle_arrived(index);
        }
    }
}

bool ReplicationSender::may_be_alike(const ServerBundles& bundles) const noexcept {
    if (packets_.reliable().is_idle() && !pairs_.has_pending()) {
        return false;  // bundles alone cost less
    }
    return bundles.may_be_copied() && takes_bundles() && packets_.is_clear() && pairs_.is_plain() &&
           calls_.is_idle() && roles_.is_idle() && part_notices_.is_empty() &&
           values_.turns().is_empty() && !values_.has_put_off() &&
           pairs_.dormancy().becoming.is_empty() && pending_sender_.begins_with_first() &&
           !channels_.has_frozen_roles() && replicator_.counts_no_types();
}

ReplicationSender::Copied ReplicationSender::send_copy() {
    if (flush_copier_.copy(
            [this](const OpenRuns::Entry& entry) { replicator_.settle_opened(entry); })) {
        stir();
        last_flush_.begin_objects();
        batch_turns_.end_wait();
        return Copied::All;
    }
    if (flush_copier_.copy_start()) {
        return Copied::Start;
    }
    flush_copier_.begin();
    return Copied::Nothing;
}

void ReplicationSender::send_rest(const PriorityInputs& inputs) {
    stir();
    (void)replicate_pending(inputs);
}

bool ReplicationSender::takes_bundles() const noexcept {
    // While something waits for room all objects take turns, see PendingSender.
    return ActorReplicator::may_have_regular_pairs(initial_batch_.batch(), packets_,
                                                   pending_sender_.order()) &&
           last_flush_.is_complete();
}

bool ReplicationSender::is_settled() const noexcept {
    return packets_.reliable().is_idle() && channels_.is_idle() && initial_batch_.is_finished() &&
           calls_.is_idle() && roles_.is_idle() && part_notices_.is_idle() &&
           values_.turns().is_empty() && !values_.has_put_off() && !pairs_.has_pending();
}

bool ReplicationSender::has_more_for_window() const noexcept {
    return !last_flush_.is_complete() || !packets_.reliable().is_idle() || !calls_.is_idle() ||
           !values_.turns().is_empty();
}

void ReplicationSender::tell_wanted() noexcept {
    BandwidthShares& bandwidth = packets_.bandwidth();
    if (!bandwidth.is_capped()) {
        return;
    }
    bandwidth.set_wanted(BudgetShare::State, pairs_.has_changed_regular() || pairs_.has_pending());
    bandwidth.set_wanted(BudgetShare::Joins, initial_batch_.wants_room());
    bandwidth.set_wanted(BudgetShare::Messages, calls_.has_unsent(PacketUse::Messages));
    bandwidth.set_wanted(BudgetShare::Values,
                         calls_.has_unsent(PacketUse::Values) || !values_.turns().is_empty());
}

bool ReplicationSender::open_initial_batch(std::uint32_t initial_opens) {
    if (initial_batch_.is_finished()) {
        return true;
    }
    const std::uint64_t bytes_before = packets_.bytes_written();
    const bool has_room = initial_batch_.open(initial_opens);
    batch_turns_.add_batch(packets_.bytes_written() - bytes_before);
    return has_room;
}

bool ReplicationSender::may_go_on(BudgetShare share) noexcept {
    packets_.set_objects_share(share);
    const bool may_write = packets_.can_write();
    packets_.set_objects_share(BudgetShare::State);
    return may_write;
}

void ReplicationSender::process_prioritized_actors(std::uint32_t initial_opens,
                                                   ServerBundles& bundles,
                                                   const PriorityInputs& inputs) {
    pairs_.grow();
    const BundleTurn turn = bundle_turn(bundles);
    if (turn == BundleTurn::Alone) {
        const bool is_nothing_loose = bundles.loose().empty();
        // Nothing was pending before.
        if (packets_.bandwidth().is_capped() ? bundle_sender_.take_found(bundles, is_nothing_loose)
                                             : bundle_sender_.take(bundles, is_nothing_loose)) {
            REPLAYOUT_ASSERT(!pairs_.has_pending());
            packets_.flush_full();
            return;
        }
    }
    send_in_turn(initial_opens, bundles, inputs, turn);
    if (!packets_.bandwidth().is_capped()) {
        return;
    }
    if (turn == BundleTurn::Last) {
        take_last(bundles);
    }
    // What was left to others, and they did not take: calls first, then values.
    packets_.bandwidth().set_none_wanted();
    if (!packets_.turns().did_calls_find_room()) {
        packets_.flush_full();  // each share pays its own packets
        if (packets_.turns().is_values_turn()) {
            send_waiting_values();
            (void)packets_.write_unsent_bunches();
        }
        call_sender_.send_calls();
        (void)replicator_.write_first_blocks();
    }
    send_waiting_values();  // after the objects, as their share is kept
    send_what_is_left(inputs);
    pending_sender_.end_flush();
}

ReplicationSender::BundleTurn ReplicationSender::bundle_turn(const ServerBundles& bundles) {
    const bool is_capped = packets_.bandwidth().is_capped();
    if (is_quiet_ && !is_capped && bundles.is_built() && packets_.reliable().is_idle() &&
        !pairs_.has_pending()) {
        REPLAYOUT_ASSERT(takes_bundles() && has_nothing_but_bundles());
        return BundleTurn::Alone;
    }
    if (!takes_bundles() || !bundles.is_built() ||
        (is_capped && !bundle_sender_.has_room_for_all(bundles))) {
        return BundleTurn::None;
    }
    if (has_nothing_but_bundles()) {
        is_quiet_ = !is_capped;
        return BundleTurn::Alone;
    }
    return is_capped ? BundleTurn::Last : BundleTurn::First;
}

void ReplicationSender::take_last(ServerBundles& bundles) {
    if (last_flush_.is_complete() && bundle_sender_.has_room_for_all(bundles)) {
        bundle_sender_.take_found(bundles, false);
    } else {
        decline_bundles();
    }
    replicator_.settle_waiting();
}

void ReplicationSender::send_what_is_left(const PriorityInputs& inputs) {
    if (last_flush_.is_complete()) {
        return;
    }
    (void)packets_.write_unsent_bunches();  // of values that just had their turn
    packets_.bandwidth().set_none_wanted();
    if (may_go_on(BudgetShare::State)) {
        last_flush_.begin_objects();
        if (!pending_sender_.replicate(inputs)) {
            stop(FlushProgress::End::AmongObjects);
        }
    }
}

void ReplicationSender::send_waiting_values() {
    if (values_.turns().is_at_rest()) {
        return;  // most often
    }
    // At once, and not in their objects' turn: where that did not come, so would their own be over.
    values_.begin_turns(packets_.value_room(), [this](ObjectIndex index) {
        return replicator_.replicate_actor(index) != SendOutcome::NoRoom;
    });
}

void ReplicationSender::send_in_turn(std::uint32_t initial_opens, ServerBundles& bundles,
                                     const PriorityInputs& inputs, BundleTurn turn) {
    stir();
    roles_.send_roles();
    part_notices_.send_part_notices();
    call_sender_.send_calls();
    (void)replicator_.write_first_blocks();  // of what calls opened
    if (turn == BundleTurn::First) {
        bundle_sender_.take(bundles, false);
        replicator_.settle_waiting();
        flush_copier_.start_sent();
    } else if (turn == BundleTurn::None) {
        decline_bundles();
    }
    if (packets_.bandwidth().is_capped()) {
        // While anything is left: what sleeps asks for nothing any more.
        dormant_channels_.enter_dormancy();
        // Calls had their turn, and so had their parts.
        packets_.bandwidth().set_wanted(BudgetShare::Messages, false);
        packets_.bandwidth().set_wanted(BudgetShare::Values, !values_.turns().is_empty());
    } else {
        send_waiting_values();
    }
    const bool is_batch_first = batch_turns_.is_batch_first();
    if (is_batch_first && !open_initial_batch(initial_opens) && !may_go_on(BudgetShare::State)) {
        stop_before_objects(inputs);
        return;
    }
    if (!replicate_pending(inputs) && !may_go_on(BudgetShare::Joins)) {
        return;
    }
    if (!is_batch_first && !open_initial_batch(initial_opens)) {
        return;
    }
    part_notices_.send_part_notices();  // of what was opened in this flush
    dormant_channels_.enter_dormancy();
}

bool ReplicationSender::replicate_pending(const PriorityInputs& inputs) {
    last_flush_.begin_objects();
    const std::uint64_t bytes_before = packets_.bytes_written();
    if (pending_sender_.replicate(inputs)) {
        batch_turns_.end_wait();
        return true;
    }
    batch_turns_.add_objects(packets_.bytes_written() - bytes_before);
    stop(FlushProgress::End::AmongObjects);
    return false;
}

void ReplicationSender::stop(FlushProgress::End end) noexcept {
    stir();
    last_flush_.stop(end, packets_.sent().packets_for(PacketUse::Objects) == 0);
}

void ReplicationSender::stop_before_objects(const PriorityInputs& inputs) noexcept {
    stop(FlushProgress::End::BeforeObjects);
    pending_sender_.skip_flush(inputs.calendar);
}

void ReplicationSender::skip_objects(const PriorityInputs& inputs) noexcept {
    stop_before_objects(inputs);
    decline_bundles();
}

OwedReason ReplicationSender::owed_reason(ObjectIndex index,
                                          const PriorityInputs& inputs) const noexcept {
    const OwedReasons reasons({objects_, pairs_, values_, channels_, packets_,
                               initial_batch_.batch(), pending_sender_, last_flush_});
    return reasons.reason_of(index, inputs);
}

void ReplicationSender::exclude(ObjectIndex index, ChannelCloseReason reason) {
    object_removed(index, reason);
    pairs_.dormancy().irrelevant.insert(index);
    pairs_.pending().erase(index);  // a call may have woken it for this client just before
}

void ReplicationSender::object_removed(ObjectIndex index, ChannelCloseReason reason) {
    stir();
    if (channels_.close_plain(index, reason)) {
        initial_batch_.batch().release(index);
        return;
    }
    leaving_channels_.forget(index);
    channels_.close_object(index, reason);
    pairs_.dormancy().forget(index);
    initial_batch_.batch().release(index);
    pairs_.ordered().erase(index);
}

void ReplicationSender::bunch_delivered(const BunchTag& tag) {
    stir();
    if (tag.kind == BunchTag::Kind::Control || !channels_.bunch_delivered(tag)) {
        return;
    }
    if (tag.kind == BunchTag::Kind::Value) {
        values_.value_delivered(tag);
        initial_batch_.note_first_value(tag.object_index);
    } else if (tag.kind == BunchTag::Kind::Role) {
        roles_.role_delivered(tag.object_index);
        values_.message_delivered(tag);
    } else if (tag.kind == BunchTag::Kind::PartsDestroyed) {
        part_notices_.notice_delivered(tag.object_index);
        values_.message_delivered(tag);
    }
}

void ReplicationSender::opens_delivered(std::span<const OpenRun::Open> opens) {
    stir();
    for (const OpenRun::Open& open : opens) {
        channels_.shared_open_delivered(open.object_index);
        if (open.block_version > 0) {
            records_.first_block_delivered(open.object_index);
            initial_batch_.note_first_block(
                SentRecord::of_first_block(open.object_index, open.block_version), true);
        }
    }
}

void ReplicationSender::bunch_lost(const BunchTag& tag) {
    stir();
    channels_.bunch_lost(tag);
    if (tag.kind == BunchTag::Kind::Open) {
        initial_batch_.note_lost_open(tag.object_index);
    }
}

bool ReplicationSender::resend_opens() {
    if (!packets_.has_lost_opens()) {
        return true;
    }
    stir();
    pairs_.grow();
    packets_.bandwidth().refresh_wanted();
    replicator_.write_lost_opens();
    if (packets_.has_lost_opens()) {
        packets_.bandwidth().set_none_wanted();  // blocks and calls wait for these
        replicator_.write_lost_opens();
    }
    return !packets_.has_lost_opens();
}

bool ReplicationSender::resend_opens_with_what_is_left() {
    if (!packets_.bandwidth().is_capped() || !packets_.has_lost_opens()) {
        return false;
    }
    (void)packets_.write_unsent_bunches();
    packets_.bandwidth().share_what_is_left();
    replicator_.write_lost_opens();
    tell_wanted();
    return !packets_.has_lost_opens();
}

}  // namespace replayout
