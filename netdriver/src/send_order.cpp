// SPDX-License-Identifier: MIT
#include "send_order.h"

#include <replayout/reflection/diagnostics.h>

#include <bit>

namespace replayout {

namespace {

// A candidate is one number, the least goes first: rank, band, age from above, index; where the
// pressure can grow no more, age before band.
constexpr int rank_shift = 52;
constexpr int band_shift = 48;
constexpr int age_shift = 32;
constexpr int first_age_shift = 36;
constexpr int last_band_shift = 32;
constexpr std::uint32_t no_tick_rank = 15;
// An age is told from a lower one modulo 2^16, so what has it does not age any more.
constexpr std::uint16_t age_max = 0xC000;

/// Scrambled (multiplicative hashing, by the golden ratio): games add objects of several kinds by
/// turns, and each kind is to be spread over the ticks.
[[nodiscard]] constexpr std::uint32_t place_of(std::uint32_t index) noexcept {
    return index * 0x9E37'79B1u >> 16;
}

}  // namespace

std::uint32_t SendOrder::exponent_of(std::uint32_t band) const noexcept {
    REPLAYOUT_ASSERT(band < band_count);
    const std::uint32_t sum = pressure_ + band;
    return pressure_ == 0 || sum <= ordinary_band ? 0 : std::min(sum - ordinary_band, pressure_max);
}

std::uint32_t SendOrder::rank_of(std::uint32_t index, std::uint32_t band,
                                 const TickRange& ticks) const noexcept {
    if (missed_.test(index)) {
        return 0;
    }
    // It is due where a multiple of 2^e lies in (after, last], each shifted by the place: where
    // they differ in bit e or above.
    const std::int64_t place = place_of(index);
    const auto difference =
        static_cast<std::uint64_t>((ticks.last + place) ^ (ticks.after + place));
    const auto bits = static_cast<std::uint32_t>(std::bit_width(difference));
    const std::uint32_t exponent = exponent_of(band);
    if (bits == 0) {
        return no_tick_rank;
    }
    return bits > exponent ? 0 : exponent + 1 - bits;
}

void SendOrder::begin(const BitRow& owed) noexcept {
    REPLAYOUT_ASSERT(candidates_.empty());
    missed_.retain(owed, owed);
    old_missed_.retain(owed, owed);
}

void SendOrder::add(std::uint32_t index, std::uint32_t band, std::uint32_t rank) {
    // The most ticks of being missed go first; a pair that is not has none.
    const std::uint32_t age =
        missed_.test(index) ? static_cast<std::uint16_t>(flush_ - missed_since_[index]) : 0;
    const bool is_age_first = pressure_ == pressure_max;
    candidates_.push_back(
        std::uint64_t{rank} << rank_shift |
        std::uint64_t{band} << (is_age_first ? last_band_shift : band_shift) |
        std::uint64_t{0xFFFFu - age} << (is_age_first ? first_age_shift : age_shift) | index);
}

void SendOrder::order() {
    // Not sorted: of thousands a cap has room for a few.
    std::make_heap(candidates_.begin(), candidates_.end(), std::greater<>());
}

SendOrder::Candidate SendOrder::take() {
    REPLAYOUT_ASSERT(has_candidate());
    std::pop_heap(candidates_.begin(), candidates_.end(), std::greater<>());
    const std::uint64_t first = candidates_.back();
    candidates_.pop_back();
    return {static_cast<std::uint32_t>(first), first >> rank_shift == 0};
}

void SendOrder::sent(std::uint32_t index) noexcept {
    missed_.erase(index);
    old_missed_.erase(index);
}

void SendOrder::keep_place(std::uint32_t index) {
    if (!missed_.test(index)) {
        missed_.insert(index);
        grow_row(missed_since_, std::size_t{index} + 1, std::uint16_t{0});
        missed_since_[index] = flush_;
    }
}

void SendOrder::miss(std::uint32_t index) {
    keep_place(index);
    is_calm_ = false;
}

void SendOrder::hold_back(std::uint32_t index) {
    keep_place(index);
    old_missed_.erase(index);
}

void SendOrder::end() {
    for (const std::uint64_t candidate : candidates_) {
        const std::uint64_t rank = candidate >> rank_shift;
        if (rank == 0) {
            miss(static_cast<std::uint32_t>(candidate));
        }
        is_calm_ = is_calm_ && rank > 1;
    }
    candidates_.clear();
    ++flush_;
    if (--flushes_left_ == 0) {
        end_period();
    }
}

void SendOrder::end_period() {
    calm_periods_ = is_calm_ ? calm_periods_ + 1 : 0;
    if (!old_missed_.is_empty()) {
        pressure_ = std::min(pressure_ + 1, pressure_max);
    } else if (calm_periods_ == calm_periods_to_go_back && pressure_ > 0) {
        --pressure_;
        calm_periods_ = 0;
    }
    for (std::uint32_t index = old_missed_.next(0); index != BitRow::no_bit;
         index = old_missed_.next(index + 1)) {
        const auto age = static_cast<std::uint16_t>(flush_ - missed_since_[index]);
        if (age > age_max) {
            missed_since_[index] = static_cast<std::uint16_t>(flush_ - age_max);
        }
    }
    is_calm_ = true;
    old_missed_.clear_all();
    old_missed_.merge(missed_);
    flushes_left_ = 1u << pressure_;
}

}  // namespace replayout
