// SPDX-License-Identifier: MIT
//
// The debug mode of a connection's sending side (NetDriverSettings::is_validating): beside each
// pair a real copy of what the client holds, made of the bytes that were delivered and of nothing
// else, and compared with what the pair says of itself.
//
//     sent_    blocks in packets, in order of sending     [pair 3][pair 9][pair 3] ...
//     pairs_   3: copy, open,     values [handle 7: 2 fragments missing]
//              9: copy, not open, values -
//
// The client can be modelled exactly: it processes packets in order of sending, and what became of
// each is told in that order.
//
// * Its channel opens with the first delivered packet that carried the open. What came in packets
//   before it is thrown away; blocks of that packet are taken, since bunches come first.
// * A value too large for a packet is taken when all its fragments were delivered, and all that
//   was queued before it on the channel; unless it was taken back amid that.
// * With the close, nothing of the pair matters any more; unless the object is dormant, which the
//   client keeps as it is until the channel opens again.
//
// What is checked, after each flush and for each pair that something happened to:
//
// * An exact pair at the object's version holds the object, value by value.
// * Of any other pair, what is neither owed nor under way nor paused is held.
//
// An array that is under way anywhere is not looked at; it is when it has come to rest. It only
// listens: no byte depends on it.
#pragma once

#include <replayout/materialized_shadow.h>
#include <replayout/netdriver/net_guid_cache.h>

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "bit_row.h"
#include "object_store.h"
#include "reliable_sender.h"

namespace replayout {

class PairValidator {
  public:
    PairValidator(const ObjectStore& objects, const NetGUIDCache& guids, MemoryResource* resource);
    PairValidator(const PairValidator&) = delete;
    PairValidator& operator=(const PairValidator&) = delete;

    // What the sender does. Objects are named by index.

    void channel_opened(ObjectIndex index);
    void channel_closed(ObjectIndex index);
    /// It was closed, and the client keeps the object; the next open goes on with the copy.
    void channel_dormant(ObjectIndex index);
    /// A block was written, and its record is the last one made.
    void block_sent(ObjectIndex index, std::span<const std::byte> block);
    /// A block with the one value at `handles`, or the atomic group, goes out reliably, in
    /// `bunch_count` parts.
    void value_queued(ObjectIndex index, const RepRange& handles, std::uint32_t bunch_count,
                      std::span<const std::byte> block);
    /// The value at `handle` cannot be sent, and was left out of the last block. It is excused
    /// until a block has it again.
    void value_left_out(ObjectIndex index, RepHandle handle);
    /// What the client has of the value at `handle` is equal and not so to the bit: it is excused
    /// for good.
    void value_unknown(ObjectIndex index, RepHandle handle);

    // What became of it.

    void block_delivered(ObjectIndex index);
    void block_lost(ObjectIndex index);
    void bunch_delivered(const BunchTag& tag);

    /// The next pair that something happened to, and takes it off the list. BitRow::no_bit: none.
    [[nodiscard]] ObjectIndex take_touched();
    /// Objects that changed; see mark_pending().
    void touch(const BitRow& changed);

    /// What the sender says of a pair.
    struct Claim {
        SendingRepState state;
        bool is_open = false;              ///< the open was delivered
        bool has_unmapped_values = false;  ///< excused, though nothing is owed
        std::uint32_t paused_count = 0;
    };
    /// Asserts that the claim is true. `excused` are the handles that are owed or paused; the rest
    /// of what is excused is added to it. `hidden` are those that the client is not kept up to
    /// date with.
    void check(ObjectIndex index, const Claim& claim, ChangeMask& excused,
               const ChangeMask& hidden);

  private:
    /// References by the ids that the server gave, whether the object is there or not. Gives none.
    class NamedObjects final : public PackageMap {
      public:
        explicit NamedObjects(const NetGUIDCache& guids) noexcept : guids_(guids) {}

        [[nodiscard]] NetGUID guid_of(ObjectHandle object) override {
            return guids_.find_guid(object);
        }
        [[nodiscard]] ObjectHandle object_of(NetGUID guid) override {
            return guids_.find_named(guid);
        }

      private:
        const NetGUIDCache& guids_;
    };

    struct SentBlock {
        ObjectIndex index{};
        std::uint64_t life = 0;  ///< of the channel
        Vector<std::byte> bytes;
    };
    struct ReliableValue {
        RepRange handles;
        std::uint32_t bunches_left = 0;
        Vector<std::byte> bytes;
        bool is_taken_back = false;  // the client throws it away
    };
    struct Pair {
        Pair(const RepLayout& object_layout, PackageMap& package_map, std::uint64_t channel_life,
             MemoryResource* resource);

        const RepLayout& layout;
        MaterializedShadow copy;
        std::uint64_t life;
        bool is_open = false;
        std::uint32_t in_flight = 0;
        Vector<std::uint32_t> carried;          // by handle: blocks in flight that mention it
        ChangeMask left_out;                    // of the last block that should have had them
        ChangeMask unknown;                     // for good
        std::pmr::deque<ReliableValue> values;  // in order of queueing
    };

    [[nodiscard]] Pair* find(ObjectIndex index);
    /// The oldest block in flight is no more: its pair, or null when its channel is gone.
    [[nodiscard]] Pair* resolve(ObjectIndex index);
    /// Counts the handles that a block mentions as carried once more, or once less.
    void count_carried(ObjectIndex index, Pair& pair, std::span<const std::byte> block, int step);
    [[nodiscard]] ChangeMask handles_of(ObjectIndex index, const Pair& pair,
                                        std::span<const std::byte> block);
    /// What that block has is no more left out.
    void end_left_out(ObjectIndex index, Pair& pair, std::span<const std::byte> block);
    void apply(ObjectIndex index, Pair& pair, std::span<const std::byte> block);
    void apply_values(ObjectIndex index, Pair& pair);
    void expect(bool condition, ObjectIndex index, std::string_view what);
    /// Puts into the message what is to be known about a difference.
    void describe(ObjectIndex index, const Claim& claim, RepHandle handle);

    const ObjectStore& objects_;
    NamedObjects names_;
    MemoryResource* resource_;
    std::pmr::map<ObjectIndex, Pair> pairs_;
    std::pmr::deque<SentBlock> sent_;
    BitRow touched_;
    std::uint64_t last_life_ = 0;
    // Kept here and not on the stack: an assert handler may leave without unwinding.
    std::string message_;
};

}  // namespace replayout
