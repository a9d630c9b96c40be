// SPDX-License-Identifier: MIT
//
// Replicates one object to one receiver, over packets of your own (Unreal: FObjectReplicator). All
// that a sender has to hold right for each object and receiver is in here, and in the right order;
// what is kept once for all receivers is in ChangelistState.
//
//     ChangelistState pawn_state(layout, memory);           // one for each object
//     ObjectReplicator to_bob(pawn_state, memory);          // one for each object and receiver
//
//     pawn_state.update(&pawn, ids, counters);              // once a tick, for all receivers
//     while (to_bob.owes_any() && may_send_a_packet) {
//         BitWriter writer(memory_of_packet);
//         switch (to_bob.replicate_properties(writer, packet_number, sending)) { ... }
//     }
//     to_bob.packet_delivered(number);                      // or packet_lost(number)
//
// What your transport must promise, and what a packet must say beside the block:
//
// * A packet is applied once, and in the order of sending, or not at all: who receives drops what
//   comes twice or behind a later one. What is dropped counts as lost.
// * The fate of packets is told in the order of sending.
// * Nothing of another object goes to that receiver between the parts of one: its update would end
//   there (ReceiveContext::more_parts_follow).
// * A block goes with the object that it is of, and with the mark "more parts follow" where
//   replicate_properties() answered Part (ReceiveContext::more_parts_follow).
//
// docs/integration.md, "A transport of your own", has the rest: who joins, who leaves, ids.
//
// This is the convenient form: 712 bytes, and 48 for each packet in flight, beside what
// layouts with custom deltas or atomic groups need. The driver keeps the same by the same rules in
// 12 bytes a pair, and the rare beside them (docs/architecture.md).
#pragma once

#include <replayout/bit_writer.h>
#include <replayout/changelist_state.h>
#include <replayout/connection_shadow.h>
#include <replayout/delta_states.h>
#include <replayout/in_flight_versions.h>
#include <replayout/left_out_values.h>
#include <replayout/lost_parts.h>
#include <replayout/paused_values.h>
#include <replayout/reflection/memory.h>
#include <replayout/send_properties.h>
#include <replayout/sending_rep_state.h>
#include <replayout/taken_owed.h>

#include <cstddef>
#include <cstdint>

namespace replayout {

/// How much of a packet the writer has.
enum class PacketRoom : std::uint8_t {
    /// As empty as your packets get, and as large: what does not fit is cut into parts, and a value
    /// that fits into none is ValueTooLarge.
    Whole,
    /// The packet holds other things: what does not fit waits for a packet of its own.
    Rest,
};

/// A class that takes memory from the resource until it has seen the most packets in flight, and
/// then no more. Moves, and does not copy. One thread at a time for all receivers of an object, and
/// for all objects that are written with the same SendScratch.
class ObjectReplicator {
  public:
    /// The receiver holds what the layout's archetype holds. `object` and the resource must outlive
    /// the replicator; so must, of layouts with custom deltas, the scratch memory it writes with.
    ObjectReplicator(ChangelistState& object, MemoryResource* resource);
    ObjectReplicator(const ObjectReplicator&) = delete;
    ObjectReplicator& operator=(const ObjectReplicator&) = delete;
    ObjectReplicator(ObjectReplicator&&) = default;
    /// Takes over the other's resource, too.
    ObjectReplicator& operator=(ObjectReplicator&& other) noexcept;

    /// What the receiver is to the object from now on; at first the defaults of ReplicationFlags.
    /// What it begins to see by that is owed. Its `is_initial` is ignored: the replicator knows it.
    /// May take memory.
    void set_flags(const ReplicationFlags& flags);

    /// Whether replicate_properties() has anything to look at. A loop that asks this and
    /// writes with PacketRoom::Whole ends.
    [[nodiscard]] bool owes_any() const noexcept;

    /// Writes the next block of what is owed, of the object as it was compared last. `writer` must
    /// stand at a byte boundary, or the call is refused, and the block ends at one. `packet` is
    /// your number of the packet that it goes into, which no other packet in flight may have; it is
    /// told to packet_delivered() or packet_lost(). The scratch memory of `context` may serve any
    /// number of replicators, and its `receiver`, if there is one, is this one's; `delta_states` is
    /// not looked at.
    ///
    /// Whole: a block was written, and was the last of its update. Part: a block was written that
    /// more are to follow; what is left waits for the next call, or is owed anew if the object
    /// changes before that. Nothing, DoesNotFit (with PacketRoom::Rest) and ValueTooLarge write
    /// nothing, so there may be no packet.
    ///
    /// DoesNotFit may also come from `array_steps_left` of the context, however much room there is.
    /// What a block costs of these is then in SendScratch::array_steps, and is to be taken from
    /// them for the next block of the packet.
    ///
    /// ValueTooLarge: see measure_large_value(). Then go on as after Part.
    ///
    /// At most 65,535 blocks may be in flight (asserted).
    [[nodiscard]] SendResult replicate_properties(BitWriter& writer, std::uint64_t packet,
                                                  const SendContext& context,
                                                  PacketRoom room = PacketRoom::Whole);

    /// The packet with that number was applied. In the order of sending (asserted). Nothing, if it
    /// carried nothing of this object.
    void packet_delivered(std::uint64_t packet);
    /// It was not, and never will be (Unreal: ReceivedNak).
    void packet_lost(std::uint64_t packet);

    // A value, or an atomic group, that no packet holds may travel on a reliable way of your own,
    // as a block like any other. Values must arrive there in order, and what was sent before one
    // must not be applied after it. One that is not taken by replicate_large_value() before the
    // next replicate_properties() is left out until it changes, logged and counted
    // (values_over_limit).

    /// After ValueTooLarge: its first handle.
    [[nodiscard]] RepHandle large_value() const noexcept;
    /// Bytes that replicate_large_value() takes. Before the object's next update() (asserted).
    [[nodiscard]] std::size_t measure_large_value(const SendContext& context);
    /// Whole: the value was written, and is paused until large_value_delivered(). DoesNotFit: it
    /// was not, and may be tried again. Nothing: it cannot be written after all, or object or
    /// receiver are not what they were any more; then it is found anew, if it is still owed.
    /// `array_steps_left` does not limit it: it is no part of a packet, and
    /// SendScratch::array_steps of it is not to be taken from one's. So its receiver must grant it
    /// a budget of its own.
    [[nodiscard]] SendResult replicate_large_value(BitWriter& writer, const SendContext& context);
    /// The value that large_value() named when it was written was applied. Nothing, if it is not
    /// under way.
    void large_value_delivered(RepHandle value);

    /// The receiver has the object with this id from now on (ReceiverIds): values that were written
    /// without it are owed again.
    void object_mapped(NetGUID guid);
    /// It never will: nothing waits for it any more.
    void object_removed(NetGUID guid);

    /// The receiver made the object anew, and takes nothing of what is in flight. The same as a new
    /// replicator with the same flags. Do not tell receipts of large values from before any more:
    /// large_value_delivered() is given a handle alone, and would take one for that of a newer
    /// value.
    void restart();

    /// Nothing is owed, under way or left out: the receiver holds what was compared last, as far as
    /// it may see it.
    [[nodiscard]] bool is_settled() const noexcept;
    /// What the receiver has and lacks, by handle. Where a condition of the object was chosen since
    /// the last replicate_properties() it is not exact, and does not tell what is owed by that.
    [[nodiscard]] ConnectionShadow shadow() const noexcept;

  private:
    /// What is lost if a block in flight is; of one that repeats several losses there are several.
    struct Record {
        std::uint64_t packet = 0;
        LostPart carried;
        bool is_more = false;     ///< of the same block as the record before
        bool is_initial = false;  ///< with what is sent only at first
    };

    /// Of an object that goes in parts: what is left of it.
    struct Parts {
        explicit Parts(MemoryResource* resource)
            : owed(resource), lost(Allocator<LostPart>(resource)) {}

        ChangeMask owed;
        OwedVersions position;  ///< that parts are written for; `lost` is to be lent to it
        TakenOwed taken;        ///< likewise
        Vector<LostPart> lost;
        ReplicationFlags flags;
        RepCursor cursor;
        RepRange large_value;
        bool is_under_way = false;
        bool has_large_value = false;  ///< not taken yet
    };

    /// A value that was written as "not fully mapped".
    struct WaitingValue {
        UnmappedValue value;
        bool is_mapped = false;  ///< and owed again as soon as it is no more paused
    };

    [[nodiscard]] const RepLayout& layout() const noexcept { return object_->layout(); }
    [[nodiscard]] LifetimeConditionSet passing(bool is_initial) const noexcept;
    [[nodiscard]] SendContext own_context(const SendContext& context) const noexcept;
    /// Nothing is lost, under way or left out.
    [[nodiscard]] bool is_exact() const noexcept;
    [[nodiscard]] OwedVersions position() const noexcept;
    [[nodiscard]] bool has_dynamic_changes() const noexcept;

    void collect_owed(const OwedVersions& position, ChangeMask& owed) const;
    /// What was left out goes with what is owed of the same values.
    void owe_left_out(ChangeMask& owed);
    /// What goes out now is everything that is owed.
    [[nodiscard]] TakenOwed take_owed(const OwedVersions& position) noexcept;
    /// Nothing is sent of what is owed.
    void skip() noexcept;

    [[nodiscard]] SendResult write_whole(const OwedVersions& position, BitWriter& writer,
                                         std::uint64_t packet, SendContext& context);
    /// True, if somebody in the same position was sent the same block and there is room for it.
    [[nodiscard]] bool write_payload(const OwedVersions& position, BitWriter& writer,
                                     SendContext& context);
    [[nodiscard]] bool may_share_payload(const SendContext& context) const noexcept;
    [[nodiscard]] SharedSerialization::PayloadKey payload_key(const OwedVersions& position) const;

    /// The object goes in parts. Keyed arrays of it that might become too much for the receiver
    /// begin anew.
    void restart_arrays(OwedVersions& position, ChangeMask& owed);
    void begin_parts(const OwedVersions& position, const ChangeMask& owed);
    /// That of the parts under way, which outlives what the pair loses meanwhile.
    [[nodiscard]] OwedVersions parts_position() const noexcept;
    void return_unsent_from(const RepCursor& cursor);
    /// Ends the parts under way where they cannot go on: there is nothing left of them, or the
    /// object or the receiver is no more what it was.
    void settle_parts(SendContext& context);
    /// Object and receiver are what they were when the parts were taken.
    [[nodiscard]] bool is_as_taken() const noexcept;
    [[nodiscard]] bool has_parts_left() const noexcept;
    [[nodiscard]] SendResult write_part(BitWriter& writer, std::uint64_t packet,
                                        SendContext& context);
    /// Makes `only` what is owed of the large value.
    void collect_large_value(ChangeMask& only) const;
    void leave_out_large_value(SendContext& context);

    /// Makes carried_ what is lost with a block of all that was taken.
    void collect_whole(const TakenOwed& taken);
    void add_records(const TakenOwed& taken, std::uint64_t packet, const SendScratch& scratch);
    /// The values of `owed` within `handles` were sent from `position`: notes which of them are not
    /// fully mapped, have nothing to say, or are left out.
    void note_sent_values(const SendScratch& scratch, const ChangeMask& owed,
                          const RepRange& handles, const OwedVersions& position);
    void resolve(bool is_delivered);
    void resume(const PausedValues::Entry& value);
    /// A loss of these versions within `handles` is noted.
    void owe(const RepRange& handles, VersionInterval versions);
    /// What is sent only at first was lost, so far as it lies in that range. What changed of it
    /// since was passed over.
    void owe_initial(const RepRange& range);
    /// All that ever changed of them.
    void owe_from_start(const RepRange& handles);
    void owe_again(RepHandle handle);
    void owe_missed_deltas();

    ChangelistState* object_;
    MemoryResource* resource_;
    SendingRepState pair_;
    ReplicationFlags flags_;
    bool is_initial_ = true;  // what is sent only at first has not been sent, or was lost
    bool has_sent_ = false;
    std::uint32_t dynamic_change_count_;
    LostParts lost_parts_;
    Version joined_version_ = 0;   // of the object when it was first sent
    Version restart_version_ = 0;  // likewise when its keyed arrays began anew
    Vector<Record> records_;       // in flight, in order of sending
    InFlightVersions in_flight_;   // of layouts that need to know
    LeftOutValues left_out_;
    PausedValues paused_;
    DeltaStates deltas_;        // of layouts that have any
    Vector<RepHandle> missed_;  // scratch: deltas that were not taken
    Vector<LostPart> carried_;  // scratch: what is lost if the block is
    Vector<WaitingValue> waiting_;
    Parts parts_;
};

}  // namespace replayout
