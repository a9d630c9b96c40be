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
//         switch (to_bob.replicate_properties(writer, packet_number, sending).result) { ... }
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
// This is the convenient form: 640 bytes, and 48 for each packet in flight, beside what
// layouts with custom deltas or atomic groups need. The driver keeps the same by the same rules in
// 12 bytes a pair, and the rare beside them (docs/architecture.md).
#pragma once

#include <replayout/bit_writer.h>
#include <replayout/block_records.h>
#include <replayout/changelist_state.h>
#include <replayout/connection_shadow.h>
#include <replayout/missing_references.h>
#include <replayout/owed_properties.h>
#include <replayout/parts_under_way.h>
#include <replayout/reflection/memory.h>
#include <replayout/send_properties.h>

#include <cstddef>
#include <cstdint>
#include <span>

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
    void set_flags(const ReplicationFlags& flags) { owed_.set_flags(flags); }

    /// Whether replicate_properties() has anything to look at. A loop that asks this and
    /// writes with PacketRoom::Whole ends.
    [[nodiscard]] bool owes_any() const noexcept {
        return parts_.is_under_way() || owed_.owes_any();
    }

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
    /// What a block costs of these (SentBlock::array_steps) is to be taken from them for the next
    /// block of the packet.
    ///
    /// ValueTooLarge: see measure_large_value(). Then go on as after Part.
    ///
    /// At most 65,535 blocks may be in flight (asserted).
    [[nodiscard]] SentBlock replicate_properties(BitWriter& writer, std::uint64_t packet,
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
    /// `array_steps_left` does not limit it: it is no part of a packet, and what it costs is not to
    /// be taken from one's. So its receiver must grant it a budget of its own.
    [[nodiscard]] SentBlock replicate_large_value(BitWriter& writer, const SendContext& context);
    /// The value that large_value() named when it was written was applied. Nothing, if it is not
    /// under way.
    void large_value_delivered(RepHandle value);

    /// The receiver has the object with this id from now on (ReceiverIds): values that were written
    /// without it are owed again.
    void object_mapped(NetGUID guid);
    /// It never will: nothing waits for it any more.
    void object_removed(NetGUID guid) { missing_.note_removed(guid); }

    /// The receiver made the object anew, and takes nothing of what is in flight. The same as a new
    /// replicator with the same flags. Do not tell receipts of large values from before any more:
    /// large_value_delivered() is given a handle alone, and would take one for that of a newer
    /// value.
    void restart();

    /// Nothing is owed, under way or left out: the receiver holds what was compared last, as far as
    /// it may see it.
    [[nodiscard]] bool is_settled() const noexcept { return !owes_any() && is_exact(); }
    /// What the receiver has and lacks, by handle. Where a condition of the object was chosen since
    /// the last replicate_properties() it is not exact, and does not tell what is owed by that.
    [[nodiscard]] ConnectionShadow shadow() const noexcept { return owed_.shadow(is_exact()); }

  private:
    /// Nothing is lost, under way or left out.
    [[nodiscard]] bool is_exact() const noexcept {
        return owed_.is_exact() && !parts_.is_under_way();
    }
    [[nodiscard]] SendContext own_context(const SendContext& context) const noexcept;

    /// Writes everything that is owed, in one block. Unless that is a copy, `owed` becomes the set.
    [[nodiscard]] SentBlock write_whole(const OwedVersions& position, ChangeMask& owed,
                                        BitWriter& writer, std::uint64_t packet,
                                        SendContext& context);
    /// Writes a block that another receiver in the same position was sent. Nothing: there is none,
    /// or no room for it.
    [[nodiscard]] SentBlock write_payload(const OwedVersions& position, BitWriter& writer,
                                          SendContext& context);

    [[nodiscard]] SentBlock write_part(BitWriter& writer, std::uint64_t packet,
                                       SendContext& context);
    /// Ends the parts under way if they cannot go on: there is nothing left of them, or the object
    /// or the receiver has changed.
    void settle_parts(SendContext& context);
    /// Object and receiver are what they were when the parts were taken.
    [[nodiscard]] bool is_as_taken() const noexcept;
    /// Makes `only` what is owed of the large value.
    void collect_large_value(ChangeMask& only) const;
    void leave_out_large_value(SendContext& context);

    /// The block goes out, with all that was taken.
    void whole_sent(const TakenOwed& taken, std::uint64_t packet, const SentBlock& block);
    /// The block goes out, with the losses in carried_.
    void block_sent(const TakenOwed& taken, std::uint64_t packet, const SentBlock& block);
    /// The values of `owed` within `handles` were sent from `position`: notes which of them are not
    /// fully mapped, have nothing to say, or are left out.
    void note_sent_values(const BlockFindings& findings, const ChangeMask& owed,
                          const RepRange& handles, const OwedVersions& position);

    MemoryResource* resource_;
    detail::OwedProperties owed_;
    detail::BlockRecords blocks_;
    detail::PartsUnderWay parts_;
    detail::MissingReferences missing_;
    Vector<LostPart> carried_;  // scratch: the losses that a block stands for
};

}  // namespace replayout
