// SPDX-License-Identifier: MIT
//
// What the blocks of one connection carried, and what becomes of it.
//
//     owed --take_owed()--> taken --add_records...()--> under way --record_delivered()--> held
//      ^                      |                             |
//      +---return_unsent...()-+-----------record_lost()-----+
//
// The records themselves lie with their packets (SentPackets); here is what they mean to a pair,
// and the account of the version as of which the client's copy is complete.
#pragma once

#include <replayout/lost_parts.h>
#include <replayout/reflection/memory.h>
#include <replayout/send_properties.h>
#include <replayout/taken_owed.h>

#include "connection_pairs.h"
#include "packet_stream.h"
#include "sent_content.h"
#include "waiting_values.h"

#include <cstdint>
#include <span>

namespace replayout {

/// What was taken of a pair, to go out in one block or in parts.
struct TakenOfPair : TakenOwed {
    PairRef pair;
};

class SentRecords {
  public:
    SentRecords(ConnectionPairs& pairs, WaitingValues& values, PacketStream& packets,
                SendContext& context, MemoryMeters& memory);

    /// The position of a pair that is about to be sent: what it lends stays until the next one.
    [[nodiscard]] OwedVersions sending_position_of(ObjectIndex index);
    /// Keyed arrays in `owed` begin anew where they must: updates `position` and `owed` to that.
    void restart_arrays(PairRef ref, OwedVersions& position, ChangeMask& owed);
    /// Everything that is owed goes out now, in one block or in parts.
    [[nodiscard]] TakenOfPair take_owed(PairRef ref, const OwedVersions& position);
    /// Nothing is sent of what the pair owes.
    void skip(PairRef ref);

    // Behind a block that was written

    /// It has all that was taken. `is_complete`: with everything since complete_version().
    void add_records_of_all(const TakenOfPair& taken, const SentBlock& block,
                            bool is_complete = false);
    /// It has `carried` of what was taken.
    void add_records(const TakenOfPair& taken, std::span<const LostPart> carried,
                     const SentBlock& block, bool is_complete = false);

    /// What is left of what was taken, from `cursor` on or all of `range`, is not sent after all.
    void return_unsent_from(const TakenOfPair& taken, const RepCursor& cursor);
    void return_unsent(const TakenOfPair& taken, const RepRange& range);
    /// The same of what is owed before `cursor`, which went to the client before; nothing, if
    /// that is the first.
    void return_unsent_before(const TakenOfPair& taken, const RepCursor& cursor);
    /// What is owed of `range` at `position`, which is that before it was taken.
    [[nodiscard]] VersionInterval owed_of(ObjectIndex index, const OwedVersions& position,
                                          const RepRange& range);
    /// `range` is a value for which there is no room: it is paused until it has its turn.
    void pause_unsent(const TakenOfPair& taken, const RepRange& range);

    /// In each flush, before anything is sent.
    void begin_flush() noexcept { looks_left_ = looks_max; }

    /// Blocks of regular pairs were copied from a bundle.
    void add_bundle(const SentBundle& bundle);
    /// The same, where the packet has its record already.
    void track_bundle(const SentBundle& bundle);

    // See SentContentHandler.
    /// Requires ConnectionPairs::keeps_account(): else there is nothing to note.
    void bundles_delivered(const SentBundles& bundles, std::uint32_t count);
    void bundle_lost(const SentBundle& bundle);
    /// That of a plain object, which had no record (ReliableSender::send_open()).
    void first_block_delivered(ObjectIndex index) {
        pairs_.record_resolved(index);
        if (pairs_.has_extra(index)) {
            resolve_record(pairs_.find_extra(index), true);
        }
    }
    void record_delivered(const SentRecord& record);
    void record_lost(const SentRecord& record);

    /// The client's copy is complete as of this version. Keeps account from now on.
    [[nodiscard]] Version complete_version(ObjectIndex index);

  private:
    /// What is in the scratch as carried parts is owed again.
    void owe_carried(const TakenOfPair& taken);
    /// The oldest record of the pair, which has that extra, is no longer under way.
    static void resolve_record(PairExtra* extra, bool is_delivered);
    /// The same of a block of a bundle, or of a record.
    static void resolve_block(PairExtra* extra, bool is_delivered);
    /// All that a block of a bundle carried changed again, so it was sent since, or is owed anyway.
    /// False where a flush has asked too often: a peer decides how many packets are lost at once.
    [[nodiscard]] bool is_sent_since(const BundleBlock& block) noexcept;
    static constexpr std::uint32_t looks_max = 2'000;  // of is_sent_since(), from flush to flush
    /// What a record or a block carried is owed again.
    void owe_lost(ObjectIndex index, PairExtra* extra, const LostPart& part);

    std::uint32_t looks_left_ = looks_max;
    ConnectionPairs& pairs_;
    WaitingValues& values_;
    PacketStream& packets_;
    SendContext& context_;
    Vector<LostPart> sending_parts_;  // scratch: where the pair at hand had lost something
    Vector<LostPart> carried_parts_;  // scratch: what a block carried of it
};

}  // namespace replayout
