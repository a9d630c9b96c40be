// SPDX-License-Identifier: MIT
//
// The pairs of one connection of a server with all objects: what each was sent, lost and owes. It
// sends nothing; who does asks here, and says here what became of it.
//
// A pair is twelve bytes in a table by object index. Beside the table stand
//
//     RegularPairs      which pairs are regular
//     PairConditions    what the connection is to an object, and so what it may see of it
//     PairExtras        what is rare; and DeltaStates where the layout has deltas
//     PairVisibility      which objects are dormant, hidden or about to go
//
// Most pairs are regular: the channel is open, everything was sent as of the last flush, nothing is
// lost, and the client meets the conditions that most do. While the object is young (FlushChanges),
// so is a pair of which the open is under way. Of these nothing but a bit is kept up to
// date: what they were sent is the object's version as of the last flush, and what is under way of
// that the bundles in flight tell (SentPackets). So no flush and no ack touches them one by one.
//
//     Closed --open goes out--> OpenSent --open delivered--> Open
//       ^                          |                           |
//       |                          +-- object removed, dormant +
//       +--all bunches delivered-- Closing
//
// The close alone does not free the channel: it may arrive before the open, which then is to come.
#pragma once

#include <replayout/connection_shadow.h>
#include <replayout/delta_states.h>
#include <replayout/netdriver/memory_report.h>
#include <replayout/netdriver/net_guid_cache.h>
#include <replayout/netdriver/transport.h>
#include <replayout/owed_versions.h>
#include <replayout/prefetch.h>
#include <replayout/reflection/lifetime_condition.h>
#include <replayout/reflection/memory.h>
#include <replayout/sending_rep_state.h>

#include "bit_row.h"
#include "flush_changes.h"
#include "object_store.h"
#include "packet_stream.h"
#include "pair_conditions.h"
#include "pair_extras.h"
#include "pair_ref.h"
#include "pair_validator.h"
#include "pair_visibility.h"
#include "regular_pairs.h"
#include "regular_receiver.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace replayout {

class ConnectionPairs {
  public:
    /// `changes` and `packets` outlive this.
    ConnectionPairs(const ObjectStore& objects, const FlushChanges& changes, PacketStream& packets,
                    PeerId peer, MemoryMeters& memory);

    /// From now on, before anything is sent, every pair is checked against a copy of what the
    /// client holds; see PairValidator.
    void start_validating(const NetGUIDCache& guids);
    /// Null unless validating.
    [[nodiscard]] PairValidator* validator() noexcept {
        return validator_ ? &*validator_ : nullptr;
    }

    // The tables

    /// There is a pair for each slot of the store from now on.
    void grow();
    /// The table reaches as far as this slot.
    [[nodiscard]] bool contains(ObjectIndex index) const noexcept { return pairs_.contains(index); }
    [[nodiscard]] SendingRepState operator[](ObjectIndex index) const noexcept {
        SendingRepState pair = pairs_[index];
        if (is_regular(index)) {
            pair.catch_up(regular_version(index));
        }
        return pair;
    }
    /// Requires that the object is there.
    [[nodiscard]] PairRef ref(ObjectIndex index) const { return {index, *objects_.at(index)}; }
    /// The channel is free.
    [[nodiscard]] bool is_closed(ObjectIndex index) const noexcept {
        return channel_state(pairs_[index]) == ChannelState::Closed;
    }
    void prefetch(ObjectIndex index) const noexcept {
        replayout::prefetch(&pairs_[index], sizeof(SendingRepState));
    }
    /// To be changed. The pair is not regular any more; what it has not caught up with is pending.
    [[nodiscard]] SendingRepState& edit(ObjectIndex index) noexcept {
        if (is_regular(index)) {
            leave_regular(index);
        }
        return pairs_[index];
    }
    /// The same of what a regular pair keeps beside its bit: the state of its channel, and how many
    /// bunches are under way. The pair stays regular.
    [[nodiscard]] SendingRepState& edit_channel(ObjectIndex index) noexcept {
        return pairs_[index];
    }
    /// The channel is about to close, and nothing more is owed. Without a cap the pair is not
    /// pending until reset(), whatever changes: another object in that slot has to wait for that.
    /// `is_kept`: the client keeps the object, so the pair may be pending.
    void closes(ObjectIndex index, bool is_kept) noexcept {
        if (!is_kept && !packets_.bandwidth().is_capped()) {
            closing_.set(index);
        }
        regular_.note_reset();
        if (regular_.contains(index)) {
            regular_.remove(index);
        }
        stop_opening(index);
    }
    /// The open of the channel was delivered.
    void channel_opened(ObjectIndex index) noexcept {
        set_channel_state(pairs_[index], ChannelState::Open);
        stop_opening(index);
    }
    /// Objects that were recent when their channels were opened (RecentObjects), as long as those
    /// opens are not acknowledged. None is a part: what a client is sent of a part it may throw
    /// away as long as it lacks the outer.
    [[nodiscard]] const BitRow& opening() const noexcept { return opening_; }
    /// The object is one of RecentObjects.
    [[nodiscard]] bool is_recent(ObjectIndex index) const noexcept {
        return changes_.recent.contains(index);
    }
    /// There are any.
    [[nodiscard]] bool has_opening() const noexcept { return opening_count_ > 0; }
    /// As if nothing had ever been sent.
    SendingRepState& reset(ObjectIndex index) noexcept;
    /// One of its own records is no more under way.
    void record_resolved(ObjectIndex index) noexcept { pairs_[index].delivered(); }

    // Regular pairs

    [[nodiscard]] const BitRow& regular() const noexcept { return regular_.row(); }
    /// Of a connection that is closing none is: its slots may have other objects by now.
    [[nodiscard]] bool is_regular(ObjectIndex index) const noexcept {
        return regular_.contains(index) && packets_.sent().window().has_objects();
    }
    /// What changed, but for what is regular, sleeps or is not shown, is pending. In each flush.
    void mark_changed();
    /// Of what changed in this flush some pairs were regular, when mark_changed() was called.
    [[nodiscard]] bool has_changed_regular() const noexcept { return regular_.has_changed(); }
    /// All are, and still.
    [[nodiscard]] bool are_changed_regular() const noexcept { return regular_.are_all_changed(); }
    /// Returns whether all pairs are regular, so also those of what changed.
    [[nodiscard]] bool are_all_regular() const noexcept {
        return regular_.count() == objects_.object_count() && !has_opening();
    }
    /// What is owed of it was sent: it becomes regular, if it may be. False: not before
    /// caught_up(), as regular pairs are yet to be sent what changed of it.
    [[nodiscard]] bool settle(ObjectIndex index) {
        if (is_behind(index)) {
            return false;
        }
        if (may_be_regular(index) && !regular_.contains(index)) {
            regular_.add(index);
            if (!regular_.has_held() && needs_held_version(index)) {
                regular_.note_held();
            }
        }
        return true;
    }
    /// The same of a plain object of which the open went out with all there is (begin_plain()).
    /// `may_be_regular`: pairs of objects of its layout.
    [[nodiscard]] bool settle_opened(ObjectIndex index, bool may_be_regular) {
        if (is_behind(index)) {
            return false;
        }
        if (may_be_regular && opening_.test(index) && !dormancy_.is_resting(index)) {
            regular_.add(index);
        }
        return true;
    }
    /// Of the changes of this flush regular pairs have been sent what they are owed, or are regular
    /// no more.
    void caught_up() noexcept { regular_.caught_up(changes_.flush); }
    /// After caught_up(): the version of this flush is a pivot (ChangelistState::pivots). The pair
    /// is not regular any more, as until that has arrived it may be owed what others are not.
    void pivot_sent(ObjectIndex index) noexcept;
    /// Calls `visit(index)` for each of them that changed; it may cease to be regular.
    template <typename Visitor>
    void for_each_regular(const FlushChanges& changes, Visitor visit) {
        for_each_stirring_word(changes, [&](std::uint32_t word) {
            BitRow::for_each_in_word(word, changes.objects.word(word) & regular_.row().word(word),
                                     visit);
        });
    }
    /// Calls `visit(word)` for each word of a row in which something changed, but for those of
    /// which all pairs rest. Of a client that sees little of a large world those are most.
    template <typename Visitor>
    void for_each_stirring_word(const FlushChanges& changes, Visitor&& visit) const {
        for (std::size_t i = 0; i < changes.word_row.word_count(); ++i) {
            NumberBitRow::for_each_in_word(
                i, changes.word_row.word(i) & ~dormancy_.resting_words.word(i), visit);
        }
    }
    /// Objects that must be looked at.
    [[nodiscard]] BitRow& pending() noexcept {
        may_have_pending_ = true;
        return pending_;
    }
    [[nodiscard]] const BitRow& pending() const noexcept { return pending_; }
    /// The same, of pairs that may be changed.
    [[nodiscard]] const BitRow& pending_row() const noexcept { return pending_; }
    /// There are any. Without a look at the row, where there were none the last time and nobody had
    /// it since to change it, or to read it as if to change it. It notes what it finds: to ask is
    /// for one thread at a time.
    [[nodiscard]] bool has_pending() const noexcept {
        may_have_pending_ = may_have_pending_ && !pending_.is_empty();
        return may_have_pending_;
    }
    /// Those which a SendOrder has in its order. Who becomes another kind of candidate is none.
    [[nodiscard]] BitRow& ordered() noexcept { return ordered_; }
    [[nodiscard]] PairVisibility& dormancy() noexcept { return dormancy_; }
    [[nodiscard]] const PairVisibility& dormancy() const noexcept { return dormancy_; }

    // Beside a pair

    /// Null: there is none.
    [[nodiscard]] PairExtra* find_extra(ObjectIndex index) noexcept { return extras_.find(index); }
    [[nodiscard]] const PairExtra* find_extra(ObjectIndex index) const noexcept {
        return extras_.find(index);
    }
    [[nodiscard]] bool has_extra(ObjectIndex index) const noexcept {
        return extras_.contains(index);
    }
    /// Valid until another one is made.
    [[nodiscard]] PairExtra& extra_of(ObjectIndex index);
    void erase_extra(ObjectIndex index) noexcept;
    /// Of a pair of which account of complete versions is kept; null of any other.
    [[nodiscard]] CompleteVersions* tracked(ObjectIndex index) noexcept;
    /// Those pairs.
    [[nodiscard]] const BitRow& tracked() const noexcept { return tracked_; }
    /// There is such a pair.
    [[nodiscard]] bool has_tracked() const noexcept { return tracked_count_ > 0; }
    /// Of regular pairs, too, account is kept of what is under way.
    [[nodiscard]] bool keeps_account() const noexcept {
        return tracked_count_ > 0 || validator_.has_value();
    }
    /// Returns whether no pair needs account, and no layout that was sent has deltas.
    [[nodiscard]] bool is_plain() const noexcept { return !keeps_account() && !has_deltas(); }
    /// Account is kept from now on.
    [[nodiscard]] CompleteVersions& track(ObjectIndex index);
    /// Of a layout that has deltas; null of any other. Valid until another one is made.
    [[nodiscard]] DeltaStates* deltas_of(PairRef ref);
    /// Null: nothing of them was sent.
    [[nodiscard]] DeltaStates* find_deltas(ObjectIndex index) noexcept {
        const auto found = deltas_.find(index);
        return found != deltas_.end() ? &found->second : nullptr;
    }
    [[nodiscard]] bool has_deltas() const noexcept { return !deltas_.empty(); }
    void erase_deltas(ObjectIndex index) noexcept { deltas_.erase(index); }

    // What a pair says

    [[nodiscard]] OwedVersions position_of(ObjectIndex index) const;
    /// That of a client whose copy is complete as of `complete`, whatever else it was sent.
    [[nodiscard]] OwedVersions position_since(PairRef ref, Version complete) const;
    /// Bundles under way with a block of it.
    [[nodiscard]] std::uint32_t bundles_with(ObjectIndex index) const noexcept {
        return packets_.sent().bundles_with(index, objects_.at(index)->bundled_flush());
    }
    /// Nothing is lost, and nothing is under way.
    [[nodiscard]] bool has_arrived(ObjectIndex index) const;
    /// What the client holds is known.
    [[nodiscard]] bool is_exact(ObjectIndex index) const;
    /// Sets `owed` to the handles that a client at `position` is owed and may be sent now.
    void collect_owed(PairRef ref, const OwedVersions& position, ChangeMask& owed);
    /// The client has it, or is being sent it.
    [[nodiscard]] bool has_object(ObjectIndex index) const noexcept;
    /// Nothing when the object's channel is not open.
    [[nodiscard]] std::optional<ConnectionShadow> connection_shadow(ObjectIndex index) const;

    // What the connection is to an object

    /// Not initial.
    [[nodiscard]] ReplicationFlags flags_for(const ObjectOwnership& ownership) const noexcept {
        return conditions_.flags_for(ownership);
    }
    [[nodiscard]] LifetimeConditionSet passing_of(ObjectIndex index) const;
    /// The object of that slot is something else to this connection from now on than it was.
    void ownership_changed(ObjectIndex index, const ObjectOwnership& before,
                           const ObjectOwnership& after);
    /// A property of that object, of condition Dynamic, is about to be of condition `after`.
    void dynamic_condition_changed(ObjectIndex index, ParentIndex parent, LifetimeCondition after);
    /// The connection records instead of playing, or does no longer.
    void set_is_replay(bool is_replay);

    // What happens to a pair

    /// Its channel is about to open, for the first time or over the object that the client kept.
    void begin(ObjectIndex index);
    /// The same for the first time of an object without a name, whose layout does not need the held
    /// version.
    SendingRepState& begin_plain(ObjectIndex index) {
        if (validator_) {
            validator_->channel_opened(index);
        }
        return begin_plain(index, changes_.recent.contains(index));
    }
    /// The same where no pair is validated. `is_recent`: the object is one of RecentObjects.
    SendingRepState& begin_plain(ObjectIndex index, bool is_recent) {
        regular_.note_reset();
        ordered_.erase(index);
        SendingRepState& pair = pairs_[index];
        pair = SendingRepState();
        set_channel_state(pair, ChannelState::OpenSent);
        if (is_recent) {
            opening_.set(index);
            ++opening_count_;
        }
        return pair;
    }
    /// These versions are owed again, in that range.
    void owe_part(ObjectIndex index, const LostPart& part) {
        owe_part(index, part, find_extra(index));
    }
    /// The same of all of the object, where no part of it was lost apart from the rest.
    void owe_whole(ObjectIndex index, VersionInterval versions) {
        edit(index).return_unsent({versions, {}});
        pending().set(index);
    }
    /// The same for a caller that has looked up the pair's extra.
    void owe_part(ObjectIndex index, const LostPart& part, PairExtra* extra);
    /// The value was sent, and did not arrive as it is.
    void owe_again(ObjectIndex index, RepHandle handle);
    /// What is sent only at first may be owed, wherever in the object its sending goes on.
    void owe_what_is_initial(ObjectIndex index);
    /// What is sent only at first was lost, as far as it lies in that range.
    void owe_initial(ObjectIndex index, const RepRange& range);
    /// The client threw away all that was sent so far.
    void owe_everything(ObjectIndex index);
    /// Of what is paused within `range`, these versions were lost.
    void note_lost_while_paused(ObjectIndex index, const RepRange& range, VersionInterval lost);

  private:
    /// For an assertion.
    [[nodiscard]] bool do_resting_words_rest() const noexcept;
    /// Up to which version a regular pair was sent everything.
    [[nodiscard]] Version regular_version(ObjectIndex index) const noexcept {
        return objects_.at(index)->changelist_state().version() - (is_behind(index) ? 1 : 0);
    }
    /// The object changed in this flush, and regular pairs were not sent that yet.
    [[nodiscard]] bool is_behind(ObjectIndex index) const noexcept {
        return !regular_.have_caught_up(changes_.flush) && changes_.objects.test(index);
    }
    [[nodiscard]] bool may_be_regular(ObjectIndex index) const;
    void stop_opening(ObjectIndex index) noexcept {
        if (opening_count_ > 0 && opening_.test(index)) {
            opening_.clear(index);
            --opening_count_;
        }
    }
    /// These objects of a word changed, and their pairs are not regular.
    void owe_changed(std::uint32_t word, std::uint64_t objects) noexcept;
    /// These objects of a word changed and are not young, and opens of their pairs are under way:
    /// the pairs cease to be regular.
    void leave_late(std::size_t word, std::uint64_t objects) noexcept;
    /// Up to which version a regular pair that was sent `version` holds everything for certain, as
    /// far as that makes a difference.
    [[nodiscard]] Version held_by_regular(ObjectIndex index, Version version) const noexcept {
        return held_before_regular(objects_.at(index)->changelist_state(), version + 1);
    }
    /// See edit().
    void leave_regular(ObjectIndex index) noexcept;
    /// The pair, which is up to date as far as regular ones are, is about to cease to be regular.
    void hold_version(ObjectIndex index) noexcept;
    /// OwedVersions::held_version.
    [[nodiscard]] Version held_version(ObjectIndex index, const SendingRepState& pair,
                                       const PairExtra& extra) const noexcept;
    [[nodiscard]] bool needs_held_version(ObjectIndex index) const noexcept {
        return objects_.at(index)->changelist_state().layout().needs_held_version();
    }
    [[nodiscard]] bool holds_pivot(ObjectIndex index) const noexcept;
    /// The channel opens again over the object that the client kept.
    void start_over(ObjectIndex index);
    /// A loss is about to be noted in the pair.
    void add_lost_part(ObjectIndex index, const LostPart& part, PairExtra* extra);
    /// All that ever changed of what is sent only at first is owed, as far as it lies in that
    /// range.
    void owe_initial_from_start(ObjectIndex index, const RepRange& range);
    /// All that ever changed of these is owed.
    void owe_from_start(ObjectIndex index, const RepRange& handles);

    // What every tick of every connection touches comes first, so that it is few lines of memory.
    // A tick asks only whether there is a validator. The optional keeps that flag at its end.
    std::optional<PairValidator> validator_;
    const ObjectStore& objects_;
    const FlushChanges& changes_;
    PacketStream& packets_;
    ByObject<SendingRepState> pairs_;
    std::uint32_t tracked_count_ = 0;        // of tracked_
    std::uint32_t opening_count_ = 0;        // of opening_
    mutable bool may_have_pending_ = false;  // else there are none
    RegularPairs regular_;
    PairConditions conditions_;
    MemoryResource* resource_;  // of what scales with pairs
    MemoryResource* validation_resource_;
    BitRow pending_;
    BitRow ordered_;  // empty without a cap
    BitRow tracked_;  // those with an extra that tells complete versions
    BitRow opening_;
    BitRow closing_;  // of them nothing is pending
    PairExtras extras_;
    FlatMap<ObjectIndex, DeltaStates> deltas_;  // by object index
    PairVisibility dormancy_;
};

}  // namespace replayout
