// SPDX-License-Identifier: MIT
//
// Between the compare and the connections: lays down, once, the blocks that every regular pair is
// owed of what changed.
#pragma once

#include <replayout/netdriver/bunch.h>
#include <replayout/netdriver/memory_report.h>
#include <replayout/reflection/memory.h>
#include <replayout/send_properties.h>

#include "bundle_run.h"
#include "flush_changes.h"
#include "laid_down_blocks.h"
#include "object_store.h"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

/// What a receiver of most objects is to an object with these facts: neither its owner, nor new,
/// nor a recording. Regular pairs meet the same conditions as it does.
[[nodiscard]] LifetimeConditionSet regular_conditions(const ObjectFacts& facts) noexcept;

/// Whether objects of that layout may have regular pairs: what such a pair is owed depends on
/// versions alone, and on whether the last pivot has arrived (ChangelistState::pivots).
[[nodiscard]] inline bool may_be_regular(const RepLayout& layout) noexcept {
    return layout.is_fully_shared() && !layout.has_groups_of_arrays() &&
           !layout.has_delta_structs();
}

/// Up to which version a regular pair holds everything for certain when `version` is about to be
/// sent, as far as that makes a difference: the last pivot before it.
[[nodiscard]] inline Version held_before_regular(const ChangelistState& state,
                                                 Version version) noexcept {
    const ChangelistState::Pivots pivots = state.pivots();
    return pivots.newest < version ? pivots.newest : pivots.before;
}

/// What a pair is owed that was sent the version before the newest one, and lost nothing since.
[[nodiscard]] inline OwedVersions position_before_newest(const ChangelistState& state) noexcept {
    OwedVersions position;
    position.sent_version = state.version() - 1;
    position.held_version = state.layout().needs_held_version()
                                ? held_before_regular(state, state.version())
                                : Version{0};
    return position;
}

class BlocksAhead;
class LaneBlockWalk;
class ServerLanes;
struct AlikeBlocks;
struct LaneBlocks;
struct LaneShare;
struct PlacedBlocks;

class BundleBuilder {
  public:
    /// `unasked`: objects that no client is shown, see SharedValues: they are left out.
    /// `room_bytes`: what an empty packet has room for.
    BundleBuilder(const ObjectStore& objects, const FlushChanges& changes, const BitRow& unasked,
                  std::size_t room_bytes, MemoryMeters& memory);
    ~BundleBuilder();
    BundleBuilder(const BundleBuilder&) = delete;
    BundleBuilder& operator=(const BundleBuilder&) = delete;

    /// What is known of the blocks of a run.
    enum class Contents : std::uint8_t {
        Objects,   ///< of which they are
        Measured,  ///< and how long they are
        Bytes,     ///< they are laid down
    };
    /// Makes the run of this flush. `order`: all that changed (BundleOrder); empty: in the order of
    /// the objects. `type_counters` by layout number; empty: nobody counts.
    void build(SendContext& context, Contents contents, std::span<const std::uint32_t> order,
               std::span<TypeCounters> type_counters);
    /// The same run, by lanes. What is counted by type is not.
    void build_in_lanes(ServerLanes& lanes, Contents contents,
                        std::span<const std::uint32_t> order);
    /// Nobody takes anything in this flush.
    void clear() noexcept;
    /// As clear(), and gives back all runs that nobody holds, and their room: no client is
    /// connected.
    void give_back();
    /// Between flushes: gives back runs and room that were not needed lately, see KeptRoom.
    void trim();
    /// Between flushes: of runs that somebody still holds after `old_flushes`, what nobody waits
    /// for goes. A client that answers late, or never, would keep the list of all that changed for
    /// each flush in its window. `mark_held(run, held)` says what is under way of one, as
    /// SentPackets::mark_held() does.
    template <typename MarkHeld>
    void thin_old_runs(MarkHeld mark_held) {
        if (runs_.size() <= old_flushes) {
            return;  // none is that old
        }
        for (BundleRun* run : runs_) {
            if (run->is_held() && is_turn_to_thin(changes_.flush - run->flush())) {
                held_.assign(run->bundles().size(), 0);
                mark_held(*run, std::span<std::uint64_t>(held_.data(), held_.size()));
                run->keep_only({held_.data(), held_.size()});
            }
        }
    }
    static constexpr std::uint64_t old_flushes = 16;

    /// In this flush; else no regular pair can be sent what changed.
    [[nodiscard]] bool is_built() const noexcept { return is_built_; }

    [[nodiscard]] BundleRun& run() noexcept { return *run_; }
    [[nodiscard]] const BundleRun& run() const noexcept { return *run_; }
    /// Its blocks are laid down, one behind the other; else each is to be written where it goes.
    [[nodiscard]] bool has_bytes() const noexcept { return contents_ == Contents::Bytes; }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
        return std::span<const std::byte>(bytes_.data(), bytes_.byte_count());
    }
    /// The same, for who writes headers into the room in front of bundles, and hands these over
    /// with them, one connection after another; of lanes see BundleCopies.
    [[nodiscard]] std::span<std::byte> bytes_with_room() noexcept {
        return std::span<std::byte>(bytes_.data(), bytes_.byte_count());
    }
    /// Where in bytes() a block of that bundle ends.
    [[nodiscard]] std::size_t end_of(const Bundle& bundle, std::uint32_t place) const noexcept {
        return place + 1 < bundle.end ? run_->blocks()[place + 1].byte_offset : bundle.bytes_end;
    }
    /// A block of that bundle, without its head.
    [[nodiscard]] std::span<const std::byte> body_of(const Bundle& bundle,
                                                     std::uint32_t place) const noexcept {
        const BundleBlock& block = run_->blocks()[place];
        const std::size_t begin = std::size_t{block.byte_offset} + block.head_bytes;
        return bytes().subspan(begin, end_of(bundle, place) - begin);
    }
    /// A value of a block that was laid down.
    struct LaidDownValue {
        RepHandle handle;
        std::uint64_t bits = 0;
        std::uint64_t bits_copied = 0;  ///< all or none: it was copied alone
    };
    /// Those of a block of run(). Known only where types are counted.
    [[nodiscard]] std::span<const LaidDownValue> values_of(std::uint32_t place) const noexcept {
        const std::size_t begin = place == 0 ? 0 : value_ends_[place - 1];
        return {values_.data() + begin, value_ends_[place] - begin};
    }
    /// Objects that changed and go alone, also to a regular pair: too large for a packet, or with a
    /// value that cannot be sent now. Known only where blocks are laid down.
    [[nodiscard]] std::span<const std::uint32_t> loose() const noexcept {
        return {loose_.data(), loose_.size()};
    }
    /// Objects among those of the run of which the version of this flush is a pivot
    /// (ChangelistState::pivots).
    [[nodiscard]] std::span<const std::uint32_t> pivoted() const noexcept {
        return {pivoted_.data(), pivoted_.size()};
    }
    /// What a block of an object with keyed arrays may cost its receiver at most, for each byte of
    /// its body (SendContext::array_steps_left); one that costs more goes alone. So whatever blocks
    /// a packet has, there are steps enough.
    [[nodiscard]] std::size_t array_steps_per_byte() const noexcept {
        return replayout::array_steps_per_byte(bytes_.room_bytes());
    }
    /// Says that a connection takes these blocks. Returns those of them that nobody took before.
    [[nodiscard]] std::uint64_t take(std::uint32_t bundle, std::uint64_t blocks) noexcept {
        // Connections of several lanes may say so at the same time: each block is fresh for one.
        const std::atomic_ref<std::uint64_t> taken(taken_[bundle]);
        if ((blocks & ~taken.load(std::memory_order_relaxed)) == 0) {
            return 0;
        }
        return blocks & ~taken.fetch_or(blocks, std::memory_order_relaxed);
    }

    /// The same of all blocks of the first `end` bundles, at once. Whether each of them was taken
    /// before. False: nothing is said, and each is to be taken by itself.
    [[nodiscard]] bool were_taken(std::uint32_t end) const noexcept {
        return end <= taken_end_.load(std::memory_order_relaxed);
    }
    /// All blocks of bundles `begin` <= i < `end` were just taken.
    void note_taken(std::uint32_t begin, std::uint32_t end) noexcept {
        // Who overtakes another one may take the end back: then more are taken one by one.
        if (begin <= taken_end_.load(std::memory_order_relaxed)) {
            taken_end_.store(end, std::memory_order_relaxed);
        }
    }

  private:
    /// Once it is old, and again where others may have had their answers since.
    [[nodiscard]] static constexpr bool is_turn_to_thin(std::uint64_t flushes) noexcept {
        return flushes >= old_flushes && std::has_single_bit(flushes);
    }
    /// One that nobody holds.
    void begin_run();
    /// What became of the attempt to lay down what changed of an object.
    enum class LaidDown : std::uint8_t {
        Block,
        Loose,    ///< it must go alone
        Nothing,  ///< a regular pair is owed none of it
    };
    /// Behind what is laid down in `bytes`. Where blocks are not laid down, none of it is.
    [[nodiscard]] LaidDown lay_down(std::uint32_t index, BundleBlock& block, BlockBytes& bytes,
                                    SendContext& context) const;
    /// The same of most that change (LayoutFacts::is_simple). False: it is something else, or there
    /// is no room for it, and nothing was done.
    [[nodiscard]] bool lay_down_row(BundleBlock& block, ChangelistState& state, BlockBytes& bytes,
                                    SendContext& context) const;
    /// The same of objects of one word of a row of them, as many as there are in front of which the
    /// same changed as of the last one, and which have room: behind `bytes`, and told to `blocks`,
    /// a BundleRun or LaneBlocks. Returns the others.
    template <typename Blocks>
    [[nodiscard]] std::uint64_t lay_down_rows(std::size_t word, std::uint64_t objects,
                                              BlockBytes& bytes, Blocks& blocks,
                                              BlocksAhead& blocks_ahead,
                                              SendContext& context) const;
    /// The first of objects of a word.
    [[nodiscard]] static std::uint32_t first_index_of(std::size_t word,
                                                      std::uint64_t objects) noexcept {
        return static_cast<std::uint32_t>(word << 6) +
               static_cast<std::uint32_t>(std::countr_zero(objects));
    }
    /// The same of SendScratch::owed. False: it must go alone.
    [[nodiscard]] bool lay_down_owed(BundleBlock& block, BlockBytes& bytes,
                                     SendContext& context) const;
    /// What regular pairs are owed of it. False: nothing.
    [[nodiscard]] bool collect_owed(const NetworkObjectInfo& info, ChangeMask& owed) const;
    void add(std::uint32_t index, SendContext& context);
    void drop(BundleRun* run) noexcept;
    /// It has its place.
    void add_block(const BundleBlock& block) {
        run_->add_block(block);
        if (run_->unbundled_count() == BundleRun::blocks_per_bundle_max) {
            bytes_.end_bundle();
        }
    }
    /// The same, where its length is all that is to be known. Nobody counts it.
    [[nodiscard]] bool measure(BundleBlock& block, SendContext& context) const;
    void note_values(const SendScratch& scratch);
    void finish(std::span<const std::uint32_t> order, SendContext& context);

    // By lanes
    void lay_down_words(LaneShare words, LaneBlocks& blocks, SendContext& context) const;
    void lay_down_in_lane(std::uint32_t index, LaneBlocks& blocks, SendContext& context) const;
    /// Cuts what a lane laid down into bundles and packets.
    void place(LaneBlocks& blocks);
    /// Those `count` come next, as many as there is room for in the packet and the bundle at hand.
    [[nodiscard]] PlacedBlocks place_next(const AlikeBlocks& alike, std::uint32_t count,
                                          LaneBlockWalk& walk);
    /// Where they were placed.
    void copy_placed(const LaneBlocks& blocks);
    void copy_placed_bytes(const LaneBlocks& blocks);

    const ObjectStore& objects_;
    const FlushChanges& changes_;
    const BitRow& unasked_;
    MemoryResource* resource_;
    Vector<BundleRun*> runs_;
    std::size_t runs_needed_ = 0;  // of the first of them, since trim()
    BundleRun* run_ = nullptr;
    BlockBytes bytes_;
    bool is_built_ = false;
    Contents contents_ = Contents::Objects;
    Vector<std::uint64_t> held_;               // scratch: by bundle, of an old run
    Vector<std::uint64_t> taken_;              // by bundle
    std::atomic<std::uint32_t> taken_end_{0};  // all blocks of those before it were taken
    bool has_held_ = false;                    // the layout of some block needs the held version
    Vector<std::uint32_t> loose_;
    bool has_pivots_ = false;  // of some object of a block the version of the flush is one
    Vector<std::uint32_t> pivoted_;
    std::span<TypeCounters> type_counters_;
    Vector<LaidDownValue> values_;    // of all blocks, one block behind the other
    Vector<std::size_t> value_ends_;  // in values_, by block
};

}  // namespace replayout
