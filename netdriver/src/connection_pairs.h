// SPDX-License-Identifier: MIT
//
// The pairs of one connection of a server with all objects: what each was sent, lost and owes. It
// sends nothing; who does asks here, and says here what became of it.
//
// A pair is twelve bytes in a row by object index; what is rare lies beside it: PairExtra, and
// DeltaStates where the layout has deltas.
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
#include <replayout/reflection/lifetime_condition.h>
#include <replayout/reflection/memory.h>
#include <replayout/sending_rep_state.h>

#include "bit_row.h"
#include "object_store.h"
#include "pair_dormancy.h"
#include "pair_extra.h"
#include "pair_validator.h"

#include <cstdint>
#include <optional>

namespace replayout {

class ConnectionPairs {
  public:
    ConnectionPairs(const ObjectStore& objects, PeerId peer, MemoryMeters& memory);

    /// From now on, before anything is sent, every pair is checked against a copy of what the
    /// client holds; see PairValidator.
    void start_validating(const NetGUIDCache& guids);
    /// Null unless validating.
    [[nodiscard]] PairValidator* validator() noexcept {
        return validator_ ? &*validator_ : nullptr;
    }

    // The rows

    /// There is a pair for each slot of the store from now on.
    void grow();
    /// The row reaches as far as this slot.
    [[nodiscard]] bool contains(std::uint32_t index) const noexcept {
        return index < pairs_.size();
    }
    [[nodiscard]] SendingRepState& operator[](std::uint32_t index) noexcept {
        return pairs_[index];
    }
    [[nodiscard]] const SendingRepState& operator[](std::uint32_t index) const noexcept {
        return pairs_[index];
    }
    /// Objects that must be looked at.
    [[nodiscard]] BitRow& pending() noexcept { return pending_; }
    [[nodiscard]] const BitRow& pending() const noexcept { return pending_; }
    [[nodiscard]] PairDormancy& dormancy() noexcept { return dormancy_; }
    [[nodiscard]] const PairDormancy& dormancy() const noexcept { return dormancy_; }

    // Beside a pair

    /// Null: there is none.
    [[nodiscard]] PairExtra* find_extra(std::uint32_t index) noexcept {
        const auto found = extras_.find(index);
        return found != extras_.end() ? &found->second : nullptr;
    }
    [[nodiscard]] const PairExtra* find_extra(std::uint32_t index) const noexcept {
        const auto found = extras_.find(index);
        return found != extras_.end() ? &found->second : nullptr;
    }
    /// Valid until another one is made.
    [[nodiscard]] PairExtra& extra_of(std::uint32_t index);
    void erase_extra(std::uint32_t index) noexcept { extras_.erase(index); }
    /// Of a pair of which account of complete versions is kept; null of any other.
    [[nodiscard]] CompleteVersions* tracked(std::uint32_t index) noexcept;
    /// Of a layout that has deltas; null of any other. Valid until another one is made.
    [[nodiscard]] DeltaStates* deltas_of(std::uint32_t index);
    /// Null: nothing of them was sent.
    [[nodiscard]] DeltaStates* find_deltas(std::uint32_t index) noexcept {
        const auto found = deltas_.find(index);
        return found != deltas_.end() ? &found->second : nullptr;
    }
    void erase_deltas(std::uint32_t index) noexcept { deltas_.erase(index); }

    // What a pair says

    [[nodiscard]] OwedVersions position_of(std::uint32_t index) const;
    /// What the client holds is known.
    [[nodiscard]] bool is_exact(std::uint32_t index) const;
    /// Sets `owed` to the handles that a client at `position` is owed and may be sent now.
    void collect_owed(std::uint32_t index, const OwedVersions& position, ChangeMask& owed);
    /// The client has it, or is being sent it.
    [[nodiscard]] bool has_object(std::uint32_t index) const noexcept;
    /// Nothing when the object's channel is not open.
    [[nodiscard]] std::optional<ConnectionShadow> connection_shadow(std::uint32_t index) const;

    // What the connection is to an object

    /// Not initial.
    [[nodiscard]] ReplicationFlags flags_for(const ObjectFacts& facts) const noexcept;
    [[nodiscard]] LifetimeConditionSet passing_of(std::uint32_t index) const;
    /// The object of that slot is something else to this connection from now on than it was.
    void facts_changed(std::uint32_t index, const ObjectFacts& before, const ObjectFacts& after);
    /// A property of that object, of condition Dynamic, is about to be of condition `after`.
    void dynamic_condition_changed(std::uint32_t index, ParentIndex parent,
                                   LifetimeCondition after);
    /// The connection records instead of playing, or does no longer.
    void set_is_replay(bool is_replay);

    // What happens to a pair

    /// Its channel is about to open, for the first time or over the object that the client kept.
    void begin(std::uint32_t index);
    /// These versions are owed again, in that range.
    void owe_part(std::uint32_t index, const LostPart& part);
    /// The value was sent, and did not arrive as it is.
    void owe_again(std::uint32_t index, RepHandle handle);
    /// What is sent only at first was lost, as far as it lies in that range.
    void owe_initial(std::uint32_t index, const RepRange& range);
    /// The client threw away all that was sent so far.
    void owe_everything(std::uint32_t index);
    /// Of what is paused within `range`, these versions were lost.
    void note_lost_while_paused(std::uint32_t index, const RepRange& range, VersionInterval lost);

  private:
    [[nodiscard]] ReplicationFlags flags_of(std::uint32_t index,
                                            const ObjectFacts& facts) const noexcept;
    /// The channel opens again over the object that the client kept.
    void start_over(std::uint32_t index);
    /// A loss is about to be noted in the pair.
    void add_lost_part(std::uint32_t index, const LostPart& part);
    /// Owes what a receiver sees by `after` and did not by `before`.
    void owe_turned_on(std::uint32_t index, LifetimeConditionSet before,
                       LifetimeConditionSet after);
    /// All that ever changed of these is owed.
    void owe_from_start(std::uint32_t index, const RepRange& handles);

    const ObjectStore& objects_;
    PeerId peer_;
    bool is_replay_ = false;
    MemoryResource* resource_;  // of what scales with pairs
    MemoryResource* validation_resource_;
    Vector<SendingRepState> pairs_;  // by object index
    BitRow pending_;
    FlatMap<std::uint32_t, PairExtra> extras_;    // by object index
    FlatMap<std::uint32_t, DeltaStates> deltas_;  // by object index
    PairDormancy dormancy_;
    std::optional<PairValidator> validator_;
};

}  // namespace replayout
