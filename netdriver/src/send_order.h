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
// who steps down further is due in some of the ticks of who does not. What was
// due and found no room is missed, and due in each tick until it is sent: before all of its band
// that were missed later or not at all, by index.
//
//     order     band, first missed tick, index
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

    /// `scratch` is shared by all connections: a flush of one is over before that of the next.
    using Candidates = Vector<std::uint64_t>;
    explicit SendOrder(MemoryResource* resource)
        : missed_(resource),
          old_missed_(resource),
          missed_since_(Allocator<std::uint16_t>(resource)) {}

    /// How far pairs of a band step down now.
    [[nodiscard]] std::uint32_t exponent_of(std::uint32_t band) const noexcept;
    /// 0: the pair is due: it was missed, or one of the object's ticks since the last flush is one
    /// of its own. Else how much less far it would have to step down for that; the last rank is
    /// that of an object of which none of its ticks is in this flush.
    [[nodiscard]] std::uint32_t rank_of(std::uint32_t index, std::uint32_t band,
                                        const TickRange& ticks) const noexcept;
    [[nodiscard]] bool is_missed(std::uint32_t index) const noexcept { return missed_.test(index); }
    [[nodiscard]] std::uint32_t pressure() const noexcept { return pressure_; }

    struct Candidate {
        std::uint32_t index = 0;
        bool is_due = false;
    };

    // A flush: add() what is owed, take() as long as there is room and say sent() of what went out,
    // end() it.

    /// What is not in `owed` is missed no more.
    void begin(Candidates& candidates, const BitRow& owed) noexcept;
    void add(Candidates& candidates, std::uint32_t index, std::uint32_t band,
             std::uint32_t rank) const;
    void order(Candidates& candidates) const;
    /// The candidate that goes first, which is one no more. Requires one.
    [[nodiscard]] static Candidate take(Candidates& candidates);
    void sent(std::uint32_t index) noexcept;
    /// It was due, and found no room.
    void miss(std::uint32_t index);
    /// The candidates that are left found none, either.
    void end(const Candidates& candidates);

  private:
    void end_period();

    BitRow missed_;
    BitRow old_missed_;                   // since before this period
    Vector<std::uint16_t> missed_since_;  // flushes, by object index
    std::uint16_t flush_ = 0;
    std::uint32_t pressure_ = 0;
    static constexpr std::uint32_t calm_periods_to_go_back = 4;

    std::uint32_t flushes_left_ = 1;  // of the period
    std::uint32_t calm_periods_ = 0;  // in a row
    bool is_calm_ = true;  // in this period all was sent that a pressure of one less asks for
};

}  // namespace replayout
