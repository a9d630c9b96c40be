// SPDX-License-Identifier: MIT
#include "send_order.h"

namespace replayout {

namespace {

// A candidate is one number, the least goes first: rank, band, age from above, distance (0 of what
// is not new), index; of what is overdue, or where the pressure can grow no more, age before band.
constexpr int rank_shift = 52;
constexpr int band_shift = 48;
constexpr int age_shift = 32;
constexpr int first_age_shift = 36;
constexpr int last_band_shift = 32;
constexpr int distance_shift = SendOrder::index_bits;
constexpr std::uint32_t no_tick_rank = 15;
// An age is told from a lower one modulo 2^16, so what has it does not age any more.
constexpr std::uint16_t age_max = 0xC000;

/// Greater for greater ones, in steps of a 16th of a power of two: 12 bits, and not 0.
[[nodiscard]] std::uint32_t distance_step(float squared) noexcept {
    REPLAYOUT_ASSERT(squared >= 0);
    constexpr int mantissa_bits_cut = 23 - 4;
    return std::max(std::bit_cast<std::uint32_t>(squared) >> mantissa_bits_cut, 1u);
}

[[nodiscard]] std::uint64_t number_of(std::uint32_t rank, std::uint32_t band, std::uint32_t age,
                                      std::uint32_t distance, std::uint32_t index,
                                      bool is_age_first) noexcept {
    return std::uint64_t{rank} << rank_shift |
           std::uint64_t{band} << (is_age_first ? last_band_shift : band_shift) |
           std::uint64_t{0xFFFFu - age} << (is_age_first ? first_age_shift : age_shift) |
           std::uint64_t{distance} << distance_shift | index;
}

struct CandidateParts {
    std::uint32_t index = 0;
    std::uint32_t rank = 0;
    bool is_new = false;
};

[[nodiscard]] CandidateParts parts_of(std::uint64_t candidate) noexcept {
    const auto low = static_cast<std::uint32_t>(candidate);
    return {low & SendOrder::index_mask, static_cast<std::uint32_t>(candidate >> rank_shift),
            low > SendOrder::index_mask};
}

[[nodiscard]] SendOrder::Kind kind_of(const CandidateParts& parts) noexcept {
    if (parts.is_new) {
        return SendOrder::Kind::New;
    }
    return parts.rank == SendOrder::unfinished_rank ? SendOrder::Kind::Unfinished
                                                    : SendOrder::Kind::Shown;
}

/// Of one that was not missed.
[[nodiscard]] std::uint32_t band_of_candidate(std::uint64_t candidate, bool is_age_first) noexcept {
    return static_cast<std::uint32_t>(candidate >> (is_age_first ? last_band_shift : band_shift)) &
           15u;
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
    const std::uint32_t bits = bits_of(index, ticks);
    const std::uint32_t exponent = exponent_of(band, ticks);
    if (bits == 0) {
        return no_tick_rank;
    }
    return bits > exponent ? due_rank : due_rank + exponent + 1 - bits;
}

void SendOrder::grow(const BitRow& owed) {
    const auto bit_count = static_cast<std::uint32_t>(owed.word_count() * 64);
    placed_.grow(bit_count);
    missed_.grow(bit_count);
    missed_.retain(owed, owed);  // also what was forced, and has no place
}

void SendOrder::add(std::uint32_t index, std::uint32_t rank, std::uint32_t band) {
    REPLAYOUT_ASSERT(index <= index_mask);
    candidates_.fresh.push_back(number_of(rank, band, 0, 0, index, pressure_ == pressure_max));
}

bool SendOrder::add_arrival(std::uint32_t index, const Arrival& arrival) {
    if (arrival.kind == Kind::New) {
        REPLAYOUT_ASSERT(index <= index_mask);
        candidates_.fresh.push_back(number_of(due_rank, arrival.band, 0,
                                              distance_step(arrival.distance_squared), index,
                                              pressure_ == pressure_max));
        return true;
    }
    const bool is_forced = missed_.test(index);
    if (arrival.kind == Kind::Unfinished || is_forced) {
        add(index, arrival.kind == Kind::Unfinished ? unfinished_rank : due_rank, arrival.band);
        return true;
    }
    return false;
}

void SendOrder::sort_fresh(std::size_t begin) {
    std::sort(candidates_.fresh.begin() + static_cast<std::ptrdiff_t>(begin),
              candidates_.fresh.end());
}

void SendOrder::skip_old_entries(Queue& queue) noexcept {
    while (queue.count() > 0 && !is_live(queue.front())) {
        queue.pop_front();
        --entry_count_;
    }
}

std::uint64_t SendOrder::head_number(std::uint8_t queue) const noexcept {
    const std::uint32_t index = queues_[queue].front() & index_mask;
    const std::uint32_t band = queue % band_count;
    const std::uint32_t age = age_of(index);
    const Kind kind = kind_of_queue(queue);
    std::uint32_t rank = kind == Kind::Unfinished ? unfinished_rank : due_rank;
    if (kind == Kind::Shown && is_any_new_missed_ && age >= std::max(1u << pressure_ >> 2, 1u)) {
        rank = overdue_rank;
    }
    const bool is_age_first = pressure_ == pressure_max || rank == overdue_rank;
    return number_of(rank, band, age, kind == Kind::New ? 1 : 0, index, is_age_first);
}

void SendOrder::find_heads() {
    candidates_.head_count = 0;
    for (std::size_t queue = 0; queue < queues_.size(); ++queue) {
        skip_old_entries(queues_[queue]);
        if (queues_[queue].count() > 0) {
            add_head(static_cast<std::uint8_t>(queue));
        }
    }
}

void SendOrder::add_head(std::uint8_t queue) {
    const std::size_t place = candidates_.head_count++;
    candidates_.queues[place] = queue;
    candidates_.heads[place] = head_number(queue);
}

void SendOrder::set_head(std::size_t place) {
    const std::uint8_t queue = candidates_.queues[place];
    skip_old_entries(queues_[queue]);
    if (queues_[queue].count() > 0) {
        candidates_.heads[place] = head_number(queue);
        return;
    }
    --candidates_.head_count;
    candidates_.queues[place] = candidates_.queues[candidates_.head_count];
    candidates_.heads[place] = candidates_.heads[candidates_.head_count];
}

SendOrder::Candidate SendOrder::take() {
    REPLAYOUT_ASSERT(has_candidate());
    Candidates& all = candidates_;
    const auto first = std::min_element(
        all.heads.begin(), all.heads.begin() + static_cast<std::ptrdiff_t>(all.head_count));
    const auto place = static_cast<std::size_t>(first - all.heads.begin());
    const bool is_fresh_left = all.next_fresh < all.fresh.size();
    if (place < all.head_count && (!is_fresh_left || *first < all.fresh[all.next_fresh])) {
        const std::uint8_t queue = all.queues[place];
        const std::uint32_t index = queues_[queue].front() & index_mask;
        queues_[queue].pop_front();
        --entry_count_;
        set_head(place);
        all.last_queue = queue;
        return {index, kind_of_queue(queue), queue};
    }
    all.last_queue = no_queue;
    const CandidateParts parts = parts_of(all.fresh[all.next_fresh++]);
    return {parts.index, kind_of(parts), no_queue};
}

std::uint32_t SendOrder::coming(std::size_t distance) const noexcept {
    const Candidates& all = candidates_;
    if (all.last_queue != no_queue) {
        const Queue& queue = queues_[all.last_queue];
        return distance < queue.count() ? queue.at(distance) & index_mask : index_none;
    }
    const std::size_t place = all.next_fresh + distance;
    return place < all.fresh.size() ? parts_of(all.fresh[place]).index : index_none;
}

void SendOrder::miss(const Candidate& candidate) {
    if (candidate.queue == no_queue) {
        --candidates_.next_fresh;  // it is one of those that are left
        return;
    }
    queues_[candidate.queue].push_front() =
        entry_of(candidate.index, missed_since_[candidate.index]);
    ++entry_count_;
    Candidates& all = candidates_;
    const auto queues_end = all.queues.begin() + static_cast<std::ptrdiff_t>(all.head_count);
    const auto queue = std::find(all.queues.begin(), queues_end, candidate.queue);
    if (queue == queues_end) {
        add_head(candidate.queue);
    } else {
        all.heads[static_cast<std::size_t>(queue - all.queues.begin())] =
            head_number(candidate.queue);
    }
}

void SendOrder::hold_back(const Candidate& candidate, Kind kind) {
    const std::uint32_t band =
        candidate.queue == no_queue
            ? band_of_candidate(candidates_.fresh[candidates_.next_fresh - 1],
                                pressure_ == pressure_max)
            : candidate.queue % band_count;
    candidates_.held_back.push_back({candidate.index, queue_of(Kind::New, band), kind});
}

void SendOrder::append(std::uint32_t index, std::uint8_t queue) {
    if (queues_.empty()) {
        queues_.reserve(Candidates::queue_count);
        while (queues_.size() < Candidates::queue_count) {
            queues_.emplace_back(resource_);
        }
    }
    grow_row(missed_since_, missed_.word_count() * 64, std::uint16_t{0});
    missed_.set(index);
    placed_.set(index);
    missed_since_[index] = flush_;
    queues_[queue].push_back() = entry_of(index, flush_);
    ++entry_count_;
}

std::optional<SendOrder::Candidate> SendOrder::kept_candidate(std::uint64_t fresh) noexcept {
    const CandidateParts parts = parts_of(fresh);
    return parts.rank <= due_rank ? std::optional(Candidate{parts.index, kind_of(parts), no_queue})
                                  : std::nullopt;
}

void SendOrder::give_back_held() {
    // What was missed before goes in front of the others, the first of them last.
    for (std::size_t i = candidates_.held_back.size(); i > 0; --i) {
        const auto& held = candidates_.held_back[i - 1];
        if (missed_.test(held.index)) {
            queues_[held.queue].push_front() = entry_of(held.index, missed_since_[held.index]);
            ++entry_count_;
        }
    }
    for (const auto& held : candidates_.held_back) {
        if (!missed_.test(held.index)) {
            append(held.index, held.queue);
        }
    }
    candidates_.held_room.note(candidates_.held_back.size());
    candidates_.held_back.clear();
}

void SendOrder::note_what_is_left() {
    is_any_new_missed_ = false;
    const auto note = [this](bool is_new) {
        is_any_new_missed_ = is_any_new_missed_ || is_new;
        is_calm_ = is_calm_ && is_new;
    };
    for (std::size_t queue = 0; queue < queues_.size(); ++queue) {
        skip_old_entries(queues_[queue]);
        if (queues_[queue].count() > 0) {
            note(kind_of_queue(queue) == Kind::New);
        }
    }
    for (std::size_t i = candidates_.next_fresh; i < candidates_.fresh.size(); ++i) {
        const CandidateParts parts = parts_of(candidates_.fresh[i]);
        if (parts.rank <= due_rank + 1) {
            note(parts.is_new);
        }
    }
}

void SendOrder::keep_fresh() {
    const bool is_age_first = pressure_ == pressure_max;
    for (std::size_t i = candidates_.next_fresh; i < candidates_.fresh.size(); ++i) {
        const std::uint64_t fresh = candidates_.fresh[i];
        if (const std::optional<Candidate> candidate = kept_candidate(fresh)) {
            append(candidate->index,
                   queue_of(candidate->kind, band_of_candidate(fresh, is_age_first)));
        }
    }
    candidates_.fresh_room.note(candidates_.fresh.size());
    candidates_.fresh.clear();
    candidates_.next_fresh = 0;
}

void SendOrder::end() {
    if (std::exchange(stage_, Stage::Ended) == Stage::Ended) {
        return;
    }
    note_what_is_left();
    give_back_held();
    keep_fresh();
    if (entry_count_ > entry_count_max_) {
        drop_old_entries();
        entry_count_max_ = std::max(entry_count_max_, 2 * entry_count_);
    }
    ++flush_;
    if (--flushes_left_ == 0) {
        end_period();
    }
}

void SendOrder::drop_old_entries() {
    for (Queue& queue : queues_) {
        for (std::size_t left = queue.count(); left > 0; --left) {
            const std::uint32_t entry = queue.front();
            queue.pop_front();
            if (!is_live(entry)) {
                --entry_count_;
                continue;
            }
            const std::uint32_t index = entry & index_mask;
            if (age_of(index) > age_max) {
                missed_since_[index] = static_cast<std::uint16_t>(flush_ - age_max);
            }
            queue.push_back() = entry_of(index, missed_since_[index]);
        }
    }
}

void SendOrder::end_period() {
    bool is_any_old_missed = false;  // since before this period, for want of room
    bool is_any_aged = false;
    const auto period_age = static_cast<std::uint16_t>(flush_ - period_begin_);
    for (std::size_t queue = 0; queue < queues_.size(); ++queue) {
        skip_old_entries(queues_[queue]);
        if (queues_[queue].count() > 0) {
            const std::uint16_t age = age_of(queues_[queue].front() & index_mask);
            is_any_aged = is_any_aged || age > age_max;
            is_any_old_missed =
                is_any_old_missed || (kind_of_queue(queue) != Kind::New && age > period_age);
        }
    }
    if (is_any_aged) {
        drop_old_entries();
    }
    calm_periods_ = is_calm_ ? calm_periods_ + 1 : 0;
    if (is_any_old_missed) {
        pressure_ = std::min(pressure_ + 1, pressure_max);
    } else if (calm_periods_ == calm_periods_to_go_back && pressure_ > 0) {
        --pressure_;
        calm_periods_ = 0;
    }
    is_calm_ = true;
    period_begin_ = flush_;
    flushes_left_ = 1u << pressure_;
}

void SendOrder::force(std::uint32_t index) {
    if (!missed_.test(index)) {
        missed_.insert(index);
        placed_.erase(index);
    }
}

}  // namespace replayout
