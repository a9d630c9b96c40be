// SPDX-License-Identifier: MIT
//
// What one connection was sent in a flush, kept until the flush ends for others that are owed just
// the same. Most clients of a game that sees everything are: what differs is when their packets
// arrive, and what of them is lost.
//
//     client a   goes the long way: closes, bundles, opens        the copy is taken of its packet
//     client b   the same bits are set in its rows, the same
//                closes wait                                      two copies, the same records
//     client c   lost something                                   goes the long way
//
// Two connections are owed the same if these are: which objects are pending, which of the pairs of
// what changed are regular, and which closes wait. Then all of what is pending must be opens that
// are laid down (OpenRuns), and nothing else may wait. So a copy has the very bytes that its client
// would have been sent the long way. Where only other objects are pending, as after a loss, what
// goes out before these is copied: closes and bundles.
//
// A lane has a few copies, as clients may be of several kinds, and one may have lost something
// just when the copy was taken of it.
#pragma once

#include <replayout/reflection/memory.h>

#include "bundle_run.h"
#include "kept_room.h"
#include "packet_builder.h"
#include "reliable_sender.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

struct FlushCopy {
    explicit FlushCopy(MemoryResource* resource)
        : pending(Allocator<std::uint64_t>(resource)),
          regular(Allocator<std::uint64_t>(resource)),
          closes(Allocator<WaitingClose>(resource)),
          packets(Allocator<Packet>(resource)),
          bundles(Allocator<SentBundle>(resource)),
          opens(Allocator<OpenRange>(resource)),
          start_bundles(Allocator<SentBundle>(resource)) {}

    /// Entries of OpenRuns, of one run.
    struct OpenRange {
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
    };
    /// What was counted when it was sent (ReplicationCounters).
    struct Counts {
        std::uint64_t blocks = 0;
        std::uint64_t properties = 0;
        std::uint64_t block_bytes = 0;
        std::uint64_t bundles = 0;
    };

    /// A packet, and up to where its bundles and opens stand in the lists.
    struct Packet {
        PacketBuilder content{PacketBuilder::packet_bytes_limit};
        PacketUse use = PacketUse::Objects;
        std::uint32_t close_count = 0;
        std::uint32_t bundles_end = 0;
        std::uint32_t opens_end = 0;
    };
    /// Where more go out, each client is sent for itself.
    static constexpr std::uint32_t packets_max = 8;

    void clear() noexcept {
        clear_all(pending, regular, closes, bundles, opens, start_bundles);
        packet_count = 0;
        has_start = false;
        open_count = 0;
        open_payload_bytes = 0;
    }
    void trim() {
        packets.trim();
        trim_all(pending, regular, closes, bundles, opens, start_bundles);
    }

    // What the connection was owed.

    KeptVector<std::uint64_t> pending;  // words of the row
    KeptVector<std::uint64_t> regular;  // by word of FlushChanges::words: of what changed
    KeptVector<WaitingClose> closes;

    // What it was sent.

    KeptVector<Packet> packets;  // more than are used
    std::uint32_t packet_count = 0;
    bool is_last_open = false;  // the last of them may still be added to
    KeptVector<SentBundle> bundles;
    KeptVector<OpenRange> opens;
    // The first packet before anything pending was written to it, where closes and bundles are not
    // more than that.
    Packet start;
    bool has_start = false;
    KeptVector<SentBundle> start_bundles;
    Counts start_counts;
    std::uint32_t open_count = 0;
    std::size_t open_payload_bytes = 0;
    Counts counts;
};

/// Those of a lane.
class FlushCopies {
  public:
    explicit FlushCopies(MemoryResource* resource)
        : copies_{FlushCopy(resource), FlushCopy(resource), FlushCopy(resource)} {}

    /// Copies may be taken until end_flush(). Call it before a lane with several connections sends.
    void begin_flush() noexcept { is_open_ = true; }
    void end_flush() noexcept {
        is_open_ = false;
        for (std::size_t i = 0; i < count_; ++i) {
            copies_[i].clear();
        }
        count_ = 0;
        misses_ = 0;
        is_last_used_ = false;
    }
    /// Between flushes, see KeptRoom.
    void trim() {
        for (FlushCopy& copy : copies_) {
            copy.trim();
        }
    }
    [[nodiscard]] bool is_open() const noexcept { return is_open_; }
    [[nodiscard]] std::span<const FlushCopy> taken() const noexcept {
        return std::span(copies_).first(count_);
    }
    /// Notes that a connection was sent that copy.
    void used(const FlushCopy& copy) noexcept {
        is_last_used_ = is_last_used_ || &copy == &copies_[count_ - 1];
    }
    /// Notes that no copy suits a connection. Returns a copy to be filled, which counts after
    /// keep(), or null: the connection is one of few that are unlike others.
    [[nodiscard]] FlushCopy* miss() noexcept {
        // To take a copy of each client that lost something would cost more than it gains.
        const std::uint32_t wait = count_ == 0 ? 0 : is_last_used_ ? 3 : 1;
        if (!is_open_ || count_ == copies_.size() || ++misses_ <= wait) {
            return nullptr;
        }
        misses_ = 0;
        return &copies_[count_];
    }
    void keep() noexcept {
        ++count_;
        is_last_used_ = false;
    }

  private:
    static constexpr std::size_t copies_max = 3;

    std::array<FlushCopy, copies_max> copies_;
    std::size_t count_ = 0;
    std::uint32_t misses_ = 0;  // since a copy was taken
    bool is_last_used_ = false;
    bool is_open_ = false;
};

}  // namespace replayout
