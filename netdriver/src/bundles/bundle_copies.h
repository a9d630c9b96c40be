// SPDX-License-Identifier: MIT
//
// The bytes of bundles, for who hands packets of them over from where they lie: it writes headers
// into the room in front of each, so they are one's at a time. Where lanes send side by side there
// are as many copies as lanes at once need, and not one for each of them:
//
//     lanes    0 . . 3 . . 6 .         of eight, by three workers
//     bytes    those of the run        of who comes first
//              copy  copy              made once a flush each, by the first who has it
//
// A copy is of packets, without the room between them, which others may be writing meanwhile.
#pragma once

#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/memory.h>

#include "bundle_builder.h"
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
    static constexpr std::uint32_t user_count_max = lane_count_max;
    static_assert(user_count_max <= 64);

    explicit BundleCopies(MemoryResource* resource)
        : resource_(resource), copies_(Allocator<Copy>(resource)) {}

    /// How many may have bytes at the same time. Once, while none has.
    void set_user_count(std::uint32_t count) {
        REPLAYOUT_ASSERT(count >= 1 && count <= user_count_max && copies_.empty());
        free_.store(~std::uint64_t{0} >> (64 - count), std::memory_order_relaxed);
        copies_.reserve(count - 1);
        for (std::uint32_t i = 1; i < count; ++i) {
            copies_.emplace_back(resource_);
        }
    }
    /// Before users come, of which so many are expected at once: takes the memory that these need,
    /// so that what a flush takes does not depend on who of them is how fast.
    void expect_users(std::uint32_t count, const BundleBuilder& bundles) {
        for (std::uint32_t i = 0; i + 1 < count && i < copies_.size(); ++i) {
            copies_[i].reserve(bundles.bytes().size());
        }
    }
    /// Names bytes that are its user's until give_back(). From any thread.
    [[nodiscard]] std::uint32_t take() noexcept {
        std::uint64_t free = free_.load(std::memory_order_relaxed);
        do {
            REPLAYOUT_ASSERT(free != 0);
        } while (!free_.compare_exchange_weak(free, free & (free - 1), std::memory_order_acquire,
                                              std::memory_order_relaxed));
        return static_cast<std::uint32_t>(std::countr_zero(free));
    }
    void give_back(std::uint32_t number) noexcept {
        free_.fetch_or(std::uint64_t{1} << number, std::memory_order_release);
    }
    /// Those that were taken, of this flush.
    [[nodiscard]] std::span<std::byte> bytes_of(std::uint32_t number, BundleBuilder& bundles) {
        return number == 0 ? bundles.bytes_with_room() : copies_[number - 1].of(bundles);
    }

    /// Between flushes, see KeptRoom.
    void trim() {
        for (Copy& copy : copies_) {
            copy.trim();
        }
    }

  private:
    class Copy {
      public:
        explicit Copy(MemoryResource* resource) : bytes_(resource) {}

        void reserve(std::size_t byte_count) { bytes_.grow_to(byte_count); }
        [[nodiscard]] std::span<std::byte> of(const BundleBuilder& bundles) {
            const BundleRun& run = bundles.run();
            const std::span<const std::byte> source = bundles.bytes();
            if (flush_ != run.flush()) {
                flush_ = run.flush();
                reserve(source.size());
                for (const RunPacket& packet : run.packets()) {
                    std::memcpy(bytes_.data() + packet.bytes_begin,
                                source.data() + packet.bytes_begin,
                                packet.bytes_end - packet.bytes_begin);
                }
            }
            return {bytes_.data(), source.size()};
        }
        void trim() {
            flush_ = 0;
            bytes_.drop_and_trim();
        }

      private:
        std::uint64_t flush_ = 0;      // that it is of; none has 0
        KeptVector<std::byte> bytes_;  // at least as many as are used
    };

    MemoryResource* resource_;
    std::atomic<std::uint64_t> free_{1};  // a bit each, the first for those of the run
    Vector<Copy> copies_;
};

/// The use that a lane makes of them.
class BundleBytes {
  public:
    explicit BundleBytes(BundleCopies& copies) noexcept : copies_(copies) {}
    ~BundleBytes() { REPLAYOUT_ASSERT(number_ == none); }
    BundleBytes(const BundleBytes&) = delete;
    BundleBytes& operator=(const BundleBytes&) = delete;

    /// While lanes send: the lane's own until give_back().
    [[nodiscard]] std::span<std::byte> of(BundleBuilder& bundles) {
        if (number_ == none) {
            number_ = copies_.take();
        }
        return copies_.bytes_of(number_, bundles);
    }
    /// The lane has sent.
    void give_back() noexcept {
        if (number_ != none) {
            copies_.give_back(number_);
            number_ = none;
        }
    }

  private:
    static constexpr std::uint32_t none = 0xFFFF'FFFF;

    BundleCopies& copies_;
    std::uint32_t number_ = none;
};

}  // namespace replayout
