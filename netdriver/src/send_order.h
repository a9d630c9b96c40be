// SPDX-License-Identifier: MIT
//
// In which order a connection whose cap is reached is sent what it is owed, and how often.
//
// Objects have bands by priority, 0 goes first. While everything fits nobody cares. When it does
// not, pairs step down: those of a band are due in one of 2^e ticks of their object, at the same
// ticks for all connections that step down as far:
//
//     tick of the object     0  1  2  3  4  5  6  7  8
//     e = 1                  x     x     x     x     x
//     e = 2                  x           x           x        and in all of e = 1 as well
//
// Which ones says the object's index, scrambled, so objects of any kind are spread over them; and
// who steps down further is due in some of the ticks of who does not. An object with a frequency
// has few ticks already: where 2^s flushes go by from one to the next, it steps down by s less.
//
// What was due and found no room is missed, and due in each flush until it is sent: before all of
// its band that were missed later or not at all. What is new to a client does not step down, and
// of what was missed as long the nearest goes first; nor does the pressure grow by it. So that a
// flood of it leaves others their turn, what was missed for a quarter of a period is overdue while
// what is new is missed as well. What a client was shown goes before all else until its first
// values are sent: it would stand there with those of its archetype.
//
//     order     shown without values; overdue, by first missed flush;
//               band, first missed flush, distance of what is new, index
//
// Room that is left goes to pairs that are not due: first to those that would be if they had
// stepped down by one less, and so on, so they too are sent in the ticks of others.
//
// The connection's pressure says how far to step down. A period is 2^pressure flushes. It grows by
// one when something is still missed that was missed when the period began, and goes back by one
// when in four periods in a row there was room for all that a pressure of one less asks for. So it
// settles where a period has room for everything once, and with P bytes that are owed again and
// again, and B bytes a flush for them, no pair of exponent e waits for longer than
// (ceil(P / B) + 1) x 2^e ticks.
//
// Where the pressure can grow no more, the bands that go first may ask for more than there is room
// for. Then the first missed goes first, whatever its band, and the same holds.
#pragma once

#include <replayout/reflection/memory.h>

#include <algorithm>
#include <cstdint>
#include <functional>

#include "bit_row.h"
#include "row_growth.h"
#include "update_calendar.h"

namespace replayout {

class SendOrder {
  public:
    static constexpr std::uint32_t band_count = 8;
    static constexpr std::uint32_t ordinary_band = 3;
    static constexpr std::uint32_t pressure_max = 12;

    /// What a flush may send, a number each (send_order.cpp). Memory that is used again: empty
    /// between flushes, so all connections of a server have one.
    using Candidates = Vector<std::uint64_t>;
    SendOrder(Candidates& candidates, MemoryResource* resource)
        : candidates_(candidates),
          missed_(resource),
          old_missed_(resource),
          missed_since_(Allocator<std::uint16_t>(resource)) {}

    /// How far pairs of a band step down now.
    [[nodiscard]] std::uint32_t exponent_of(std::uint32_t band) const noexcept;
    /// The same of an object with these ticks.
    [[nodiscard]] std::uint32_t exponent_of(std::uint32_t band,
                                            const TickRange& ticks) const noexcept;
    // What counts before the band: greater ones are sent only where lesser ones leave room.
    static constexpr std::uint32_t unfinished_rank = 0;  // shown, and without its first values
    static constexpr std::uint32_t overdue_rank = 1;     // add() finds out
    static constexpr std::uint32_t due_rank = 2;
    /// The rank of a pair that was shown and has values, from `due_rank` up. Due is what was
    /// missed, and what has one of its own among the object's ticks since the last flush. Another
    /// pair's rank is by how much less far it would have to step down for that, and greater than
    /// all of these where the object had no tick.
    [[nodiscard]] std::uint32_t rank_of(std::uint32_t index, std::uint32_t band,
                                        const TickRange& ticks) const noexcept;
    [[nodiscard]] bool is_missed(std::uint32_t index) const noexcept { return missed_.test(index); }
    [[nodiscard]] std::uint32_t pressure() const noexcept { return pressure_; }

    // A flush: add() what is owed, order() it, take() the first() as long as there is room and say
    // of each what became of it, end() it. What was not taken may be tried again.

    /// What is not in `owed` is missed no more.
    void begin(const BitRow& owed) noexcept;
    void add(std::uint32_t index, std::uint32_t band, std::uint32_t rank);
    /// The same of what is new to the client.
    void add_new(std::uint32_t index, std::uint32_t band, float distance_squared);
    void order();
    [[nodiscard]] bool has_candidate() const noexcept { return !candidates_.empty(); }
    /// Which candidate goes first. Requires one.
    [[nodiscard]] std::uint32_t first() const noexcept;
    /// That is one no more.
    void take() noexcept;
    /// It went out, or waits for another object.
    void sent(std::uint32_t index) noexcept;
    /// It waits for what is on its way, and not for room: its place is as that of what was missed,
    /// and it says nothing about how far to step down.
    void hold_back(std::uint32_t index);
    /// The candidates that are left found no room.
    void end();

    /// Between flushes: what is owed of it in the next one does not step down until it is sent.
    void force(std::uint32_t index) { keep_place(index); }

  private:
    /// Among those that are missed, as of now if it is new there.
    void keep_place(std::uint32_t index);
    void add(std::uint32_t index, std::uint32_t band, std::uint32_t rank, std::uint32_t distance);
    /// It was due, and found no room.
    void miss(std::uint32_t index);
    /// The same of what is new, which says nothing about how far others are to step down.
    void miss_new(std::uint32_t index) {
        hold_back(index);
        is_any_new_missed_ = true;
    }
    void end_period();

    Candidates& candidates_;
    BitRow missed_;
    BitRow old_missed_;                   // since before this period, for want of room
    Vector<std::uint16_t> missed_since_;  // flushes, by object index
    std::uint16_t flush_ = 0;
    std::uint32_t pressure_ = 0;
    static constexpr std::uint32_t calm_periods_to_go_back = 4;

    std::uint32_t flushes_left_ = 1;  // of the period
    std::uint32_t calm_periods_ = 0;  // in a row
    bool is_any_new_missed_ = false;  // in the last flush, from order() on in this one
    bool is_calm_ = true;  // in this period all was sent that a pressure of one less asks for
};

}  // namespace replayout
