// SPDX-License-Identifier: MIT
//
// Opens of one flush that many clients get alike, laid down as the first client gets them, and
// copied for those after it:
//
//     client a   opens 3, 9, 12, 70     one by one: each is added here
//     entries    [ 3 ][ 9 ][ 12 ][ 70 ]
//     bunches    [ open 3 ][ open 9 ][ open 12 ][ open 70 ]
//     blocks     [ block 3 ][ block 9 ][ block 12 ][ block 70 ]
//     client b   opens 3, 9, 12, 70     two copies, one record of what is under way
//     client c   opens 9, 12, 20        two copies for 9 and 12; 20 by itself, which is added
//
// The bytes are needed until the flush ends. What connections hold for longer are lists (OpenRun).
// A lane has its own, so nothing is shared between threads.
#pragma once

#include <replayout/reflection/memory.h>
#include <replayout/sending_rep_state.h>
#include <replayout/shared_serialization.h>

#include "kept_room.h"
#include "object_index.h"
#include "open_run.h"
#include "packet_builder.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

class OpenRuns {
  public:
    /// Sums over all entries up to one.
    struct Sums {
        std::uint32_t bunch_bytes = 0;
        std::uint32_t payload_bytes = 0;
        std::uint32_t block_bytes = 0;  // heads included
        std::uint32_t body_bytes = 0;
        std::uint32_t block_count = 0;
        std::uint32_t property_count = 0;
        std::uint32_t array_steps = 0;
    };
    struct Entry {
        ObjectIndex object_index{};
        Version version = 0;          ///< of the object; 0: there is no block
        bool may_be_regular = false;  ///< pairs of the object
        bool is_recent = false;       ///< it is one of RecentObjects
        std::uint8_t head_bytes = 0;  ///< of its block, which follows that of the entry before
        Sums sums;                    ///< with those of this entry
    };
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    explicit OpenRuns(MemoryResource* resource);
    ~OpenRuns();
    OpenRuns(const OpenRuns&) = delete;
    OpenRuns& operator=(const OpenRuns&) = delete;
    OpenRuns(OpenRuns&&) = delete;
    OpenRuns& operator=(OpenRuns&&) = delete;

    /// Opens may be added until end_flush(). Call it before a lane with several connections sends.
    void begin_flush() noexcept { is_open_ = true; }
    /// Call it when the lane has sent to all of them.
    void end_flush() noexcept;
    /// Between flushes, see KeptRoom.
    void trim();

    /// Returns whether an entry may be added. There is a limit, which falls while nobody copies
    /// entries: where viewers walk, each client opens other objects.
    [[nodiscard]] bool takes_more() const noexcept {
        return is_open_ && entries_.size() < entries_limit_;
    }
    /// Notes that a client copied entries.
    void used() noexcept { is_used_ = true; }
    /// An object was opened, with this block or, if it is null, with none. Sets all else of
    /// `entry`. Requires takes_more(), and that the object was not added before.
    void add(const OpenRun::Open& open, Entry entry, const SharedPayload* block);

    [[nodiscard]] bool is_empty() const noexcept { return entries_.empty(); }
    /// The entry of that object, or `none`.
    [[nodiscard]] std::uint32_t find(ObjectIndex index) const noexcept {
        const std::size_t slot = value_of(index);
        if (slot >= positions_.size()) {
            return none;
        }
        // An old position may name any entry.
        const std::uint32_t position = positions_[slot];
        return position < entries_.size() && entries_[position].object_index == index ? position
                                                                                      : none;
    }
    [[nodiscard]] std::span<const Entry> entries() const noexcept {
        return {entries_.data(), entries_.size()};
    }
    /// Behind the last entry that a run may have which begins with that one.
    [[nodiscard]] std::uint32_t end_of_run(std::uint32_t begin) const noexcept;
    /// Sums of all entries before that one.
    [[nodiscard]] Sums sums_before(std::uint32_t entry) const noexcept {
        return entry == 0 ? Sums() : entries_[entry - 1].sums;
    }

    // What entries `begin` <= i < `end` have, which are of one run.

    [[nodiscard]] OpenRunPart run_part(std::uint32_t begin, std::uint32_t end) const noexcept;
    [[nodiscard]] std::span<const std::byte> bunches(std::uint32_t begin,
                                                     std::uint32_t end) const noexcept {
        const std::size_t from = sums_before(begin).bunch_bytes;
        return {bunches_.data() + from, sums_before(end).bunch_bytes - from};
    }
    /// Their blocks, but for the head of the first.
    [[nodiscard]] std::span<const std::byte> blocks(std::uint32_t begin,
                                                    std::uint32_t end) const noexcept {
        const std::size_t from = sums_before(begin).block_bytes + entries_[begin].head_bytes;
        return {blocks_.data() + from, sums_before(end).block_bytes - from};
    }

  private:
    static constexpr std::uint32_t entries_min = 8;
    static constexpr std::uint32_t entries_at_first = 1'024;
    static constexpr std::uint32_t entries_max = 4'096;

    void add_block(Entry& entry, const SharedPayload& block);
    [[nodiscard]] OpenRun& run_for_next();
    [[nodiscard]] OpenRun* take_free_run();
    void drop(OpenRun* run) noexcept;

    MemoryResource* resource_;
    bool is_open_ = false;
    bool is_used_ = false;  // in this flush
    std::uint32_t entries_limit_ = entries_at_first;
    KeptVector<Entry> entries_;
    KeptVector<std::byte> bunches_;
    KeptVector<std::byte> blocks_;
    ChannelIndex last_with_block_{};
    KeptVector<std::uint32_t> positions_;  // by slot: of an entry of this flush, or of an older one
    Vector<OpenRun*> flush_runs_;          // of this flush
    Vector<OpenRun*> runs_;                // all there are
    std::size_t needed_run_count_ = 0;     // at once, since trim()
};

}  // namespace replayout
