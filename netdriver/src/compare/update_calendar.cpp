// SPDX-License-Identifier: MIT
#include "update_calendar.h"

#include <replayout/reflection/diagnostics.h>

#include <bit>

namespace replayout {

namespace {

[[nodiscard]] std::int64_t floor_divide(std::int64_t value, std::int64_t divisor) noexcept {
    const std::int64_t quotient = value / divisor;
    return quotient * divisor > value ? quotient - 1 : quotient;
}

[[nodiscard]] std::uint32_t period_us_of(float per_second) noexcept {
    return static_cast<std::uint32_t>(1'000'000.0 / static_cast<double>(per_second) + 0.5);
}

/// Neighbours lie far apart, and any number of them in a row evenly (van der Corput).
[[nodiscard]] std::uint32_t reverse_bits(std::uint32_t value) noexcept {
    value = (value >> 1 & 0x5555'5555u) | (value & 0x5555'5555u) << 1;
    value = (value >> 2 & 0x3333'3333u) | (value & 0x3333'3333u) << 2;
    value = (value >> 4 & 0x0F0F'0F0Fu) | (value & 0x0F0F'0F0Fu) << 4;
    value = (value >> 8 & 0x00FF'00FFu) | (value & 0x00FF'00FFu) << 8;
    return value >> 16 | value << 16;
}

/// Of `quiet` turns behind the last change: the distance from this look to the next.
[[nodiscard]] std::int64_t step_of(std::int64_t quiet, std::uint32_t max_step) noexcept {
    const auto step =
        std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(quiet / 4, 1)));
    return static_cast<std::int64_t>(std::min<std::uint64_t>(step, max_step));
}

}  // namespace

UpdateCalendar::UpdateCalendar(MemoryResource* resource)
    : entries_(Allocator<Entry>(resource)), buckets_(Allocator<ObjectIndex>(resource)) {}

void UpdateCalendar::set(ObjectIndex index, const NetUpdateFrequency& frequency,
                         std::uint32_t spread) {
    REPLAYOUT_ASSERT(frequency.is_valid());
    forget(index);
    if (frequency.per_second == 0) {
        return;
    }
    if (buckets_.empty()) {
        buckets_.resize(static_cast<std::size_t>(bucket_count), no_object);
    }
    entries_.grow_to(index, Entry());
    Entry& entry = entries_[index];
    entry.frequency = frequency;
    entry.period_us = period_us_of(frequency.per_second);
    entry.offset_us =
        static_cast<std::uint32_t>(std::uint64_t{entry.period_us} * reverse_bits(spread) >> 32);
    if (frequency.min_per_second != 0) {
        const std::uint32_t max_period_us = period_us_of(frequency.min_per_second);
        entry.max_step = std::max(1u, std::bit_floor(max_period_us / entry.period_us));
    }
}

void UpdateCalendar::forget(ObjectIndex index) noexcept {
    if (is_paced(index)) {
        cancel(index);
        entries_[index] = Entry();
    }
}

void UpdateCalendar::wait(ObjectIndex index) noexcept {
    REPLAYOUT_ASSERT(is_paced(index));
    Entry& entry = entries_[index];
    if (entry.is_waiting) {
        return;
    }
    const std::int64_t period = entry.period_us;
    const std::int64_t turn = floor_divide(now_.microseconds + entry.offset_us, period);
    const std::int64_t quiet = turn + 1 - (entry.was_looked_at ? entry.changed_turn : turn);
    const std::int64_t step = step_of(quiet, entry.max_step);
    // A greater step begins at a multiple of itself, so this is one of the next step as well.
    const std::int64_t next_turn = turn + 1 + (step - quiet % step) % step;
    entry.due_us = next_turn * period - entry.offset_us;
    link(index);
}

void UpdateCalendar::cancel(ObjectIndex index) noexcept {
    if (is_paced(index) && entries_[index].is_waiting) {
        unlink(index);
    }
}

void UpdateCalendar::looked(ObjectIndex index, bool has_changed) noexcept {
    REPLAYOUT_ASSERT(is_paced(index));
    Entry& entry = entries_[index];
    if (has_changed || !entry.was_looked_at) {
        entry.changed_turn = floor_divide(now_.microseconds + entry.offset_us, entry.period_us);
        entry.was_looked_at = true;
    }
}

TickRange UpdateCalendar::ticks_of(ObjectIndex index, const Flush& since) const noexcept {
    if (!is_paced(index)) {
        return flush_ticks(since);
    }
    const Entry& entry = entries_[index];
    const std::int64_t flush_us = std::max<std::int64_t>(now_.microseconds_since(before_), 1);
    const std::int64_t flushes = std::max<std::int64_t>(entry.period_us / flush_us, 1);
    return {floor_divide(since.time.microseconds + entry.offset_us, entry.period_us),
            floor_divide(now_.microseconds + entry.offset_us, entry.period_us),
            static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint64_t>(flushes))) - 1};
}

void UpdateCalendar::link(ObjectIndex index) noexcept {
    Entry& entry = entries_[index];
    ObjectIndex& first = first_of(bucket_number(entry.due_us));
    entry.previous = no_object;
    entry.next = first;
    if (first != no_object) {
        entries_[first].previous = index;
    }
    first = index;
    entry.is_waiting = true;
    ++waiting_count_;
}

void UpdateCalendar::unlink(ObjectIndex index) noexcept {
    Entry& entry = entries_[index];
    if (entry.previous == no_object) {
        first_of(bucket_number(entry.due_us)) = entry.next;
    } else {
        entries_[entry.previous].next = entry.next;
    }
    if (entry.next != no_object) {
        entries_[entry.next].previous = entry.previous;
    }
    entry.is_waiting = false;
    --waiting_count_;
}

}  // namespace replayout
