// SPDX-License-Identifier: MIT
//
// The bytes of bundles for lanes that write headers into them, so that each lane has bytes of its
// own while it sends. There are as many copies as lanes send at once, and not one for each lane:
//
//     lanes    0 . . 3 . . 6 .         of eight, by three workers
//     bytes    those of the run        for the lane that comes first
//              copy  copy              made once a flush each, by the first lane that has it
//
// A copy is of packets, without the room between them, which others may be writing meanwhile.
#pragma once

#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/memory.h>

#include "bundle_run.h"
#include "kept_room.h"
#include "lane_range.h"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace replayout {

class BundleCopies {
  public:
    BundleCopies(std::uint32_t lane_count, MemoryResource* resource)
        : free_(~std::uint64_t{0} >> (64 - lane_count)),
          loans_(lane_count, Allocator<Loan>(resource)),
          copies_(Allocator<Copy>(resource)) {
        static_assert(lane_count_max <= 64);
        copies_.reserve(lane_count - 1);
        for (std::uint32_t i = 1; i < lane_count; ++i) {
            copies_.emplace_back(resource);
        }
    }

    /// Before lanes send, of which so many are expected to do so at once: takes the memory that
    /// these need, so that what a flush takes does not depend on which of them is how fast.
    void expect(std::uint32_t count, std::size_t byte_count) {
        for (std::uint32_t i = 0; i + 1 < count && i < copies_.size(); ++i) {
            copies_[i].bytes.grow_to(byte_count);
        }
    }
    /// From the thread of the lane: `bytes`, those of the run, or a copy of them, which are the
    /// lane's own until give_back().
    [[nodiscard]] std::span<std::byte> bytes_of(std::uint32_t lane, const BundleRun& run,
                                                std::span<std::byte> bytes) {
        Loan& loan = loans_[lane];
        if (loan.bytes == nullptr) {
            loan = lend(run, bytes);
        }
        return {loan.bytes, bytes.size()};
    }
    /// The lane has sent.
    void give_back(std::uint32_t lane) noexcept {
        if (loans_[lane].bytes != nullptr) {
            free_.fetch_or(std::uint64_t{1} << loans_[lane].number, std::memory_order_release);
            loans_[lane].bytes = nullptr;
        }
    }
    /// Between flushes, see KeptRoom.
    void trim() {
        for (Copy& copy : copies_) {
            copy.flush = 0;
            copy.bytes.drop_and_trim();
        }
    }

  private:
    struct Loan {
        std::byte* bytes = nullptr;
        std::uint32_t number = 0;  // 0: the bytes of the run; else copy number - 1
    };
    struct Copy {
        explicit Copy(MemoryResource* resource) : bytes(resource) {}

        std::uint64_t flush = 0;      // that it is of; none has 0
        KeptVector<std::byte> bytes;  // at least as many as are used
    };

    [[nodiscard]] Loan lend(const BundleRun& run, std::span<std::byte> bytes) {
        std::uint64_t free = free_.load(std::memory_order_relaxed);
        do {
            REPLAYOUT_ASSERT(free != 0);
        } while (!free_.compare_exchange_weak(free, free & (free - 1), std::memory_order_acquire,
                                              std::memory_order_relaxed));
        const auto number = static_cast<std::uint32_t>(std::countr_zero(free));
        if (number == 0) {
            return {bytes.data(), number};
        }
        Copy& copy = copies_[number - 1];
        if (copy.flush != run.flush()) {
            copy.flush = run.flush();
            copy.bytes.grow_to(bytes.size());
            for (const RunPacket& packet : run.packets()) {
                std::memcpy(copy.bytes.data() + packet.bytes_begin,
                            bytes.data() + packet.bytes_begin,
                            packet.bytes_end - packet.bytes_begin);
            }
        }
        return {copy.bytes.data(), number};
    }

    std::atomic<std::uint64_t> free_;  // bit i: that number is lent to no lane
    Vector<Loan> loans_;               // by lane
    Vector<Copy> copies_;
};

}  // namespace replayout
