// SPDX-License-Identifier: MIT
//
// Which objects are to be looked at in a tick, of those that are not looked at in each: a calendar
// of buckets by time, so a tick costs by the objects that come due in it.
//
// Time is cut into turns of an object's period, and it is looked at in the first tick of a turn:
//
//     ticks       x   x   x   x   x   x   x   x   x   x
//     turns    --|-----7-----|-----8-----|-----9-----|--      period 3 ticks
//     looks           x           x           x
//
// So its mean rate is exact, whatever the ticks are. Turns of different objects begin at different
// times, spread evenly. Which turns are looked at follows from the turn of the last change alone
// (adaptive: the q-th turn behind it if q is a multiple of a power of two, q / 4 at most). So it
// does not matter whether somebody looked in between: an object that waits for a mark is looked at
// in the same ticks as one that is polled.
#pragma once

#include <replayout/netdriver/net_update_frequency.h>
#include <replayout/netdriver/time.h>
#include <replayout/reflection/memory.h>

#include <algorithm>
#include <cstdint>

#include "object_index.h"

namespace replayout {

/// Of an object, from the one behind `after` to `last`: turns, or flushes if it has no frequency.
struct TickRange {
    std::int64_t after = 0;
    std::int64_t last = 0;
    std::uint32_t flushes_log2 = 0;  ///< from one to the next there are 2^this flushes or more
};

class UpdateCalendar {
  public:
    /// One of the flushes.
    struct Flush {
        NetTime time;
        std::int64_t number = 0;
    };

    explicit UpdateCalendar(MemoryResource* resource);

    /// From now on the object has this frequency; without one it is not paced. It does not wait: it
    /// is to be looked at, and looked() to be said. Equal `spread`: turns begin at equal times.
    void set(ObjectIndex index, const NetUpdateFrequency& frequency, std::uint32_t spread);
    void forget(ObjectIndex index) noexcept;

    [[nodiscard]] bool is_paced(ObjectIndex index) const noexcept {
        return entries_.contains(index) && entries_[index].period_us != 0;
    }
    [[nodiscard]] NetUpdateFrequency frequency_of(ObjectIndex index) const noexcept {
        return is_paced(index) ? entries_[index].frequency : NetUpdateFrequency();
    }

    /// A paced object waits for its next turn; nothing if it waits already.
    void wait(ObjectIndex index) noexcept;
    /// It waits no more, if it did.
    void cancel(ObjectIndex index) noexcept;
    /// A paced object was looked at in this tick.
    void looked(ObjectIndex index, bool has_changed) noexcept;

    /// A tick begins. Calls `visit(index)` for each object that waited for it, in no order that
    /// means anything; they wait no more. O(those), and 1,024 at most after a long pause.
    template <typename Visitor>
    void advance(NetTime now, Visitor visit);

    [[nodiscard]] bool is_waiting(ObjectIndex index) const noexcept {
        return is_paced(index) && entries_[index].is_waiting;
    }
    /// Those of objects that are not paced, since that flush.
    [[nodiscard]] TickRange flush_ticks(const Flush& since) const noexcept {
        return {since.number, tick_count_};
    }
    /// The flush before this one.
    [[nodiscard]] Flush flush_before() const noexcept { return {before_, tick_count_ - 1}; }
    /// Its ticks since that flush.
    [[nodiscard]] TickRange ticks_of(ObjectIndex index, const Flush& since) const noexcept;

    /// Entries that advance() looked at so far, due or not.
    [[nodiscard]] std::uint64_t visited_count() const noexcept { return visited_count_; }

  private:
    // 4 ms: a few buckets a tick. Together they span four seconds; who waits longer is passed over
    // once in that time.
    static constexpr int bucket_shift = 12;
    static constexpr std::int64_t bucket_count = 1'024;

    struct Entry {
        std::int64_t changed_turn = 0;
        std::int64_t due_us = 0;
        NetUpdateFrequency frequency;
        std::uint32_t period_us = 0;   // 0: not paced
        std::uint32_t offset_us = 0;   // turns begin so much before the multiples of the period
        std::uint32_t max_step = 1;    // a power of two
        ObjectIndex next = no_object;  // in its bucket
        ObjectIndex previous = no_object;
        bool is_waiting = false;
        bool was_looked_at = false;  // since it has this frequency
    };

    [[nodiscard]] static std::int64_t bucket_number(std::int64_t time_us) noexcept {
        return time_us >> bucket_shift;
    }
    [[nodiscard]] ObjectIndex& first_of(std::int64_t bucket_number) noexcept {
        return buckets_[static_cast<std::size_t>(bucket_number & (bucket_count - 1))];
    }
    void link(ObjectIndex index) noexcept;
    void unlink(ObjectIndex index) noexcept;

    ByObject<Entry> entries_;
    Vector<ObjectIndex> buckets_;  // the first of each; none before the first paced object
    NetTime now_;
    NetTime before_;
    std::int64_t tick_count_ = 0;
    std::uint32_t waiting_count_ = 0;
    std::uint64_t visited_count_ = 0;
};

template <typename Visitor>
void UpdateCalendar::advance(NetTime now, Visitor visit) {
    // What began to wait before the first tick knew of no clock, and this one begins below zero.
    const bool is_all_due = tick_count_ == 0 && now < now_;
    const std::int64_t first = bucket_number(now_.microseconds);
    before_ = tick_count_ == 0 ? now : now_;
    now_ = now;
    ++tick_count_;
    if (waiting_count_ == 0) {
        return;
    }
    const std::int64_t last =
        is_all_due ? first + bucket_count - 1
                   : std::min(bucket_number(now.microseconds), first + bucket_count - 1);
    for (std::int64_t bucket = first; bucket <= last; ++bucket) {
        ObjectIndex index = first_of(bucket);
        while (index != no_object) {
            const ObjectIndex next = entries_[index].next;
            ++visited_count_;
            if (is_all_due || entries_[index].due_us <= now.microseconds) {
                unlink(index);
                visit(index);
            }
            index = next;
        }
    }
}

}  // namespace replayout
