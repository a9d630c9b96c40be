// SPDX-License-Identifier: MIT
//
// The sending side of one connection of a server: the order in which its parts send in a flush, and
// which of them learn what became of packets. All else is done by the parts. Each knows those
// beneath it that it needs, and none above; but ActorReplicator reads the batch and the order that
// the two above it own:
//
//     InitialBatchSender opens the objects that exist when the client joins
//     PendingSender      replicates pending objects in their order, with a cap and without
//     ActorReplicator    replicates one object: opens it, or writes what its pair owes
//     CallSender         remote calls, each with the state that it means
//     DormantChannels    closes the channels of what goes dormant or is torn off
//     LeavingChannels    closes the channels of objects that go, after their calls
//     HiddenStates       what calls need of objects that were hidden, as these were then
//     ObjectChannels     opens and closes channels, an outer before its parts
//     PartNoticeSender   tells the client of parts that were destroyed
//     RoleSender         tells the client of its roles
//     BundleSender       regular pairs: what all of them owe, laid down once for all
//     PropertySender     writes what a pair owes into packets
//     SentRecords        what blocks carried, and what becomes of it
//     WaitingValues      values that are owed again later than at a loss
//     ConnectionPairs    what each pair was sent, lost and owes
//
// OwedReasons finds out why the client lacks something. PairClaims checks pairs in the debug mode.
#pragma once

#include <replayout/netdriver/net_rates.h>
#include <replayout/netdriver/net_stats.h>
#include <replayout/send_properties.h>

#include "actor_replicator.h"
#include "batch_turns.h"
#include "bit_row.h"
#include "bundle_sender.h"
#include "call_queue.h"
#include "call_sender.h"
#include "connection_pairs.h"
#include "dormant_channels.h"
#include "flush_changes.h"
#include "flush_copier.h"
#include "flush_progress.h"
#include "hidden_states.h"
#include "incoming_calls.h"
#include "initial_batch.h"
#include "initial_batch_sender.h"
#include "leaving_channels.h"
#include "object_channels.h"
#include "object_store.h"
#include "packet_stream.h"
#include "pair_claims.h"
#include "part_notice_sender.h"
#include "pending_sender.h"
#include "property_sender.h"
#include "role_sender.h"
#include "sender_settings.h"
#include "sent_content.h"
#include "sent_records.h"
#include "waiting_values.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace replayout {

class alignas(64) ReplicationSender final : public SentContentHandler {
  public:
    ReplicationSender(const ObjectStore& objects, PacketStream& packets, SendContext& context,
                      NetStats& stats, const SenderSettings& settings, MemoryMeters& memory);

    /// Of these objects something may be sent in this flush, in which `changed` did; or states of
    /// a NetDeltaSerializer are held, of any object.
    [[nodiscard]] bool may_send_any(const BitRow& objects, const BitRow& changed) const noexcept {
        return pairs_.has_deltas() || !initial_batch_.is_finished() || !calls_.is_idle() ||
               !values_.turns().is_empty() || objects.intersects(pairs_.pending()) ||
               objects.intersects(changed);
    }

    /// From now on, before anything is sent, every pair is checked against a copy of what the
    /// client holds; see PairValidator.
    void start_validating(const NetGUIDCache& guids) { pairs_.start_validating(guids); }

    /// Objects of `changed` (a row over the store) must be looked at; regular pairs are not.
    void mark_pending(const BitRow& changed);
    /// Call it in each flush before anything is sent: the same of what changed in this flush.
    /// Objects that wait in the initial batch are not pending. The context is this connection's
    /// until another one begins.
    void begin_sending();
    /// What of a flush is a copy of what another client was sent.
    /// Sends the client the whole run, if the client is owed that and nothing else. Then the flush
    /// is over for this client. Otherwise returns false and sends nothing. Call it before
    /// begin_sending().
    [[nodiscard]] bool send_whole_run(ServerBundles& bundles) {
        return is_quiet_ && bundles.may_be_copied() && is_owed_run() &&
               bundle_sender_.send_whole(bundles);
    }
    enum class Copied : std::uint8_t {
        Nothing,
        Start,  ///< closes and bundles: the rest goes the long way
        All,
    };
    /// Sends the client what another one of its lane was sent in this flush, as far as there is one
    /// that was owed the same. Call it after begin_sending(). After Copied::Nothing the caller
    /// sends all the long way, and then calls end_copy().
    [[nodiscard]] Copied send_as_another(const ServerBundles& bundles) {
        return flush_copier_.is_open() && may_be_alike(bundles) ? send_copy() : Copied::Nothing;
    }
    /// Sends what is pending, after Copied::Start.
    void send_rest(const PriorityInputs& inputs);
    void end_copy() { flush_copier_.end(); }
    /// What changed of regular pairs is sent from bundles, if that may be.
    [[nodiscard]] bool takes_bundles() const noexcept;
    [[nodiscard]] bool is_capped() const noexcept { return packets_.bandwidth().is_capped(); }
    /// Between flushes, see KeptRoom.
    void trim() { trim_all(pending_sender_, replicator_); }
    void decline_bundles() {
        bundle_sender_.decline(changes_);
        replicator_.settle_waiting();
    }
    /// The object of that slot is something else to this connection from now on than it was.
    void ownership_changed(ObjectIndex index, const ObjectOwnership& before,
                           const ObjectOwnership& after) {
        if (is_frozen(index)) {
            channels_.freeze_role(index, before);
            return;
        }
        stir();
        pairs_.ownership_changed(index, before, after);
        roles_.ownership_changed(index, before, after);
    }
    /// A property of that object, of condition Dynamic, is about to be of condition `after`.
    void dynamic_condition_changed(ObjectIndex index, ParentIndex parent, LifetimeCondition after) {
        if (is_frozen(index)) {
            return;
        }
        stir();
        pairs_.dynamic_condition_changed(index, parent, after);
    }
    /// After that: of what the client may not see any more nothing goes out.
    void take_back_hidden_values(ObjectIndex index) {
        stir();
        properties_.take_back_hidden_values(index);
    }
    /// The connection records instead of playing, or does no longer.
    void set_is_replay(bool is_replay);

    /// The client loses the object as soon as the calls of its family have arrived.
    void leave_behind_calls(ObjectIndex index, ChannelCloseReason reason) {
        stir();
        initial_batch_.batch().release(index);  // a call may have opened it before its turn
        leaving_channels_.leave(index, reason);
    }
    /// The object of that slot is compared outside of a flush, so it has two versions in the next.
    void leave_bundles(ObjectIndex index) {
        stir();
        pairs_.grow();
        (void)pairs_.edit(index);
    }
    /// Returns whether some object may have to wait for its calls before the client loses it, or
    /// does so already.
    [[nodiscard]] bool may_hold_objects() const noexcept {
        return !calls_.is_idle() || pairs_.dormancy().leaving.word_count() > 0;
    }
    [[nodiscard]] bool is_leaving(ObjectIndex index) const noexcept {
        return pairs_.dormancy().leaving.test(index);
    }
    /// In each flush, before anything is sent: closes the channels of objects that need not wait
    /// any more. Returns those that went without their calls.
    [[nodiscard]] std::span<const LeavingChannels::DroppedCalls> close_left() {
        if (!leaving_channels_.is_empty()) {
            stir();
        }
        return leaving_channels_.close_ready();
    }
    /// The client loses an object that stays for others.
    void exclude(ObjectIndex index, ChannelCloseReason reason);
    /// The object of that slot is about to be removed.
    void object_removed(ObjectIndex index, ChannelCloseReason reason);
    /// Nothing of a torn off object is under way, or to be sent.
    [[nodiscard]] bool is_torn_off(ObjectIndex index) const noexcept {
        return dormant_channels_.is_torn_off(index);
    }
    [[nodiscard]] const ConnectionPairs& pairs() const noexcept { return pairs_; }
    [[nodiscard]] const PairVisibility& dormancy() const noexcept { return pairs_.dormancy(); }

    // The parts of this connection, to be read.
    [[nodiscard]] const CallSender& call_sender() const noexcept { return call_sender_; }
    [[nodiscard]] const CallQueue& calls() const noexcept { return calls_; }
    [[nodiscard]] const ObjectChannels& channels() const noexcept { return channels_; }
    [[nodiscard]] const InitialBatch& initial_batch() const noexcept {
        return initial_batch_.batch();
    }
    [[nodiscard]] const LeavingChannels& leaving_channels() const noexcept {
        return leaving_channels_;
    }

    // The same, to be changed. Afterwards there may be something to send other than bundles.
    [[nodiscard]] CallSender& edit_call_sender() noexcept { return stirred(call_sender_); }
    [[nodiscard]] CallQueue& edit_calls() noexcept { return stirred(calls_); }
    [[nodiscard]] ObjectChannels& edit_channels() noexcept { return stirred(channels_); }
    [[nodiscard]] DormantChannels& edit_dormant_channels() noexcept {
        return stirred(dormant_channels_);
    }
    /// The client has all of the initial batch. From now on pairs may be regular, and those of what
    /// does not change are at once: else a client would for long be like no other.
    void finish_initial_batch();
    /// The server, which knows the objects, fills and begins it.
    [[nodiscard]] InitialBatch& edit_initial_batch() noexcept {
        return stirred(initial_batch_.batch());
    }
    [[nodiscard]] LeavingChannels& edit_leaving_channels() noexcept {
        return stirred(leaving_channels_);
    }
    [[nodiscard]] PartNoticeSender& edit_part_notices() noexcept { return stirred(part_notices_); }
    /// The client has all of it.
    [[nodiscard]] bool is_initial_batch_over() { return initial_batch_.is_over(); }

    /// Sends changes of the object in the next flush, as far as there is room.
    void force(ObjectIndex index) { pending_sender_.force(index); }

    /// What there is to send, for the shares of the connection's cap.
    void tell_wanted() noexcept;
    /// Sends calls, what is pending and so many of the initial batch; closes what goes dormant.
    void process_prioritized_actors(std::uint32_t initial_opens, ServerBundles& bundles,
                                    const PriorityInputs& inputs);
    /// Before it: opens that were lost go again, each with the block of its object. False: one
    /// found no room, so no other block may go out.
    [[nodiscard]] bool resend_opens();
    /// The same again under a cap, after bunches had their turn: what these left is the opens'.
    [[nodiscard]] bool resend_opens_with_what_is_left();
    /// Then bunches that wait, see PacketStream. False: an open found no room, as above.
    [[nodiscard]] bool write_first_bunches() {
        return packets_.write_first_bunches(!values_.turns().is_empty());
    }
    /// Instead: what goes before all objects found no room.
    void skip_objects(const PriorityInputs& inputs) noexcept;
    /// Why the client does not have all of the object.
    [[nodiscard]] OwedReason owed_reason(ObjectIndex index,
                                         const PriorityInputs& inputs) const noexcept;
    /// How far a pair steps down now.
    [[nodiscard]] std::uint32_t step_down(ObjectIndex index,
                                          const PriorityInputs& inputs) const noexcept {
        return pending_sender_.step_down(index, inputs);
    }

    void note_refused_call() { calls_.note_refused(); }
    /// The client joins, was not sent this object yet, and half of the calls that may wait for it
    /// do: a multicast then goes to all others, so that a long join neither delays nor ends
    /// anybody.
    [[nodiscard]] bool is_passed_over(ObjectIndex index) const noexcept {
        return !initial_batch_.is_finished() &&
               !calls_.has_room_for_update(PacketBuilder::packet_bytes_limit) &&
               (!pairs_.contains(index) || channel_state(pairs_[index]) == ChannelState::Closed) &&
               !pairs_.dormancy().kept.test(index);
    }
    /// Before anything is sent. True: reliable calls found no room for too long.
    [[nodiscard]] bool begin_flush(NetTime now) {
        if (!is_quiet_ && values_.has_put_off()) {
            values_.owe_put_off();
        }
        records_.begin_flush();
        return calls_.begin_flush(now);
    }
    [[nodiscard]] IncomingCalls& incoming_calls() noexcept { return incoming_calls_; }

    /// After the above: checks the pairs that something happened to, when validating.
    void validate_pairs() {
        if (pairs_.validator() != nullptr) {
            claims_.check_touched();
        }
    }

    /// Something waits that acks would make room for, beside what objects are owed.
    [[nodiscard]] bool has_more_for_window() const noexcept;
    /// Whether everything was sent and delivered, opens and closes included.
    [[nodiscard]] bool is_settled() const noexcept;

  private:
    void record_expected(ObjectIndex object_index) noexcept override {
        pairs_.prefetch(object_index);
    }
    void record_delivered(const SentRecord& record) override {
        stir();
        records_.record_delivered(record);
        initial_batch_.note_first_block(record, true);
    }
    void record_lost(const SentRecord& record) override {
        stir();
        records_.record_lost(record);
        initial_batch_.note_first_block(record, false);
    }
    void bundles_delivered(const SentBundles& bundles, std::uint32_t count) override {
        if (pairs_.keeps_account()) {
            records_.bundles_delivered(bundles, count);
        }
    }
    void bundle_lost(const SentBundle& bundle) override {
        stir();
        records_.bundle_lost(bundle);
    }
    void bunch_delivered(const BunchTag& tag) override;
    void open_delivered(const ResolvedBunch& open) override {
        const OpenRun::Open one{nullptr, open.tag.object_index, open.block_version};
        opens_delivered({&one, 1});
    }
    void close_delivered(ObjectIndex index) override {
        stir();
        channels_.close_delivered(index);
    }
    void opens_delivered(std::span<const OpenRun::Open> opens) override;
    void bunch_lost(const BunchTag& tag) override;
    void call_delivered(const SentCall& name) override {
        stir();
        calls_.delivered(name);
    }
    void call_lost(const SentCall& name) override {
        stir();
        stats_.calls_dropped += calls_.lost(name);
    }

    /// Something happened, or may have, of which there may be something to send but bundles.
    void stir() noexcept { is_quiet_ = false; }
    template <typename Part>
    [[nodiscard]] Part& stirred(Part& part) noexcept {
        stir();
        return part;
    }
    /// Everything but what changed of regular pairs was sent and delivered, and asked for.
    [[nodiscard]] bool has_nothing_but_bundles() const noexcept {
        return is_settled() && pairs_.dormancy().becoming.is_empty();
    }
    [[nodiscard]] bool is_frozen(ObjectIndex index) const noexcept {
        return pairs_.dormancy().frozen.test(index);
    }
    /// Returns whether all that changed is to be sent from bundles. Requires a quiet client.
    [[nodiscard]] bool is_owed_run() const noexcept {
        return packets_.is_clear() && packets_.reliable().is_idle() && !pairs_.has_pending() &&
               !pairs_.keeps_account() && pairs_.are_all_regular();
    }
    /// Returns whether there is nothing to send but bundles, pending objects and closes, and more
    /// than bundles.
    [[nodiscard]] bool may_be_alike(const ServerBundles& bundles) const noexcept;
    [[nodiscard]] Copied send_copy();
    /// When regular pairs are sent what changed.
    enum class BundleTurn : std::uint8_t {
        None,   ///< with all else: they are regular no more
        Alone,  ///< nothing else is to be sent: most often, to a client that has everything
        First,  ///< before what is pending
        Last,   ///< under a cap, after what is pending, which goes by an order of its own
    };

    /// Pending objects have their turn. False: there is no room left.
    [[nodiscard]] bool replicate_pending(const PriorityInputs& inputs);
    /// There was no room for more.
    void stop(FlushProgress::End end) noexcept;
    /// The same, and this flush sends no object: it ends before the first.
    void stop_before_objects(const PriorityInputs& inputs) noexcept;
    /// The initial batch has its turn. False: there is no room left.
    [[nodiscard]] bool open_initial_batch(std::uint32_t initial_opens);
    void send_in_turn(std::uint32_t initial_opens, ServerBundles& bundles,
                      const PriorityInputs& inputs, BundleTurn turn);
    /// Under a cap all that is regular must find room.
    [[nodiscard]] BundleTurn bundle_turn(const ServerBundles& bundles);
    void take_last(ServerBundles& bundles);
    /// Values too large for a packet that have waited for room, as many as there is some for.
    void send_waiting_values();
    /// Objects, once more: others that have something to send, and wait for an answer, did not use
    /// what was left to them.
    void send_what_is_left(const PriorityInputs& inputs);
    /// That share may still write.
    [[nodiscard]] bool may_go_on(BudgetShare share) noexcept;

    // What every tick of every connection touches comes first, so that it is few lines of memory.
    const ObjectStore& objects_;
    PacketStream& packets_;
    SendContext& context_;
    NetStats& stats_;
    // In the last flush there was nothing to send but bundles, and nothing stirred since; without a
    // cap. So no part is asked, but for what others change: the pairs that are pending, bunches.
    bool is_quiet_ = false;
    FlushProgress last_flush_;
    BatchTurns batch_turns_;
    // These two keep references to parts that are made after them, and do not use those yet.
    BundleSender bundle_sender_;
    InitialBatchSender initial_batch_;
    // The other parts, each made of those before it, but for one.
    alignas(64) ConnectionPairs pairs_;
    const FlushChanges& changes_;
    WaitingValues values_;
    SentRecords records_;
    PropertySender properties_;
    RoleSender roles_;
    ClosingNames closing_names_;
    PartNoticeSender part_notices_;
    CallQueue calls_;
    IncomingCalls incoming_calls_;
    ObjectChannels channels_;
    DormantChannels dormant_channels_;
    HiddenStates hidden_states_;
    LeavingChannels leaving_channels_;
    StateAheadObjects ahead_;
    CallSender call_sender_;
    PendingSender pending_sender_;  // as those two, of the replicator
    ActorReplicator replicator_;
    FlushCopier flush_copier_;
    PairClaims claims_;
    std::array<std::byte, PacketBuilder::packet_bytes_limit> body_;  // scratch: blocks laid apart
};

}  // namespace replayout
