// SPDX-License-Identifier: MIT
//
// What it may cost to resolve what is under way to one peer, since one packet of acks may decide
// about all of it. In units of some 60 instructions, each kind at its dearest, counted with
// Callgrind (docs/limits.md):
//
//     a block of a bundle, lost                                            149
//     the same of an object of which a remote function was called          217
//     a block of its own, lost, with what lies beside its pair             550
//     the same of an object with keyed arrays, or a block of a bundle of
//     such an object or one with atomic structs: what is lost is kept apart 730
//     a bunch: an open with the tables of its pair, half of them lost      790
//     a call, delivered or lost                                            300
//
// Objects and their opens wait while the sum is at objects_max, messages and calls while it is at
// all_max. A packet that has begun is finished, so the sum may pass either limit by one packet. One
// packet of acks therefore costs below three million instructions.
#pragma once

#include <replayout/reflection/diagnostics.h>

#include <cstdint>

#include "sent_content.h"

namespace replayout {

class FateCost {
  public:
    static constexpr std::uint64_t unit_instructions = 60;

    static constexpr std::uint32_t bundled_block = 3;
    /// In addition, where account is kept of the pair (SentPackets::add_accounted()).
    static constexpr std::uint32_t accounted_block = 1;
    static constexpr std::uint32_t own_block = 9;
    static constexpr std::uint32_t keyed_block = 13;
    static constexpr std::uint32_t bunch = 15;
    static constexpr std::uint32_t call = 5;

    static constexpr std::uint32_t objects_max = 42'000;
    static constexpr std::uint32_t all_max = 44'000;

    [[nodiscard]] static constexpr std::uint32_t of(const SentRecord& record) noexcept {
        return record.has_keyed_arrays ? keyed_block : own_block;
    }

    [[nodiscard]] static std::uint32_t of(const SentBundles& bundles) noexcept {
        return of_bundled(bundles.block_count(), bundles.held_count());
    }

    void add(std::uint32_t units) noexcept { units_ += units; }
    void take(std::uint32_t units) noexcept {
        REPLAYOUT_ASSERT(units <= units_);
        units_ -= units;
    }
    void clear() noexcept { units_ = 0; }

    [[nodiscard]] std::uint32_t units() const noexcept { return units_; }
    [[nodiscard]] bool has_room_for_objects() const noexcept { return units_ < objects_max; }
    [[nodiscard]] bool has_room_for_messages() const noexcept { return units_ < all_max; }
    /// Cost of so many blocks of bundles, of which `held` have layouts that need the held version.
    [[nodiscard]] static constexpr std::uint32_t of_bundled(std::uint32_t blocks,
                                                            std::uint32_t held) noexcept {
        return blocks * bundled_block + held * (keyed_block - bundled_block);
    }
    /// Whether objects find room when so much was added.
    [[nodiscard]] bool has_room_after(std::uint32_t units) const noexcept {
        return units_ + units < objects_max;
    }

  private:
    std::uint32_t units_ = 0;
};

}  // namespace replayout
