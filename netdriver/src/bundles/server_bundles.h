// SPDX-License-Identifier: MIT
//
// The bundles of a server. A bundle is a row of blocks that many clients are owed alike. It is laid
// down once in a flush, and every connection copies from it.
//
// Most pairs of a client and an object are regular: the client was sent everything up to the last
// flush and nothing of it is lost. When the object changes, all its regular pairs are owed the same
// block. With bundles a client costs a copy of bytes and not an encoding of values.
//
//     changed     3   4   9  12 ... 70 |  71  80 ...     compare: FlushChanges; BundleOrder
//     bundles    [3][4][9][12] ... [70] [71][80] ...     laid down once: RegularBlockWriter
//     client a    x   x   x   x      x    x   x          one copy a bundle, one record a packet
//     client b    x   x   x          x    x   x          its pair of 12 is not regular: two copies
//
// The steps of a flush:
//   1. BundleOrder puts what changed in the order of the objects, or of the cells of the grid.
//   2. RegularBlockWriter lays down a block for each object, one after the other. It cuts them:
//      what an empty packet has room for is a packet; at most 64 blocks of a packet are a bundle.
//      BundleRun lists the blocks, the bundles and the packets.
//   3. BundleSender goes through the run for each connection. Whole packets go out from where they
//      lie, with the header written in front of them; other blocks are copied into its own packet.
//   4. SentPackets keeps for each packet which bits of which bundle it has (SentBundle). An ack
//      touches no pair. After a loss the blocks are owed again, each by its own pair.
//
// Memory: bytes, and lists that only this flush needs, are used again in the next flush. Each
// connection that has blocks of a run under way holds that run, which is used again once nobody
// holds it. A run that is held for long keeps only the blocks under way (thin_old_runs()). Vectors
// keep their room, and give it back when it was not needed lately (KeptRoom).
//
// Several lanes make the same bytes as one. Each lays down its share of the objects in its own
// memory (LaneBlocks). Where a packet ends depends on all blocks before it, so the driver's thread
// cuts for one lane after the other. Then each lane copies its blocks to where they belong. When
// lanes send, headers are written in front of packets, so those that send at the same time use
// copies of the bytes (BundleCopies). How many there are changes no byte.
//
// A connection keeps a bit for each pair (RegularPairs), and the records of step 4.
#pragma once

#include <replayout/netdriver/memory_report.h>
#include <replayout/reflection/memory.h>
#include <replayout/send_properties.h>

#include "bundle_copies.h"
#include "bundle_order.h"
#include "bundle_run.h"
#include "flush_changes.h"
#include "interest_manager.h"
#include "lane_blocks.h"
#include "lane_range.h"
#include "packet_builder.h"
#include "regular_block_writer.h"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

class ServerBundles {
  public:
    /// `room_bytes`: what an empty packet has room for. `lane_count`: of the server.
    ServerBundles(const RegularBlockWriter::Parts& parts, const InterestManager& interest,
                  std::size_t room_bytes, std::uint32_t lane_count, MemoryMeters& memory);
    ~ServerBundles();
    ServerBundles(const ServerBundles&) = delete;
    ServerBundles& operator=(const ServerBundles&) = delete;

    using Contents = RegularBlockWriter::Contents;

    /// Makes the run of this flush. `type_counters` by layout number; empty: nobody counts.
    void build(SendContext& context, Contents contents, std::span<TypeCounters> type_counters);
    /// Makes the same run by lanes, but counts no values by type. `lanes` has a context for each of
    /// them, and `lanes.run(job)` calls `job(lane)` for all, side by side. Requires more than one.
    template <typename Lanes>
    void build_in_lanes(Lanes& lanes, Contents contents) {
        begin(contents, {});
        const std::span<const ObjectIndex> order = order_.find(changes_);
        const LaneWords words(changes_.objects, lanes.count());
        lanes.run([&](std::uint32_t i) {
            const LaneRange share = LaneRange::of(order.size(), i, lanes.count());
            lane_blocks_[i].lay_down(contents, order.subspan(share.begin, share.end - share.begin),
                                     order.empty() ? words[i] : LaneRange(), lanes[i].context);
        });
        for (LaneBlocks& lane : lane_blocks_) {
            lane.cut(run(), writer_);
        }
        writer_.reserve_extents();
        lanes.run([&](std::uint32_t i) { lane_blocks_[i].copy(run(), writer_); });
        finish(order, lanes[0].context.counters);  // which reads what the lanes copied
    }
    /// Nobody takes anything in this flush.
    void clear() noexcept;
    /// As clear(), and gives back all runs that nobody holds, and their room: no client is
    /// connected.
    void give_back();
    /// Between flushes: gives back runs and room that were not needed lately, see KeptRoom.
    void trim();
    /// Between flushes: drops what nobody waits for from runs that are still held `old_flushes`
    /// after their own flush. Otherwise a client that answers late, or never, would keep the list
    /// of all that changed for each flush in its window. `mark_held(run, held)` marks the blocks of
    /// a run that are under way, as SentPackets::mark_held() does.
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
    /// Connections of which the same pairs are regular are sent the same of it, in the same bytes.
    [[nodiscard]] bool may_be_copied() const noexcept { return may_be_copied_; }
    /// How many blocks of the run have layouts that need the held version, if it may be copied.
    [[nodiscard]] std::uint32_t held_count() const noexcept { return held_count_; }
    /// Its blocks are laid down, one after the other; else each is to be written where it goes.
    [[nodiscard]] bool has_bytes() const noexcept { return writer_.has_bytes(); }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return writer_.bytes(); }
    /// The same for one connection after another, which writes headers into the room in front of
    /// packets and sends them from here.
    [[nodiscard]] std::span<std::byte> bytes_with_room() noexcept { return writer_.bytes(); }
    /// The same while lanes send: the bytes are the lane's own until it gives them back.
    [[nodiscard]] std::span<std::byte> bytes_of_lane(std::uint32_t lane) {
        return copies_.bytes_of(lane, run(), writer_.bytes());
    }
    void give_back_bytes(std::uint32_t lane) noexcept { copies_.give_back(lane); }
    /// Before lanes send, of which so many do at once, see BundleCopies::expect().
    void expect_lanes(std::uint32_t count) { copies_.expect(count, bytes().size()); }

    /// Where in bytes() a block of that bundle ends.
    [[nodiscard]] std::size_t end_of(const Bundle& bundle, std::uint32_t number) const noexcept {
        return number + 1 < bundle.end ? run().blocks()[number + 1].byte_offset : bundle.bytes_end;
    }
    /// A block of that bundle, without its head and its length.
    [[nodiscard]] std::span<const std::byte> body_of(const Bundle& bundle,
                                                     std::uint32_t number) const noexcept {
        const BundleBlock& block = run().blocks()[number];
        const std::size_t begin =
            std::size_t{block.byte_offset} + block.head_bytes + block.length_bytes;
        return bytes().subspan(begin, end_of(bundle, number) - begin);
    }
    /// See RegularBlockWriter::values_of().
    [[nodiscard]] std::span<const BlockValue> values_of(std::uint32_t number) const noexcept {
        return writer_.values_of(number);
    }
    /// See RegularBlockWriter::loose().
    [[nodiscard]] std::span<const ObjectIndex> loose() const noexcept { return writer_.loose(); }
    /// Objects among those of the run of which the version of this flush is a pivot
    /// (ChangelistState::pivots).
    [[nodiscard]] std::span<const ObjectIndex> pivoted() const noexcept {
        return {pivoted_.data(), pivoted_.size()};
    }
    /// What a block of an object with keyed arrays may cost its receiver at most, for each byte of
    /// its body (SendContext::array_steps_left); one that costs more goes alone. So whatever blocks
    /// a packet has, there are steps enough.
    [[nodiscard]] std::size_t array_steps_per_byte() const noexcept {
        return replayout::array_steps_per_byte(writer_.room_bytes());
    }

    /// A connection takes these blocks. Returns those of them that nobody took before.
    [[nodiscard]] std::uint64_t take(std::uint32_t bundle, std::uint64_t blocks) noexcept {
        // Connections of several lanes may do so at the same time: each block is fresh for one.
        const std::atomic_ref<std::uint64_t> taken(taken_[bundle]);
        if ((blocks & ~taken.load(std::memory_order_relaxed)) == 0) {
            return 0;
        }
        return blocks & ~taken.fetch_or(blocks, std::memory_order_relaxed);
    }
    /// Takes all blocks of the first `end` bundles at once, if each of them was taken before.
    /// False: takes none, and the caller takes bundle by bundle.
    [[nodiscard]] bool were_taken(std::uint32_t end) const noexcept {
        return end <= taken_end_.load(std::memory_order_relaxed);
    }
    /// All blocks of bundles `begin` <= i < `end` were just taken.
    void note_taken(std::uint32_t begin, std::uint32_t end) noexcept {
        // A lane that overtakes another may take the end back: then more are taken one by one.
        if (begin <= taken_end_.load(std::memory_order_relaxed)) {
            taken_end_.store(end, std::memory_order_relaxed);
        }
    }

  private:
    void begin(Contents contents, std::span<TypeCounters> type_counters);
    void finish(std::span<const ObjectIndex> order, ReplicationCounters& counters);
    /// Once a run is old, and again when other clients may have had their answers since.
    [[nodiscard]] static constexpr bool is_turn_to_thin(std::uint64_t flushes) noexcept {
        return flushes >= old_flushes && std::has_single_bit(flushes);
    }
    /// Makes a run that nobody holds the one of this flush.
    void take_free_run();
    void drop(BundleRun* run) noexcept;

    const FlushChanges& changes_;
    BundleOrder order_;
    RegularBlockWriter writer_;
    Vector<LaneBlocks> lane_blocks_;  // none where the server has one lane
    BundleCopies copies_;
    BundleRun* run_ = nullptr;  // that of this flush
    bool is_built_ = false;
    bool may_be_copied_ = false;
    std::uint32_t held_count_ = 0;
    std::atomic<std::uint32_t> taken_end_{0};  // all blocks of the bundles before it were taken
    Vector<std::uint64_t> taken_;              // by bundle
    Vector<ObjectIndex> pivoted_;
    MemoryResource* run_resource_;
    Vector<BundleRun*> runs_;
    std::size_t needed_run_count_ = 0;  // of the first of them, since trim()
    Vector<std::uint64_t> held_;        // scratch: by bundle, of an old run
};

}  // namespace replayout
