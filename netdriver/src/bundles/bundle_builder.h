// SPDX-License-Identifier: MIT
//
// Between the compare and the connections: lays down, once, the blocks that every regular pair is
// owed of what changed, cuts them into bundles and packets, and keeps account of what connections
// have taken. One thread builds a run by build(); LaneBundleBuilder makes the same run with
// several.
#pragma once

#include <replayout/block_counts.h>
#include <replayout/netdriver/memory_report.h>
#include <replayout/reflection/memory.h>
#include <replayout/send_properties.h>

#include "bundle_run.h"
#include "bundle_runs.h"
#include "flush_changes.h"
#include "laid_down_blocks.h"
#include "object_store.h"
#include "regular_block_writer.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

class LaneBlockWalk;
struct AlikeBlocks;
struct LaneBlocks;
struct BlockExtent;

class BundleBuilder {
  public:
    /// `unasked`: objects that no client is shown, see SharedValues: they are left out.
    /// `room_bytes`: what an empty packet has room for.
    BundleBuilder(const ObjectStore& objects, const FlushChanges& changes, const BitRow& unasked,
                  std::size_t room_bytes, MemoryMeters& memory);

    using Contents = RegularBlockWriter::Contents;

    /// Makes the run of this flush. `order`: all that changed (BundleOrder); empty: in the order of
    /// the objects. `type_counters` by layout number; empty: nobody counts.
    void build(SendContext& context, Contents contents, std::span<const ObjectIndex> order,
               std::span<TypeCounters> type_counters);
    /// Nobody takes anything in this flush.
    void clear() noexcept;
    /// As clear(), and gives back all runs that nobody holds, and their room: no client is
    /// connected.
    void give_back();
    /// Between flushes: gives back runs and room that were not needed lately, see KeptRoom.
    void trim();
    /// Between flushes, see BundleRuns::thin_old().
    template <typename MarkHeld>
    void thin_old_runs(MarkHeld mark_held) {
        runs_.thin_old(changes_.flush, mark_held);
    }

    /// In this flush; else no regular pair can be sent what changed.
    [[nodiscard]] bool is_built() const noexcept { return is_built_; }

    [[nodiscard]] BundleRun& run() noexcept { return runs_.current(); }
    [[nodiscard]] const BundleRun& run() const noexcept { return runs_.current(); }
    /// Its blocks are laid down, one behind the other; else each is to be written where it goes.
    [[nodiscard]] bool has_bytes() const noexcept { return writer_.has_bytes(); }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
        return std::span<const std::byte>(bytes_.data(), bytes_.byte_count());
    }
    /// The same, for who writes headers into the room in front of bundles, and hands these over
    /// with them, one connection after another; of lanes see BundleCopies.
    [[nodiscard]] std::span<std::byte> bytes_with_room() noexcept {
        return std::span<std::byte>(bytes_.data(), bytes_.byte_count());
    }
    /// Where in bytes() a block of that bundle ends.
    [[nodiscard]] std::size_t end_of(const Bundle& bundle, std::uint32_t number) const noexcept {
        return number + 1 < bundle.end ? run().blocks()[number + 1].byte_offset : bundle.bytes_end;
    }
    /// A block of that bundle, without its head.
    [[nodiscard]] std::span<const std::byte> body_of(const Bundle& bundle,
                                                     std::uint32_t number) const noexcept {
        const BundleBlock& block = run().blocks()[number];
        const std::size_t begin = std::size_t{block.byte_offset} + block.head_bytes;
        return bytes().subspan(begin, end_of(bundle, number) - begin);
    }
    /// The values of a block of run(). Known only where types are counted.
    [[nodiscard]] std::span<const BlockValue> values_of(std::uint32_t number) const noexcept {
        const std::size_t begin = number == 0 ? 0 : value_ends_[number - 1];
        return {values_.data() + begin, value_ends_[number] - begin};
    }
    /// Objects that changed and go alone, also to a regular pair: too large for a packet, or with a
    /// value that cannot be sent now. Known only where blocks are laid down.
    [[nodiscard]] std::span<const ObjectIndex> loose() const noexcept {
        return {loose_.data(), loose_.size()};
    }
    /// Objects among those of the run of which the version of this flush is a pivot
    /// (ChangelistState::pivots).
    [[nodiscard]] std::span<const ObjectIndex> pivoted() const noexcept {
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

    // For LaneBundleBuilder, which lays down blocks by lanes and has them cut here, lane by lane.

    /// Begins the run of this flush. What is counted by type is known of build() alone.
    void begin(Contents contents, std::span<TypeCounters> type_counters = {});
    [[nodiscard]] const RegularBlockWriter& writer() const noexcept { return writer_; }
    /// Makes room in the run for the blocks that a lane laid down, and notes all else of them.
    /// Returns where they begin in the run.
    [[nodiscard]] std::uint32_t append(const LaneBlocks& blocks);
    /// Cuts: the next `count` blocks of a lane, as many of them as there is room for in the packet
    /// and the bundle at hand, get their positions.
    [[nodiscard]] BlockExtent add_extent(const AlikeBlocks& alike, std::uint32_t count,
                                         LaneBlockWalk& walk);
    /// Makes bytes() reach as far as all that got a position, for lanes to write it.
    void reserve_added() { bytes_.reserve(bytes_.byte_count()); }
    /// Ends the run: all of its blocks are there.
    void finish(std::span<const ObjectIndex> order, ReplicationCounters& counters);

  private:
    void add(ObjectIndex index, SendContext& context);

    const FlushChanges& changes_;
    RegularBlockWriter writer_;
    BundleRuns runs_;
    BlockBytes bytes_;
    bool is_built_ = false;
    Vector<std::uint64_t> taken_;              // by bundle
    std::atomic<std::uint32_t> taken_end_{0};  // all blocks of those before it were taken
    bool has_held_ = false;                    // the layout of some block needs the held version
    Vector<ObjectIndex> loose_;
    bool has_pivots_ = false;  // of some object of a block the version of the flush is one
    Vector<ObjectIndex> pivoted_;
    Vector<BlockValue> values_;       // of all blocks, one block behind the other
    Vector<std::size_t> value_ends_;  // in values_, by block
};

}  // namespace replayout
