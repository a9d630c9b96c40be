// SPDX-License-Identifier: MIT
//
// How what there is to do is dealt out to lanes: to each a range of it, all about as long.
#pragma once

#include "bit_row.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace replayout {

inline constexpr std::uint32_t lane_count_max = 64;

/// A range of what is dealt out.
struct LaneRange {
    std::size_t begin = 0;
    std::size_t end = 0;

    [[nodiscard]] static LaneRange of(std::size_t count, std::size_t lane,
                                      std::size_t lane_count) noexcept {
        return {count * lane / lane_count, count * (lane + 1) / lane_count};
    }
};

/// The words of a row of bits, lane by lane: as many bits in each, as far as words are not cut. So
/// a lane may write the same words of any row.
class LaneWords {
  public:
    LaneWords(const BitRow& row, std::uint32_t lane_count) noexcept {
        const std::uint64_t bits = row.count();
        std::uint64_t before = 0;
        std::uint32_t lane = 1;
        for (std::size_t word = 0; word < row.word_count(); ++word) {
            before += static_cast<std::uint64_t>(std::popcount(row.word(word)));
            while (lane < lane_count && before * lane_count >= bits * lane) {
                ends_[lane++ - 1] = word + 1;
            }
        }
        ends_[lane_count - 1] = row.word_count();
    }

    [[nodiscard]] LaneRange operator[](std::uint32_t lane) const noexcept {
        return {lane == 0 ? 0 : ends_[lane - 1], ends_[lane]};
    }

  private:
    std::array<std::size_t, lane_count_max> ends_{};
};

}  // namespace replayout
