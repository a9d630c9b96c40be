// SPDX-License-Identifier: MIT
//
// What one receiver holds of the structs with a NetDeltaSerializer of one object, beside the
// SendingRepState. Only for layouts that have such a struct (RepLayout::has_delta_structs).
//
//     held        what the receiver holds for certain                         3
//     in flight   deltas, in order of sending                  (3 to 5) (5 to 6) (6 to 9)
//     base        what it will hold if all of them arrive: the next delta is written from here   9
//
// States are named by the version at which the property last changed; 0 is the archetype. A
// receiver takes a delta that begins where it stands, and no other. So of the three above, if the
// first is lost, the others are left alone when they arrive; the base is 3 at once, and the value
// is owed from there. Every delta is written from what its receiver then holds, whatever is lost.
//
// (Rejected: from the oldest state that was lost, as in Unreal. A receiver may then hold more than
// that state says, such as an element that was added and taken away since, and nobody ever tells
// it. Rejected: nothing new while a delta is in flight. It is right, and one change a round trip.)
#pragma once

#include <replayout/change_mask.h>
#include <replayout/handle.h>
#include <replayout/net_delta.h>
#include <replayout/sending_rep_state.h>

#include <span>

namespace replayout {

class ChangelistState;

/// What a receiver holds of one property. Without a state it is the archetype's.
struct DeltaBase {
    Version version = 0;
    NetDeltaStatePtr state;
};

/// A delta that was written.
struct SentDelta {
    RepHandle handle;
    Version from = 0;
    DeltaBase to;
};

/// The value and that base have nothing between them to send.
struct UnchangedDelta {
    RepHandle handle;
    Version from = 0;
    Version to = 0;
};

/// Blocks must be resolved in the order in which they were sent. Takes memory for the most that
/// were in flight at a time.
class DeltaStates {
  public:
    explicit DeltaStates(MemoryResource* resource);

    /// What a delta of that property is to be written from.
    [[nodiscard]] DeltaBase base(RepHandle handle) const noexcept;

    /// Takes away from `owed` what the receiver holds, or will hold by what is in flight. To be
    /// called after ChangelistState::collect_owed.
    void remove_held(const ChangelistState& state, ChangeMask& owed) const;

    /// One block of the pair goes out, with these deltas or with none.
    void block_sent(std::span<const SentDelta> deltas);
    /// The oldest block in flight arrived or did not. Properties of which the receiver now lacks
    /// what that block was to bring are appended to `missed`: the caller makes them owed again:
    /// LostParts::add and SendingRepState::return_unsent with ChangelistState::versions_to_repeat.
    void block_resolved(bool is_delivered, Vector<RepHandle>& missed);

    /// The same for a value that travels reliably. Until it has arrived, no other delta of the
    /// property may be sent. It has arrived when all that the receiver takes before it has, the
    /// beginning of its channel included: a restart() forgets what is no more under way.
    void value_sent(std::span<const SentDelta> deltas) { add(deltas, true); }
    void value_delivered(RepHandle handle, Vector<RepHandle>& missed);
    /// Likewise, but for the value: the receiver threw it away, because it was taken back.
    void value_taken_back(RepHandle handle, Vector<RepHandle>& missed);

    void note_unchanged(std::span<const UnchangedDelta> values);

    /// The receiver threw away all that it was sent since the object was opened for it, and holds
    /// what it held then: the archetype's values, if it did not keep the object from before. What
    /// is in flight will not be taken.
    void restart() noexcept;
    /// The receiver made the object anew: it holds the archetype's values, whatever it held before.
    /// What is in flight will not be taken.
    void forget() noexcept;

  private:
    struct Entry {
        DeltaBase held;
        DeltaBase base;
        UnchangedDelta unchanged;
    };
    struct InFlight {
        SentDelta delta;
        bool is_reliable = false;
        bool is_void = false;  ///< will not be taken, whatever becomes of it
    };

    void add(std::span<const SentDelta> deltas, bool is_reliable);
    void resolve_value(RepHandle handle, bool is_delivered, Vector<RepHandle>& missed);
    /// Number `index` in flight is no more under way.
    void resolve(std::size_t index, bool is_delivered, Vector<RepHandle>& missed);

    FlatMap<std::uint32_t, Entry> entries_;  // by handle
    Vector<InFlight> in_flight_;             // in order of sending
    Vector<std::uint32_t> blocks_;           // deltas of each block in flight
};

}  // namespace replayout
