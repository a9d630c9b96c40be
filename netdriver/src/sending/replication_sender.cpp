// SPDX-License-Identifier: MIT
#include "replication_sender.h"

#include <utility>

namespace replayout {

ReplicationSender::ReplicationSender(const ObjectStore& objects, PacketSender& packets,
                                     SendContext& context, NetStats& stats,
                                     const SenderSettings& settings, MemoryMeters& memory)
    : objects_(objects),
      packets_(packets),
      context_(context),
      stats_(stats),
      bundle_sender_(objects, pairs_, records_, properties_, packets, context, settings),
      initial_batch_(&memory.pairs),
      pairs_(objects, settings.changes, packets, settings.peer, memory),
      settings_(settings),
      values_(objects, pairs_, context, memory),
      records_(objects, pairs_, values_, packets, context, memory),
      properties_({objects, pairs_, values_, records_, packets, context}, settings.config, body_,
                  memory),
      roles_(objects, pairs_, packets, settings.peer, memory),
      closing_names_(&memory.pairs),
      part_notices_(objects, pairs_, packets, closing_names_, settings.config, memory),
      calls_(settings.config, ReceiveLimits::of_server(settings.config), packets.first_sequence(),
             &memory.in_flight),
      incoming_calls_(ReceiveLimits::of_client(settings.config), settings.receive_now,
                      &settings.waiting_pool, settings.config.called_channels_max,
                      &memory.connections),
      channels_(objects, pairs_, values_, roles_, part_notices_, closing_names_, packets, calls_,
                incoming_calls_, stats, settings.peer, memory),
      dormant_channels_(objects, pairs_, values_, roles_, part_notices_, channels_, packets, calls_,
                        stats),
      hidden_states_(objects, pairs_, values_, records_, packets, calls_, context, settings.config,
                     memory),
      leaving_channels_(objects, pairs_, channels_, calls_, hidden_states_, settings.config, stats,
                        memory),
      call_sender_(objects, pairs_, values_, records_, channels_, hidden_states_, packets, calls_,
                   context, settings, body_, memory),
      order_(settings.candidates, pairs_.placed(), &memory.pairs),
      to_settle_(Allocator<std::uint32_t>(&memory.scratch)),
      claims_(objects, pairs_, values_, context, &memory.validation) {}

void ReplicationSender::set_is_replay(bool is_replay) {
    stir();
    pairs_.set_is_replay(is_replay);
    for (std::uint32_t index = 0; index < objects_.slot_count(); ++index) {
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

void ReplicationSender::mark_changed() {
    pairs_.mark_changed();
    if (PairValidator* validator = pairs_.validator()) {
        validator->touch(settings_.changes.objects);
    }
}

bool ReplicationSender::may_have_regular_pairs() const noexcept {
    // What a cap has no room for has an order of its own.
    return initial_batch_.state() == InitialBatch::State::Finished &&
           (!packets_.bandwidth().is_capped() || order_.pressure() == 0);
}

bool ReplicationSender::takes_bundles() const noexcept {
    // While something waits for room all take turns, whatever they are: see replicate_all().
    return may_have_regular_pairs() && flush_end_ == FlushEnd::Complete;
}

bool ReplicationSender::is_settled() const noexcept {
    return packets_.reliable().is_idle() && channels_.is_idle() &&
           initial_batch_.state() == InitialBatch::State::Finished && calls_.is_idle() &&
           roles_.is_idle() && part_notices_.is_idle() && values_.turns().is_empty() &&
           !values_.has_put_off() && !pairs_.has_pending();
}

bool ReplicationSender::has_more_for_window() const noexcept {
    return flush_end_ != FlushEnd::Complete || !packets_.reliable().is_idle() ||
           !calls_.is_idle() || !values_.turns().is_empty();
}

void ReplicationSender::tell_wanted() noexcept {
    BandwidthShares& bandwidth = packets_.bandwidth();
    if (!bandwidth.is_capped()) {
        return;
    }
    const bool is_joining = initial_batch_.state() == InitialBatch::State::Sending &&
                            !initial_batch_.waiting().is_empty();
    bandwidth.set_wanted(BudgetShare::State, pairs_.has_changed_regular() || pairs_.has_pending());
    // Where the batch had all the room it could use the last time, something else holds it up.
    bandwidth.set_wanted(BudgetShare::Joins, is_joining && !had_batch_room_);
    bandwidth.set_wanted(BudgetShare::Messages, calls_.has_unsent(Share::Messages));
    bandwidth.set_wanted(BudgetShare::Values,
                         calls_.has_unsent(Share::Values) || !values_.turns().is_empty());
}

bool ReplicationSender::open_joined(std::uint32_t initial_opens) {
    packets_.set_objects_share(BudgetShare::Joins);
    const std::uint64_t bytes_before = packets_.bytes_written();
    had_batch_room_ = open_initial_batch(initial_opens);
    batch_bytes_ += packets_.bytes_written() - bytes_before;
    packets_.set_objects_share(BudgetShare::State);
    return had_batch_room_;
}

bool ReplicationSender::may_go_on(BudgetShare share) noexcept {
    packets_.set_objects_share(share);
    const bool may_write = packets_.can_write();
    packets_.set_objects_share(BudgetShare::State);
    return may_write;
}

void ReplicationSender::process_prioritized_actors(std::uint32_t initial_opens,
                                                   BundleBuilder& bundles,
                                                   const PriorityInputs& inputs) {
    pairs_.grow();
    context_.receiver = &values_;
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
        (void)write_first_blocks();
    }
    send_waiting_values();  // behind the objects, as their share is kept
    send_what_is_left(inputs);
    if (order_.has_begun()) {
        skipped_since_.reset();
    }
    order_.end([this](std::uint32_t index) { return kind_of(index); });
}

ReplicationSender::BundleTurn ReplicationSender::bundle_turn(const BundleBuilder& bundles) {
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

void ReplicationSender::take_last(BundleBuilder& bundles) {
    if (flush_end_ == FlushEnd::Complete && bundle_sender_.has_room_for_all(bundles)) {
        bundle_sender_.take_found(bundles, false);
    } else {
        decline_bundles();
    }
    for (const std::uint32_t index : to_settle_) {
        settle(index);
    }
    to_settle_room_.note(to_settle_.size());
    to_settle_.clear();
}

void ReplicationSender::settle(std::uint32_t index) {
    if (!pairs_.settle(index)) {
        to_settle_.push_back(index);
    }
}

void ReplicationSender::send_what_is_left(const PriorityInputs& inputs) {
    if (flush_end_ == FlushEnd::Complete) {
        return;
    }
    (void)packets_.write_unsent_bunches();  // of values that just had their turn
    packets_.bandwidth().set_none_wanted();
    if (may_go_on(BudgetShare::State)) {
        flush_end_ = FlushEnd::Complete;
        if (!replicate_by_priority(inputs)) {
            stop(FlushEnd::AmongObjects);
        }
    }
}

void ReplicationSender::send_waiting_values() {
    // At once, and not in their objects' turn: where that did not come, so would their own be over.
    values_.begin_turns(packets_.value_room(), [this](std::uint32_t index) {
        return replicate_actor(index) != SendOutcome::NoRoom;
    });
}

void ReplicationSender::send_in_turn(std::uint32_t initial_opens, BundleBuilder& bundles,
                                     const PriorityInputs& inputs, BundleTurn turn) {
    stir();
    roles_.send_roles();
    part_notices_.send_part_notices();
    call_sender_.send_calls();
    (void)write_first_blocks();  // of what calls opened
    if (turn == BundleTurn::First) {
        bundle_sender_.take(bundles, false);
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
    // In turn, by bytes: if each flush began with the same objects, those after them would never be
    // sent while there is no room for all; and one flush may have room for a packet, the next for a
    // whole window.
    const bool is_batch_first = do_objects_wait_ && batch_bytes_ <= object_bytes_;
    if (is_batch_first && !open_joined(initial_opens) && !may_go_on(BudgetShare::State)) {
        stop_before_objects(inputs);
        return;
    }
    flush_end_ = FlushEnd::Complete;
    const std::uint64_t bytes_before = packets_.bytes_written();
    do_objects_wait_ = !replicate_all(inputs);
    if (!do_objects_wait_) {
        batch_bytes_ = 0;
        object_bytes_ = 0;
    } else {
        object_bytes_ += packets_.bytes_written() - bytes_before;
        stop(FlushEnd::AmongObjects);
        if (!may_go_on(BudgetShare::Joins)) {
            return;
        }
    }
    if (!is_batch_first && !open_joined(initial_opens)) {
        return;
    }
    part_notices_.send_part_notices();  // of what was opened in this flush
    dormant_channels_.enter_dormancy();
}

void ReplicationSender::stop(FlushEnd end) noexcept {
    stir();
    flush_end_ = end;
    was_stopped_by_window_ = packets_.sent().packets_for(Share::Objects) == 0;
}

bool ReplicationSender::replicate_all(const PriorityInputs& inputs) {
    if (packets_.bandwidth().is_capped()) {
        return replicate_by_priority(inputs);
    }
    const std::uint32_t first = std::exchange(first_index_, 0);
    return replicate_pending(first, objects_.slot_count()) &&
           (first == 0 || replicate_pending(0, first));
}

bool ReplicationSender::replicate_pending(std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t index = pairs_.pending().next(begin); index < end;
         index = pairs_.pending().next(index + 1)) {
        if (objects_.at(index) == nullptr) {
            pairs_.pending().clear(index);
            continue;
        }
        if (replicate_actor(index) == SendOutcome::NoRoom) {
            first_index_ = index;
            return false;
        }
    }
    return true;
}

void ReplicationSender::exclude(std::uint32_t index, ChannelCloseReason reason) {
    object_removed(index, reason);
    pairs_.dormancy().irrelevant.insert(index);
    pairs_.pending().erase(index);  // a call may have woken it for this client just before
}

void ReplicationSender::object_removed(std::uint32_t index, ChannelCloseReason reason) {
    stir();
    leaving_channels_.forget(index);
    channels_.close_object(index, reason);
    pairs_.dormancy().forget(index);
    initial_batch_.release(index);
    pairs_.placed().erase(index);
}

void ReplicationSender::bunch_delivered(const BunchTag& tag) {
    stir();
    if (tag.kind == BunchTag::Kind::Control || !channels_.bunch_delivered(tag)) {
        return;
    }
    if (tag.kind == BunchTag::Kind::Value) {
        values_.value_delivered(tag);
        note_first_value(tag.object_index);
    } else if (tag.kind == BunchTag::Kind::Role) {
        roles_.role_delivered(tag.object_index);
        values_.message_delivered(tag);
    } else if (tag.kind == BunchTag::Kind::PartsDestroyed) {
        part_notices_.notice_delivered(tag.object_index);
        values_.message_delivered(tag);
    }
}

void ReplicationSender::bunch_lost(const BunchTag& tag) {
    stir();
    channels_.bunch_lost(tag);
    if (tag.kind == BunchTag::Kind::Open &&
        initial_batch_.state() == InitialBatch::State::Sending) {
        initial_batch_.comes_in_pieces(tag.object_index);  // the client threw its first block away
    }
}

bool ReplicationSender::resend_opens() {
    if (!packets_.has_lost_opens()) {
        return true;
    }
    stir();
    pairs_.grow();
    context_.receiver = &values_;
    packets_.bandwidth().refresh_wanted();
    write_lost_opens();
    if (packets_.has_lost_opens()) {
        packets_.bandwidth().set_none_wanted();  // blocks and calls wait for these
        write_lost_opens();
    }
    return !packets_.has_lost_opens();
}

bool ReplicationSender::resend_opens_with_what_is_left() {
    if (!packets_.bandwidth().is_capped() || !packets_.has_lost_opens()) {
        return false;
    }
    (void)packets_.write_unsent_bunches();
    packets_.bandwidth().share_what_is_left();
    write_lost_opens();
    tell_wanted();
    return !packets_.has_lost_opens();
}

void ReplicationSender::write_lost_opens() {
    while (const std::optional<std::uint32_t> index = packets_.write_lost_open()) {
        const bool is_shown = channel_state(pairs_[*index]) == ChannelState::OpenSent;
        if (is_shown) {
            owe_early_parts(*index);
        }
        if (is_shown && is_frozen(*index) &&
            hidden_states_.write_with_open(*index) == SendOutcome::NoRoom) {
            return;  // as any other open
        }
        if (is_shown && pairs_.pending().test(*index) &&
            replicate_behind_opens(*index) == SendOutcome::NoRoom) {
            return;  // the open waits with its block
        }
        packets_.opens().followed(*index);
        if (is_shown) {
            write_early_parts(*index);
        }
    }
}

void ReplicationSender::owe_early_parts(std::uint32_t outer) {
    objects_.for_each_there_is(outer, [&](std::uint32_t part) {
        if (part != outer && channel_state(pairs_[part]) == ChannelState::OpenSent &&
            !packets_.opens().contains(part)) {
            pairs_.owe_everything(part);
        }
    });
}

void ReplicationSender::write_early_parts(std::uint32_t outer) {
    bool has_room = true;
    objects_.for_each_there_is(outer, [&](std::uint32_t part) {
        if (has_room && pairs_.dormancy().awaits_outer.test(part) && pairs_.pending().test(part)) {
            has_room = replicate_behind_opens(part) != SendOutcome::NoRoom;
        }
    });
}

SendOutcome ReplicationSender::write_first_blocks() {
    while (const std::optional<std::uint32_t> index = packets_.opens().first_unfollowed()) {
        count_type_of(*index);
        // One that is hidden was opened for calls alone, which carry what it was.
        if (!is_frozen(*index) && properties_.replicate_properties(*index) == SendOutcome::NoRoom) {
            return SendOutcome::NoRoom;
        }
        packets_.opens().followed(*index);  // also where there is nothing to send of it yet
    }
    write_lost_opens();  // those of parts that were in the way of their outer's block
    return packets_.has_lost_opens() ? SendOutcome::NoRoom : SendOutcome::Done;
}

void ReplicationSender::count_type_of(std::uint32_t index) {
    if (!settings_.type_counters.empty()) {
        context_.type_counters = &settings_.type_counters[objects_.at(index)->layout_number()];
    }
}

SendOutcome ReplicationSender::replicate_actor(std::uint32_t index) {
    if (packets_.has_lost_opens()) {
        write_lost_opens();  // of this object, it may be
        if (packets_.has_lost_opens()) {
            return SendOutcome::NoRoom;
        }
    }
    return replicate_behind_opens(index);
}

SendOutcome ReplicationSender::replicate_behind_opens(std::uint32_t index) {
    if (is_frozen(index)) {
        pairs_.pending().clear(index);
        return SendOutcome::Done;
    }
    count_type_of(index);
    switch (channel_state(pairs_[index])) {
        case ChannelState::Closing:
            return SendOutcome::Done;  // stays pending; the channel is free once its close is
                                       // delivered
        case ChannelState::Closed:
            if (const SendOutcome outcome = channels_.open_channel(index);
                outcome != SendOutcome::Done) {
                return outcome;
            }
            // Otherwise it stays pending: the client must have its outer first.
            return write_first_blocks();
        default:
            break;
    }
    const SendOutcome outcome = properties_.replicate_properties(index);
    if (outcome == SendOutcome::Done && may_have_regular_pairs()) {
        settle(index);
    }
    return outcome;
}

}  // namespace replayout
