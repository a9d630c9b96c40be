// SPDX-License-Identifier: MIT
//
// Values of one connection that were not just sent and done with, and when each is owed again:
//
//     in turn     too large for a packet, and there is no room     once others had theirs
//     unmapped    its receiver lacks the object that it names      once the receiver has that
//     put off     its net_serialize said that something is missing  a flush later, then ever more
//     paused      too large for a packet, it travels reliably      once it was delivered; all of
//                                                                  it, if it was taken back
//     left out    it could not be written                          with what is owed of the same
//     delta       it says what changed since a state               once a block of it was lost
//
// It sends nothing. What it knows of a pair lies beside that (PairExtra, DeltaStates), but for the
// unmapped ones, which are found by what they wait for, too.
#pragma once

#include <replayout/send_properties.h>

#include "connection_pairs.h"
#include "put_off_values.h"
#include "reliable_sender.h"
#include "unmapped_values.h"
#include "value_turns.h"

#include <cstdint>
#include <span>

namespace replayout {

class WaitingValues final : public ReceiverIds {
  public:
    WaitingValues(const ObjectStore& objects, ConnectionPairs& pairs, SendContext& context,
                  MemoryMeters& memory);

    /// The client has what it acknowledged the open of.
    [[nodiscard]] bool is_mapped(NetGUID guid) const override;

    /// The values of `owed` within `handles` were sent to a receiver at `position`: notes which of
    /// them are not fully mapped or left out.
    void note_sent(PairRef ref, const ChangeMask& owed, const RepRange& handles,
                   const OwedVersions& position, const BlockFindings& findings);
    void note_left_out(PairRef ref, std::span<const RepHandle> handles,
                       const OwedVersions& position);
    /// What was left out goes with what is owed of the same values. Overwrites SendScratch::owed.
    void owe_left_out(PairRef ref);

    /// Objects with a paused value for which there was no room.
    [[nodiscard]] ValueTurns& turns() noexcept { return turns_; }
    [[nodiscard]] const ValueTurns& turns() const noexcept { return turns_; }
    /// Gives a turn to as many objects as `room` fragments allow: marks their waiting values as
    /// owed and them as pending, and calls `bool visit(index)` for each. Where that returns false,
    /// there is no room after all, and the others stay where they are.
    template <typename Visitor>
    void begin_turns(std::uint32_t room, Visitor visit) {
        turns_.begin_round(
            room, [this](ObjectIndex index) { end_turn(index); },
            [&](ObjectIndex index) {
                owe_waiting(index);
                return visit(index);
            });
    }

    /// Notes that a fragment of a value that travels reliably was delivered.
    void value_delivered(const BunchTag& tag);
    /// Notes that a message of the object's channel was delivered.
    void message_delivered(const BunchTag& tag);
    /// Lets changes go out again of values of this object that were delivered. The client has it.
    void resume_values(ObjectIndex index);
    /// The pair's oldest block is no longer under way.
    void resolve_deltas(ObjectIndex index, bool is_delivered);

    /// The client has the object now: what waited for it is owed again.
    void object_mapped(ObjectIndex index);
    /// The object is about to be removed: nothing of it waits, and nothing waits for it.
    void forget_object(ObjectIndex index);

    /// Whether a value of the object waits for another object, or for net_serialize to answer
    /// otherwise.
    [[nodiscard]] bool has_unmapped(ObjectIndex index) const noexcept {
        return unmapped_.is_waiting(index) || put_off_.contains(index);
    }
    /// Sets the handles of those. Whether there are any.
    bool mark_unmapped(ObjectIndex index, ChangeMask& handles) const noexcept {
        const bool is_put_off = put_off_.mark(index, handles);
        return unmapped_.mark(index, handles) || is_put_off;
    }
    [[nodiscard]] bool has_put_off() const noexcept { return !put_off_.is_empty(); }
    /// Something is kept here of some object.
    [[nodiscard]] bool keeps_any() const noexcept {
        return !turns_.is_empty() || !put_off_.is_empty() || !unmapped_.is_empty();
    }
    /// The client is sent it only at first.
    [[nodiscard]] bool is_initial_value(ObjectIndex index, const PausedValues::Entry& value) const;
    /// Once a flush, before anything is sent: what was put off, and has waited, is owed again.
    void owe_put_off();

  private:
    [[nodiscard]] bool is_paused(ObjectIndex index, RepHandle handle) const;
    void owe_waiting(ObjectIndex index);
    void end_turn(ObjectIndex index) noexcept;
    /// What happened to the value meanwhile is owed.
    void end_pause(ObjectIndex index, const PausedValues::Entry& value);
    void resume_value(ObjectIndex index, const PausedValues::Entry& value);
    /// What the client lacks of its deltas is owed again.
    void owe_missed_deltas(ObjectIndex index);

    const ObjectStore& objects_;
    ConnectionPairs& pairs_;
    SendContext& context_;
    ValueTurns turns_;
    UnmappedValues unmapped_;
    PutOffValues put_off_;
    Vector<RepHandle> missed_;  // scratch: deltas that were not taken
};

}  // namespace replayout
