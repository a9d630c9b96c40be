// SPDX-License-Identifier: MIT
#include "send_order.h"

#include <replayout/reflection/diagnostics.h>

#include <bit>

namespace replayout {

namespace {

// A candidate is one number, the least goes first: rank, band, age from above, distance (0 of what
// is not new), index; of what is overdue, or where the pressure can grow no more, age before band.
constexpr int rank_shift = 52;
constexpr int band_shift = 48;
constexpr int age_shift = 32;
constexpr int first_age_shift = 36;
constexpr int last_band_shift = 32;
constexpr int distance_shift = 20;
constexpr std::uint32_t index_mask = (1u << distance_shift) - 1;
constexpr std::uint32_t no_tick_rank = 15;
// An age is told from a lower one modulo 2^16, so what has it does not age any more.
constexpr std::uint16_t age_max = 0xC000;

/// Greater for greater ones, in steps of a 16th of a power of two: 12 bits, and not 0.
[[nodiscard]] std::uint32_t distance_step(float squared) noexcept {
    REPLAYOUT_ASSERT(squared >= 0);
    constexpr int mantissa_bits_cut = 23 - 4;
    return std::max(std::bit_cast<std::uint32_t>(squared) >> mantissa_bits_cut, 1u);
}

struct CandidateParts {
    std::uint32_t index = 0;
    std::uint32_t rank = 0;
    bool is_new = false;
};

[[nodiscard]] CandidateParts parts_of(std::uint64_t candidate) noexcept {
    const auto low = static_cast<std::uint32_t>(candidate);
    return {low & index_mask, static_cast<std::uint32_t>(candidate >> rank_shift),
            low > index_mask};
}

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

std::uint32_t SendOrder::exponent_of(std::uint32_t band, const TickRange& ticks) const noexcept {
    const std::uint32_t exponent = exponent_of(band);
    return exponent - std::min(exponent, ticks.flushes_log2);
}

std::uint32_t SendOrder::rank_of(std::uint32_t index, std::uint32_t band,
                                 const TickRange& ticks) const noexcept {
    if (missed_.test(index)) {
        return due_rank;
    }
    // It is due where a multiple of 2^e lies in (after, last], each shifted by the place: where
    // they differ in bit e or above.
    const std::int64_t place = place_of(index);
    const auto difference =
        static_cast<std::uint64_t>((ticks.last + place) ^ (ticks.after + place));
    const auto bits = static_cast<std::uint32_t>(std::bit_width(difference));
    const std::uint32_t exponent = exponent_of(band, ticks);
    if (bits == 0) {
        return no_tick_rank;
    }
    return bits > exponent ? due_rank : due_rank + exponent + 1 - bits;
}

void SendOrder::begin(const BitRow& owed) noexcept {
    REPLAYOUT_ASSERT(candidates_.empty());
    missed_.retain(owed, owed);
    old_missed_.retain(owed, owed);
}

void SendOrder::add(std::uint32_t index, std::uint32_t band, std::uint32_t rank) {
    add(index, band, rank, 0);
}

void SendOrder::add_new(std::uint32_t index, std::uint32_t band, float distance_squared) {
    add(index, band, due_rank, distance_step(distance_squared));
}

void SendOrder::add(std::uint32_t index, std::uint32_t band, std::uint32_t rank,
                    std::uint32_t distance) {
    REPLAYOUT_ASSERT(index <= index_mask);
    // The most ticks of being missed go first; a pair that is not has none.
    const std::uint32_t age =
        missed_.test(index) ? static_cast<std::uint16_t>(flush_ - missed_since_[index]) : 0;
    if (rank == due_rank && distance == 0 && is_any_new_missed_ &&
        age >= std::max(1u << pressure_ >> 2, 1u)) {
        rank = overdue_rank;
    }
    const bool is_age_first = pressure_ == pressure_max || rank == overdue_rank;
    candidates_.push_back(std::uint64_t{rank} << rank_shift |
                          std::uint64_t{band} << (is_age_first ? last_band_shift : band_shift) |
                          std::uint64_t{0xFFFFu - age}
                              << (is_age_first ? first_age_shift : age_shift) |
                          std::uint64_t{distance} << distance_shift | index);
}

void SendOrder::order() {
    is_any_new_missed_ = false;  // what is added was told by the last flush
    // Not sorted: of thousands a cap has room for a few.
    std::make_heap(candidates_.begin(), candidates_.end(), std::greater<>());
}

std::uint32_t SendOrder::first() const noexcept {
    REPLAYOUT_ASSERT(has_candidate());
    return parts_of(candidates_.front()).index;
}

void SendOrder::take() noexcept {
    REPLAYOUT_ASSERT(has_candidate());
    std::pop_heap(candidates_.begin(), candidates_.end(), std::greater<>());
    candidates_.pop_back();
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
        const CandidateParts parts = parts_of(candidate);
        if (parts.is_new) {
            miss_new(parts.index);
            continue;
        }
        if (parts.rank <= due_rank) {
            miss(parts.index);
        }
        is_calm_ = is_calm_ && parts.rank > due_rank + 1;
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
