// SPDX-License-Identifier: MIT
#include "send_order.h"

namespace replayout {

namespace {

// A candidate that was not missed is one number, the least goes first: rank (of what goes to a
// queue its kind), band, distance (0 of what is not new), index.
constexpr int rank_shift = 52;
constexpr int band_shift = 48;
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

[[nodiscard]] std::uint64_t number_of(std::uint32_t rank, std::uint32_t band,
                                      std::uint32_t distance, ObjectIndex index) noexcept {
    return std::uint64_t{rank} << rank_shift | std::uint64_t{band} << band_shift |
           std::uint64_t{distance} << distance_shift | value_of(index);
}

[[nodiscard]] std::uint32_t exponent_at(std::uint32_t pressure, std::uint32_t band) noexcept {
    REPLAYOUT_ASSERT(band < SendOrder::band_count);
    const std::uint32_t sum = pressure + band;
    return pressure == 0 || sum <= SendOrder::ordinary_band
               ? 0
               : std::min(sum - SendOrder::ordinary_band, SendOrder::pressure_max);
}

[[nodiscard]] std::uint32_t paced(std::uint32_t exponent, const TickRange& ticks) noexcept {
    return exponent - std::min(exponent, ticks.flushes_log2);
}

struct CandidateParts {
    ObjectIndex index{};
    std::uint32_t rank = 0;
    std::uint32_t band = 0;
};

[[nodiscard]] CandidateParts parts_of(std::uint64_t candidate) noexcept {
    return {ObjectIndex{static_cast<std::uint32_t>(candidate) & SendOrder::index_mask},
            static_cast<std::uint32_t>(candidate >> rank_shift),
            static_cast<std::uint32_t>(candidate >> band_shift) & 15u};
}

}  // namespace

std::uint32_t SendOrder::exponent_of(std::uint32_t band) const noexcept {
    return exponent_at(pressure_, band);
}

std::uint32_t SendOrder::exponent_of(std::uint32_t band, const TickRange& ticks) const noexcept {
    return paced(exponent_at(pressure_, band), ticks);
}

std::uint32_t SendOrder::exponent_of_last_flush(std::uint32_t band,
                                                const TickRange& ticks) const noexcept {
    return paced(exponent_at(flush_pressure_, band), ticks);
}

std::uint32_t SendOrder::rank_of(ObjectIndex index, std::uint32_t band,
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
    ordered_.grow(bit_count);
    missed_.grow(bit_count);
    missed_.retain(owed, owed);  // also what was forced, and is not in the order
}

void SendOrder::add(ObjectIndex index, std::uint32_t rank, std::uint32_t band) {
    REPLAYOUT_ASSERT(value_of(index) <= index_mask);
    candidates_.fresh.push_back(number_of(rank, band, 0, index));
}

bool SendOrder::add_arrival(ObjectIndex index, const Arrival& arrival) {
    REPLAYOUT_ASSERT(value_of(index) <= index_mask);
    if (arrival.kind != Kind::Shown) {
        const bool is_new = arrival.kind == Kind::New;
        candidates_.arrivals.push_back(
            number_of(static_cast<std::uint32_t>(arrival.kind), arrival.band,
                      is_new ? distance_step(arrival.distance_squared) : 0, index));
        return true;
    }
    if (missed_.test(index)) {  // it is forced
        add(index, due_rank, arrival.band);
        return true;
    }
    return false;
}

void SendOrder::queue_arrivals() {
    std::sort(candidates_.arrivals.begin(), candidates_.arrivals.end());
    for (const std::uint64_t number : candidates_.arrivals) {
        const CandidateParts parts = parts_of(number);
        append(parts.index, queue_of(static_cast<Kind>(parts.rank), parts.band));
    }
    candidates_.arrivals.clear();
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

void SendOrder::find_waiting() {
    candidates_.waiting = 0;
    for (std::size_t queue = 0; queue < queues_.size(); ++queue) {
        skip_old_entries(queues_[queue]);
        candidates_.waiting |= queues_[queue].count() > 0 ? 1u << queue : 0u;
    }
}

bool SendOrder::is_any_shown_due() const noexcept {
    return waiting_bands(Kind::Shown) != 0 ||
           (is_fresh_left() &&
            parts_of(candidates_.fresh[candidates_.next_fresh]).rank == due_rank);
}

std::uint32_t SendOrder::oldest_band(Kind kind, std::uint32_t bands) const noexcept {
    std::uint32_t oldest = 0;
    std::int32_t oldest_age = -1;
    for (std::uint32_t left = bands; left != 0; left &= left - 1) {
        const auto band = static_cast<std::uint32_t>(std::countr_zero(left));
        const std::int32_t age = age_of(index_of(queues_[queue_of(kind, band)].front()));
        if (age > oldest_age) {
            oldest = band;
            oldest_age = age;
        }
    }
    return oldest;
}

std::uint8_t SendOrder::next_new_queue(bool is_oldest) const noexcept {
    if (const std::uint32_t bands = waiting_bands(Kind::Unfinished); bands != 0) {
        return queue_of(Kind::Unfinished, static_cast<std::uint32_t>(std::countr_zero(bands)));
    }
    const std::uint32_t bands = waiting_bands(Kind::New);
    return queue_of(Kind::New, is_oldest ? oldest_band(Kind::New, bands)
                                         : static_cast<std::uint32_t>(std::countr_zero(bands)));
}

std::uint8_t SendOrder::next_shown_queue(bool is_oldest) const noexcept {
    const std::uint32_t bands = waiting_bands(Kind::Shown);
    if (bands == 0) {
        return no_queue;
    }
    if (is_oldest) {
        return queue_of(Kind::Shown, oldest_band(Kind::Shown, bands));
    }
    const auto band = static_cast<std::uint32_t>(std::countr_zero(bands));
    if (is_fresh_left()) {
        const CandidateParts fresh = parts_of(candidates_.fresh[candidates_.next_fresh]);
        if (fresh.rank == due_rank && fresh.band < band) {
            return no_queue;
        }
    }
    return queue_of(Kind::Shown, band);
}

bool SendOrder::is_new_next() const noexcept {
    if (waiting_bands(Kind::Unfinished) != 0) {
        return true;
    }
    const std::uint32_t bands = waiting_bands(Kind::New);
    if (bands == 0 || turns_.is_shown_behind()) {
        return bands != 0 && !is_any_shown_due();
    }
    if (turns_.is_new_behind() || !is_any_shown_due()) {
        return true;
    }
    // Both classes were sent the same number of bytes.
    const std::uint8_t shown = next_shown_queue(false);
    const auto band = static_cast<std::uint32_t>(std::countr_zero(bands));
    if (shown == no_queue) {
        const std::uint32_t age = age_of(index_of(queues_[queue_of(Kind::New, band)].front()));
        const std::uint32_t other = parts_of(candidates_.fresh[candidates_.next_fresh]).band;
        return band < other || (band == other && age > 0);
    }
    const std::uint32_t other = shown % band_count;
    return band < other ||
           (band == other && age_of(index_of(queues_[queue_of(Kind::New, band)].front())) >
                                 age_of(index_of(queues_[shown].front())));
}

SendOrder::Candidate SendOrder::take_from(std::uint8_t queue, bool is_oldest) {
    Queue& from = queues_[queue];
    const ObjectIndex index = index_of(from.front());
    from.pop_front();
    --entry_count_;
    skip_old_entries(from);
    candidates_.waiting &= ~(from.count() == 0 ? 1u << queue : 0u);
    candidates_.last_queue = queue;
    return {index, kind_of_queue(queue), queue, is_oldest};
}

SendOrder::Candidate SendOrder::take() {
    REPLAYOUT_ASSERT(has_candidate());
    if (is_new_next()) {
        const bool is_oldest = turns_.is_oldest_next(SendTurns::Class::New);
        return take_from(next_new_queue(is_oldest), is_oldest);
    }
    const bool is_oldest = turns_.is_oldest_next(SendTurns::Class::Shown);
    const std::uint8_t queue = next_shown_queue(is_oldest || pressure_ == pressure_max);
    if (queue != no_queue) {
        return take_from(queue, is_oldest);
    }
    candidates_.last_queue = no_queue;
    return {parts_of(candidates_.fresh[candidates_.next_fresh++]).index, Kind::Shown, no_queue,
            is_oldest};
}

void SendOrder::pay(const Candidate& candidate, std::uint32_t bytes) noexcept {
    switch (candidate.kind) {
        case Kind::Unfinished:
            turns_.pay_first_values(is_any_shown_due(), bytes);
            break;
        case Kind::New:
            turns_.pay(SendTurns::Class::New, candidate.is_oldest, is_any_shown_due(), bytes);
            break;
        case Kind::Shown:
            turns_.pay(SendTurns::Class::Shown, candidate.is_oldest, is_any_new(), bytes);
            break;
    }
}

ObjectIndex SendOrder::coming(std::size_t distance) const noexcept {
    const Candidates& all = candidates_;
    if (all.last_queue != no_queue) {
        const Queue& queue = queues_[all.last_queue];
        return distance < queue.count() ? index_of(queue.at(distance)) : no_object;
    }
    const std::size_t number = all.next_fresh + distance;
    return number < all.fresh.size() ? parts_of(all.fresh[number]).index : no_object;
}

void SendOrder::miss(const Candidate& candidate) {
    if (candidate.queue == no_queue) {
        --candidates_.next_fresh;  // it is one of those that are left
        return;
    }
    queues_[candidate.queue].push_front() =
        entry_of(candidate.index, missed_since_[candidate.index]);
    ++entry_count_;
    candidates_.waiting |= 1u << candidate.queue;
}

void SendOrder::hold_back(const Candidate& candidate, Kind kind) {
    const std::uint32_t band = candidate.queue == no_queue
                                   ? parts_of(candidates_.fresh[candidates_.next_fresh - 1]).band
                                   : candidate.queue % band_count;
    candidates_.held_back.push_back({candidate.index, queue_of(Kind::New, band), kind});
}

void SendOrder::append(ObjectIndex index, std::uint8_t queue) {
    if (queues_.empty()) {
        queues_.reserve(Candidates::queue_count);
        while (queues_.size() < Candidates::queue_count) {
            queues_.emplace_back(resource_);
        }
    }
    grow_table(missed_since_, missed_.word_count() * 64, std::uint16_t{0});
    missed_.set(index);
    ordered_.set(index);
    missed_since_[index] = flush_;
    queues_[queue].push_back() = entry_of(index, flush_);
    ++entry_count_;
}

std::optional<ObjectIndex> SendOrder::kept_index(std::uint64_t fresh) noexcept {
    const CandidateParts parts = parts_of(fresh);
    return parts.rank == due_rank ? std::optional(parts.index) : std::nullopt;
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
    candidates_.held_back.clear();
}

void SendOrder::note_what_is_left() {
    find_waiting();
    turns_.end_flush(is_any_new(), is_any_shown_due());
    is_calm_ = is_calm_ && waiting_bands(Kind::Shown) == 0 &&
               (!is_fresh_left() ||
                parts_of(candidates_.fresh[candidates_.next_fresh]).rank > due_rank + 1);
}

void SendOrder::keep_fresh() {
    for (std::size_t i = candidates_.next_fresh; i < candidates_.fresh.size(); ++i) {
        const CandidateParts parts = parts_of(candidates_.fresh[i]);
        if (parts.rank == due_rank) {
            append(parts.index, queue_of(Kind::Shown, parts.band));
        }
    }
    candidates_.fresh.clear();
    candidates_.next_fresh = 0;
    candidates_.waiting = 0;
}

void SendOrder::end() {
    if (std::exchange(stage_, Stage::Ended) == Stage::Ended) {
        return;
    }
    flush_pressure_ = pressure_;
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
            const ObjectIndex index = index_of(entry);
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
            const std::uint16_t age = age_of(index_of(queues_[queue].front()));
            is_any_aged = is_any_aged || age > age_max;
            is_any_old_missed =
                is_any_old_missed || (kind_of_queue(queue) == Kind::Shown && age > period_age);
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

void SendOrder::force(ObjectIndex index) {
    if (!missed_.test(index)) {
        missed_.insert(index);
        ordered_.erase(index);
    }
}

}  // namespace replayout
