// SPDX-License-Identifier: MIT
//
// The account of one receiver and one object: the pair, and in addition everything that is rare
// (losses by place, values that were left out or are paused, states of deltas). It finds what is
// owed, and keeps the account while blocks go out, arrive and are lost. It writes no block.
// Part of ObjectReplicator.
//
//     owed.begin_block();
//     const OwedVersions position = owed.position();
//     owed.collect(position, mask);                     // written by the caller
//     const TakenOwed taken = owed.take(position);      // all of it
//     owed.block_sent(taken, deltas);                   // once for each block of it
//     owed.block_delivered();                           // or block_lost(...)
#pragma once

#include <replayout/changelist_state.h>
#include <replayout/connection_shadow.h>
#include <replayout/delta_states.h>
#include <replayout/in_flight_versions.h>
#include <replayout/left_out_values.h>
#include <replayout/lost_parts.h>
#include <replayout/paused_values.h>
#include <replayout/reflection/memory.h>
#include <replayout/replication_flags.h>
#include <replayout/send_properties.h>
#include <replayout/sending_rep_state.h>
#include <replayout/taken_owed.h>

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace replayout::detail {

class OwedProperties {
  public:
    /// The receiver holds what the layout's archetype holds. `object` must outlive this.
    OwedProperties(ChangelistState& object, MemoryResource* resource);

    [[nodiscard]] ChangelistState& object() const noexcept { return *object_; }
    [[nodiscard]] const RepLayout& layout() const noexcept { return object_->layout(); }

    // What the receiver is to the object.

    [[nodiscard]] const ReplicationFlags& flags() const noexcept { return flags_; }
    /// The receiver is owed all properties that it begins to see by these flags.
    void set_flags(const ReplicationFlags& flags);
    /// The same for a receiver that was sent nothing yet, which is owed everything anyway.
    void begin_with_flags(const ReplicationFlags& flags) noexcept { flags_ = flags; }
    /// A condition of the object was chosen anew since the last owe_dynamic_changes().
    [[nodiscard]] bool has_dynamic_changes() const noexcept {
        return dynamic_change_count_ != object_->conditions().dynamic_change_count();
    }
    /// The receiver is owed the properties whose condition was chosen anew, if it may see them.
    void owe_dynamic_changes();

    // The values that the receiver is owed.

    /// Whether there is anything to look at.
    [[nodiscard]] bool owes_any() const noexcept {
        return is_initial_ || has_dynamic_changes() || owes_versions();
    }
    /// The same without regard to conditions.
    [[nodiscard]] bool owes_versions() const noexcept { return pair_.owes_any(object_->version()); }
    /// Nothing is lost, under way or left out.
    [[nodiscard]] bool is_exact() const noexcept;
    /// Its lost parts are a loan, until the next loss.
    [[nodiscard]] OwedVersions position() const noexcept;
    [[nodiscard]] ConnectionShadow shadow(bool is_exact) const noexcept;
    /// Makes `owed` the set of values to write for a receiver at `position`.
    void collect(const OwedVersions& position, ChangeMask& owed) const;
    /// A value that was left out is owed again if anything else of it is. Overwrites `owed`.
    void owe_left_out(ChangeMask& owed);
    /// The receiver must be sent the value once more.
    void owe_again(RepHandle handle);
    /// Begins the keyed arrays anew if those in `owed` might become too much for the receiver, and
    /// updates `position` and `owed` to that.
    void restart_arrays(OwedVersions& position, ChangeMask& owed);
    [[nodiscard]] SharedSerialization::PayloadKey payload_key(
        const OwedVersions& position) const noexcept;
    /// Null where the layout has no deltas.
    [[nodiscard]] const DeltaStates* delta_states() const noexcept {
        return layout().has_delta_structs() ? &deltas_ : nullptr;
    }

    // Blocks that go out.

    /// A block is about to be written. Before the first one the receiver had nothing of the object.
    void begin_block() noexcept {
        if (!has_sent_) {
            joined_version_ = object_->version();
        }
    }
    /// Counts everything that is owed as sent, though nothing is.
    void skip() noexcept {
        pair_.skip(object_->version());
        is_initial_ = false;
    }
    /// Takes everything that is owed: the caller sends it, or gives it back.
    [[nodiscard]] TakenOwed take(const OwedVersions& position) noexcept {
        return TakenOwed::take(pair_, object_->version(), position,
                               std::exchange(is_initial_, false));
    }
    /// The version of the object at the last take() or skip().
    [[nodiscard]] Version taken_version() const noexcept { return pair_.sent_version; }
    /// Appends to `carried` the losses that a block of all that was taken stands for.
    void collect_carried(const TakenOwed& taken, Vector<LostPart>& carried) const;
    /// A block of values that were taken goes out, with these deltas.
    void block_sent(const TakenOwed& taken, std::span<const SentDelta> deltas);
    /// Some values of a block could not be written, or had nothing to say.
    void note_not_sent(const BlockFindings& findings, const OwedVersions& position);
    /// A value that was taken does not go out.
    void leave_out(RepHandle handle, const OwedVersions& position);
    /// Parts of what was taken do not go out, and are owed again.
    void give_back(const TakenOwed& taken, std::span<const LostPart> unsent);

    // Fates of blocks, in order of sending.

    void block_delivered();
    /// A block that had carried this part was lost.
    void block_lost(const LostPart& carried, bool is_initial);
    /// The same block had carried this part, too.
    void more_lost(const LostPart& carried, bool is_initial);

    // Values that travel reliably.

    [[nodiscard]] bool is_any_paused() const noexcept { return !paused_.is_empty(); }
    [[nodiscard]] bool is_paused(RepHandle handle) const noexcept {
        return paused_.contains(handle);
    }
    /// A value, or an atomic group, went reliably. It is paused until it has arrived.
    void large_value_sent(const RepRange& value, std::span<const SentDelta> deltas);
    /// The value has arrived. Does nothing if it is not under way.
    void large_value_delivered(RepHandle value) noexcept { paused_.fragment_delivered(value); }
    /// Ends the pause of the next value that has arrived: its changes since are owed. Returns its
    /// handles.
    [[nodiscard]] std::optional<RepRange> resume_next();

  private:
    [[nodiscard]] LifetimeConditionSet passing(bool is_initial) const noexcept;
    [[nodiscard]] LifetimeConditionSet passing() const noexcept { return passing(is_initial_); }
    /// Notes a loss of these versions within `handles`.
    void owe(const RepRange& handles, VersionInterval versions);
    /// Notes a loss of all versions within `handles`.
    void owe_from_start(const RepRange& handles);
    /// Notes a loss of all values within `range` that are sent only at first: their later changes
    /// were passed over.
    void owe_initial(const RepRange& range);
    void owe_missed_deltas();
    void resolve_block(bool is_delivered);

    ChangelistState* object_;
    SendingRepState pair_;
    ReplicationFlags flags_;
    bool is_initial_ = true;  // what is sent only at first has not been sent, or was lost
    bool has_sent_ = false;
    std::uint32_t dynamic_change_count_;
    Version joined_version_ = 0;   // of the object when it was first sent
    Version restart_version_ = 0;  // of the object when its keyed arrays began anew
    LostParts lost_parts_;
    InFlightVersions in_flight_;  // for layouts that need it
    LeftOutValues left_out_;
    PausedValues paused_;
    DeltaStates deltas_;        // for layouts that have any
    Vector<RepHandle> missed_;  // scratch: deltas that were not taken
};

}  // namespace replayout::detail
