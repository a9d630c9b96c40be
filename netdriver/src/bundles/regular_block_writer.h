// SPDX-License-Identifier: MIT
//
// Lays down what regular pairs are owed of one object after the other, as blocks in bytes of its
// own. The writer of the run cuts these into bundles and packets as it goes. The writer of a lane
// cuts nothing: LaneBlocks has that done afterwards.
#pragma once

#include <replayout/block_counts.h>
#include <replayout/changelist_state.h>
#include <replayout/netdriver/bunch.h>
#include <replayout/reflection/memory.h>
#include <replayout/send_properties.h>

#include "bundle_run.h"
#include "flush_changes.h"
#include "kept_room.h"
#include "lane_range.h"
#include "object_store.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

/// Blocks that follow each other in a lane and in a packet of the run.
struct BlockExtent {
    std::uint32_t first = 0;  ///< of the lane's
    std::uint32_t count = 0;
    // The head of the first of them, in the run:
    std::uint32_t byte_offset = 0;
    std::uint16_t head_bytes = 0;
    bool has_new_head = false;  ///< else it stands after the same block as in the lane
    ChannelIndex last_channel;  ///< of the block before it
};

class RegularBlockWriter {
  public:
    /// What is known of a block.
    enum class Contents : std::uint8_t {
        Objects,   ///< its object alone
        Measured,  ///< its length, too
        Bytes,     ///< its bytes: it is laid down
    };

    struct Parts {
        const ObjectStore& objects;
        const FlushChanges& changes;
        const BitRow& unasked;  ///< objects that no client is shown (SharedValues): left out
    };

    /// `room_bytes`: of an empty packet, for blocks.
    RegularBlockWriter(const Parts& parts, std::size_t room_bytes, MemoryResource* resource)
        : parts_(parts),
          room_bytes_(room_bytes),
          bytes_(resource),
          loose_(resource),
          values_(Allocator<BlockValue>(resource)),
          value_ends_(Allocator<std::size_t>(resource)) {}

    /// Begins a flush. Blocks are cut into bundles of `run`; null: they are not cut.
    /// `type_counters` by layout number; empty: values are not counted by type.
    void begin(Contents contents, BundleRun* run, std::span<TypeCounters> type_counters) noexcept;
    /// Between begin() and the first block, see KeptRoom.
    void trim() {
        loose_.trim();
        bytes_.drop_and_trim();
    }

    /// Lays down what changed of the objects in `order`, and then of all objects in these words of
    /// a row. Adds the blocks to `blocks`: the run that begin() was given, or LaneBlocks. Writes no
    /// bytes unless has_bytes().
    template <typename Blocks>
    void lay_down(std::span<const ObjectIndex> order, LaneRange words, Blocks& blocks,
                  SendContext& context);
    /// Blocks that the run has since the last bundle become one; the next one goes on in the same
    /// packet.
    void end_bundle() {
        run_->end_bundle(bundle_begin_, byte_count_);
        bundle_begin_ = byte_count_;
    }

    [[nodiscard]] bool has_bytes() const noexcept { return contents_ == Contents::Bytes; }
    /// What an empty packet has room for.
    [[nodiscard]] std::size_t room_bytes() const noexcept { return room_bytes_; }
    /// What is laid down, with room for a header in front of each packet.
    [[nodiscard]] std::span<std::byte> bytes() noexcept { return {bytes_.data(), byte_count_}; }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
        return {bytes_.data(), byte_count_};
    }
    /// The values of a block. Known only where types are counted.
    [[nodiscard]] std::span<const BlockValue> values_of(std::uint32_t number) const noexcept {
        const std::size_t begin = number == 0 ? 0 : value_ends_[number - 1];
        return {values_.data() + begin, value_ends_[number] - begin};
    }
    /// Objects that changed and go alone, also to a regular pair: too large for a packet, or with a
    /// value that cannot be sent now. Known only where blocks are laid down.
    [[nodiscard]] std::span<const ObjectIndex> loose() const noexcept {
        return {loose_.data(), loose_.size()};
    }
    /// The layout of some block needs the held version.
    [[nodiscard]] bool has_held() const noexcept { return has_held_; }
    /// The version of some block is a pivot.
    [[nodiscard]] bool has_pivots() const noexcept { return has_pivots_; }

    // Cutting what a lane laid down, see LaneBlocks

    /// Alike blocks in one go that are not cut, at most.
    static constexpr std::uint32_t uncut_blocks_max = 64;
    /// Adds what `lane` found beside its blocks.
    void add_findings_of(const RegularBlockWriter& lane);
    /// Finds where blocks with bodies of one length go, of which the first has that channel: as
    /// many of `count` as there is room for in the packet and the bundle at hand. Here and in
    /// end_extent() the length of a block counts as part of its body.
    [[nodiscard]] BlockExtent begin_extent(ChannelIndex first, std::size_t body_bytes,
                                           std::uint32_t count);
    /// These blocks were counted in the run.
    void end_extent(const BlockExtent& extent, std::size_t body_bytes, ChannelIndex last);
    /// Makes bytes() reach as far as all extents, for lanes to write them.
    void reserve_extents() { bytes_.grow_to(byte_count_); }

  private:
    /// What all objects of a layout have in common.
    struct LayoutFacts {
        const RepLayout* layout = nullptr;
        bool may_be_regular = false;
        bool is_simple = false;  // few handles, and no conditions
        bool needs_held_version = false;
    };
    /// What became of the attempt to lay down what changed of an object.
    enum class LaidDown : std::uint8_t {
        Block,
        Loose,    // it must go alone
        Nothing,  // a regular pair is owed none of it
    };
    struct Attempt {
        LaidDown result = LaidDown::Nothing;
        // See SentBlock. Null also for a run of plain values, and without bytes.
        const BlockFindings* findings = nullptr;
    };
    class BlocksAhead;
    struct BlockCursor;

    template <typename Blocks>
    void lay_down_words(LaneRange words, Blocks& blocks, SendContext& context);
    /// Lays down objects of one word of a row, from the first one on, as long as the same changed
    /// as in the last block and there is room. Returns the others.
    template <typename Blocks>
    [[nodiscard]] std::uint64_t lay_down_alike(std::size_t word, std::uint64_t objects,
                                               Blocks& blocks, BlocksAhead& blocks_ahead,
                                               SendContext& context);
    template <typename Blocks>
    void lay_down_one(ObjectIndex index, Blocks& blocks, SendContext& context);
    [[nodiscard]] Attempt lay_down_block(ObjectIndex index, BundleBlock& block,
                                         SendContext& context);
    /// Does so for most objects that change (LayoutFacts::is_simple). False: the object is none of
    /// these, or there is no room for its block, and nothing was done.
    [[nodiscard]] bool lay_down_plain(BundleBlock& block, ChangelistState& state,
                                      SendContext& context);
    /// Lays down a block of `owed`. Null: the object must go alone.
    [[nodiscard]] const BlockFindings* lay_down_owed(BundleBlock& block, const ChangeMask& owed,
                                                     SendContext& context);
    /// Finds the length of that block alone, and counts nothing. False: the object must go alone.
    [[nodiscard]] bool measure(BundleBlock& block, const ChangeMask& owed,
                               SendContext& context) const;
    /// Makes `owed` what regular pairs are owed of the object. False: nothing.
    [[nodiscard]] static bool collect_owed(const ServerObject& info, ChangeMask& owed);
    [[nodiscard]] const LayoutFacts& facts_of(const RepLayout& layout) noexcept;
    /// Objects of the last layout may have blocks like `plain_`.
    [[nodiscard]] bool is_plain_known() const noexcept;

    /// What comes next is the first of a packet, after room for its header.
    void begin_packet() noexcept;
    /// Ends the packet at hand, if it has no room for such a block after its last one.
    void make_room(ChannelIndex channel, std::size_t body_bytes);
    /// There is memory for a packet more, and for what is written beyond it.
    void reserve_packet();
    /// What the body of a block may have at most.
    [[nodiscard]] std::size_t body_bytes_max(ChannelIndex channel,
                                             BlockLength length) const noexcept;
    /// Where the body of the next block goes, where none is cut.
    [[nodiscard]] std::size_t next_body(ChannelIndex channel) const noexcept;
    /// Cuts, writes the head and the length of a block whose body is as long, and returns where the
    /// body goes. Null, and nothing done: it is longer than a packet.
    [[nodiscard]] std::byte* add_block(BundleBlock& block, ChannelIndex channel,
                                       std::size_t body_bytes);
    /// The next block has its head, its length and its body there, which has so many bytes.
    void begin_block(BundleBlock& block, ChannelIndex channel,
                     std::size_t body_bytes) const noexcept;
    /// Its body is there. Writes its head and its length.
    void end_block(const BundleBlock& block, ChannelIndex channel) noexcept;
    [[nodiscard]] BlockCursor begin_alike(std::size_t body_bytes);

    Parts parts_;
    Contents contents_ = Contents::Objects;
    std::span<TypeCounters> type_counters_;
    std::size_t room_bytes_;
    BundleRun* run_ = nullptr;
    KeptVector<std::byte> bytes_;  // at least as many as are used
    std::size_t byte_count_ = 0;
    std::size_t packet_begin_ = 0;  // of the packet at hand, after room for its header
    std::size_t bundle_begin_ = 0;  // of the bundle at hand
    ChannelIndex last_channel_;     // in the packet at hand
    LayoutFacts layout_facts_;      // of the last object
    PlainBlock plain_;              // the last block that is one
    KeptVector<ObjectIndex> loose_;
    bool has_held_ = false;
    bool has_pivots_ = false;
    Vector<BlockValue> values_;       // of all blocks, one block after the other
    Vector<std::size_t> value_ends_;  // in values_, by block
};

}  // namespace replayout
