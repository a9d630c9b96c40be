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
// of what came in the same flush the nearest goes first; nor does the pressure grow by it. New and
// shown objects take turns by bytes, see SendTurns. What a client was shown goes before all else
// until its first values are sent: it would stand there with those of its archetype. Its bytes are
// those of new objects.
//
//     turn      shown without values; new or shown, whichever had fewer bytes
//     order     band, first missed flush, distance of what is new, index
//     or        first missed flush, band, and so on, where it is the turn of the oldest
//
// Room that is left goes to pairs that are not due: first to those that would be if they had
// stepped down by one less, and so on, so they too are sent in the ticks of others.
//
// The connection's pressure says how far to step down. A period is 2^pressure flushes. It grows by
// one when something is still missed that was missed when the period began, and goes back by one
// when in four periods in a row there was room for all that a pressure of one less asks for. So it
// settles where a period has room for everything once, and with P bytes that are owed again and
// again, and B bytes a flush for them, no pair of exponent e waits for longer than
// (ceil(P / B) + 1) x 2^e ticks. While new objects wait, shown ones have half of the room for
// certain, and new ones have the other half. docs/limits.md has the bounds of all of them.
//
// Where the pressure can grow no more, the bands that go first may ask for more than there is room
// for. Then the first missed goes first, whatever its band, and the same holds.
//
// What was missed, and what is new, stands in queues, one for each kind and band, so a flush looks
// at the first of each and not at all of it: its band, and the distance of what is new, are those
// of when it came there. What is neither missed nor due costs a few instructions in a walk over
// rows of bits.
#pragma once

#include <replayout/prefetch.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/memory.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "bit_row.h"
#include "kept_room.h"
#include "ring_queue.h"
#include "send_band.h"
#include "send_turns.h"
#include "table_growth.h"
#include "update_calendar.h"

namespace replayout {

class SendOrder {
  public:
    static constexpr std::uint32_t band_count = 8;
    static constexpr std::uint32_t ordinary_band = ordinary_send_band;
    static constexpr std::uint32_t pressure_max = 12;
    /// Of an index, in the numbers by which candidates and queues are kept.
    static constexpr int index_bits = 20;
    static constexpr std::uint32_t index_mask = (1u << index_bits) - 1;

    enum class Kind : std::uint8_t {
        Unfinished,  ///< shown, and without its first values
        Shown,       ///< all else that the client has, or is to lose
        New,
    };
    static constexpr std::size_t kind_count = 3;

    /// What a flush may send. Memory that is used again: empty between flushes, so all connections
    /// of a server have one.
    class Candidates {
      public:
        explicit Candidates(MemoryResource* resource)
            : fresh(resource), arrivals(resource), held_back(resource) {}

        /// Between flushes, see KeptRoom.
        void trim() { trim_all(fresh, arrivals, held_back); }

      private:
        friend class SendOrder;
        struct Held {
            ObjectIndex index{};
            std::uint8_t queue = 0;  // it goes to
            Kind kind = Kind::Shown;
        };
        static constexpr std::size_t queue_count = kind_count * band_count;

        KeptVector<std::uint64_t> fresh;  // shown, not missed: a number each, the least goes first
        std::size_t next_fresh = 0;       // those before it were taken
        KeptVector<std::uint64_t> arrivals;  // scratch: what goes to queues, a number each
        std::uint32_t waiting = 0;           // a bit for each queue that is not empty
        std::uint8_t last_queue = 0xFF;      // from which the last one was taken
        KeptVector<Held> held_back;          // out of queues, in order
    };

    /// `ordered` is the connection's, empty at first: those in the order here. Who becomes
    /// a candidate of another kind is to be taken out of it.
    SendOrder(Candidates& candidates, BitRow& ordered, MemoryResource* resource)
        : candidates_(candidates),
          ordered_(ordered),
          missed_(resource),
          missed_since_(Allocator<std::uint16_t>(resource)),
          queues_(Allocator<Queue>(resource)),
          resource_(resource) {}

    /// How far pairs of a band step down now.
    [[nodiscard]] std::uint32_t exponent_of(std::uint32_t band) const noexcept;
    /// The same of an object with these ticks.
    [[nodiscard]] std::uint32_t exponent_of(std::uint32_t band,
                                            const TickRange& ticks) const noexcept;
    /// Likewise, as it was in the last flush.
    [[nodiscard]] std::uint32_t exponent_of_last_flush(std::uint32_t band,
                                                       const TickRange& ticks) const noexcept;
    // What counts before the band: greater ones are sent only where lesser ones leave room.
    static constexpr std::uint32_t due_rank = 0;
    /// The rank of a pair that was shown and has values, from `due_rank` up. Due is what was
    /// missed, and what has one of its own among the object's ticks since the last flush. Another
    /// pair's rank is by how much less far it would have to step down for that, and greater than
    /// all of these where the object had no tick.
    [[nodiscard]] std::uint32_t rank_of(ObjectIndex index, std::uint32_t band,
                                        const TickRange& ticks) const noexcept;
    [[nodiscard]] bool is_missed(ObjectIndex index) const noexcept { return missed_.test(index); }
    [[nodiscard]] std::uint32_t pressure() const noexcept { return pressure_; }

    /// A candidate to which something is owed, and which is not in the order yet.
    struct Arrival {
        Kind kind = Kind::Shown;
        bool is_there = true;  ///< else nothing is to be sent after all
        std::uint32_t band = ordinary_band;
        float distance_squared = 0;  ///< of what is new
    };
    struct Candidate {
        ObjectIndex index{};
        Kind kind = Kind::Shown;
        std::uint8_t queue = no_queue;  // it came from; for miss() and hold_back()
        bool is_oldest = false;         // it goes as the oldest of its class
    };

    // A flush: begin(), take() as long as there is room and say of each what became of it, end().
    // Where all that is due was taken and there is still room, add_undue(), and go on. What found
    // no room may be taken again.

    [[nodiscard]] bool has_begun() const noexcept { return stage_ != Stage::Ended; }

    /// Makes candidates of what is due of `owed`. `arrive(index)` says what there is to say of who
    /// is not in the order, an Arrival; `band_of(index)` and `ticks_of(index)` what goes for all
    /// others.
    template <typename Arrive, typename BandOf, typename TicksOf>
    void begin(const BitRow& owed, Arrive arrive, BandOf band_of, TicksOf ticks_of);
    [[nodiscard]] bool has_candidate() const noexcept {
        return candidates_.waiting != 0 || is_fresh_left();
    }
    /// Candidates of what is owed and not due, the first time in a flush. Requires that all others
    /// were taken.
    template <typename BandOf, typename TicksOf>
    void add_undue(const BitRow& owed, BandOf band_of, TicksOf ticks_of);
    /// The candidate that goes first, which is one no more. Requires one.
    [[nodiscard]] Candidate take();
    /// What is likely to be taken behind so many others, or no_object.
    [[nodiscard]] ObjectIndex coming(std::size_t distance) const noexcept;
    /// Hints that it is taken from a queue in some steps.
    void prefetch(ObjectIndex index) const noexcept {
        if (missed_since_.contains(index)) {
            replayout::prefetch(&missed_since_[index], sizeof(std::uint16_t));
        }
    }
    /// The candidate that was taken last took `bytes`, whatever became of it. Call it before
    /// sent(), miss() or hold_back().
    void pay(const Candidate& candidate, std::uint32_t bytes) noexcept;
    /// It went out, or waits for another object.
    void sent(ObjectIndex index) noexcept { missed_.erase(index); }
    /// The one that was taken last found no room. It goes first again.
    void miss(const Candidate& candidate);
    /// It waits for what is on its way, and not for room: its rank is as that of what is new and
    /// was missed, and it says nothing about how far to step down. `kind`: what it is.
    void hold_back(const Candidate& candidate, Kind kind);
    /// The candidates that are left found no room. Does nothing where no flush has begun.
    void end();
    /// The same where some may have become candidates of another kind since it began, as a call
    /// opens what is new: `kind_of(index)` says what they are. Those leave the order.
    template <typename KindOf>
    void end(KindOf kind_of);

    /// Between flushes, see KeptRoom.
    void trim() {
        for (Queue& queue : queues_) {
            queue.trim();
        }
        entry_count_max_ = std::max(entry_count_max_initial, 2 * entry_count_);
    }

    /// Between flushes: what is owed of it in the next one does not step down until it is sent.
    void force(ObjectIndex index);

  private:
    enum class Stage : std::uint8_t { Ended, Due, All };

    static constexpr std::uint8_t no_queue = 0xFF;
    static constexpr std::size_t entry_count_max_initial = 1'024;

    /// Who was missed, the first of them first; and others, who were sent since or are in the order
    /// elsewhere. Each an index and above it, to tell the ones from the others, when it was missed.
    using Queue = RingQueue<std::uint32_t>;

    [[nodiscard]] static std::uint8_t queue_of(Kind kind, std::uint32_t band) noexcept {
        return static_cast<std::uint8_t>(static_cast<std::size_t>(kind) * band_count + band);
    }
    [[nodiscard]] static Kind kind_of_queue(std::size_t queue) noexcept {
        return static_cast<Kind>(queue / band_count);
    }
    [[nodiscard]] static std::uint32_t entry_of(ObjectIndex index, std::uint16_t since) noexcept {
        return std::uint32_t{since} << index_bits | value_of(index);
    }
    [[nodiscard]] static ObjectIndex index_of(std::uint32_t entry) noexcept {
        return ObjectIndex{entry & index_mask};
    }
    [[nodiscard]] bool is_live(std::uint32_t entry) const noexcept {
        const ObjectIndex index = index_of(entry);
        return missed_.test(index) && entry_of(index, missed_since_[index]) == entry;
    }
    [[nodiscard]] std::uint16_t age_of(ObjectIndex index) const noexcept {
        return static_cast<std::uint16_t>(flush_ - missed_since_[index]);
    }
    /// It is due where that is greater than how far it steps down; 0: it has no tick.
    [[nodiscard]] static std::uint32_t bits_of(ObjectIndex index, const TickRange& ticks) noexcept {
        // Due is where a multiple of 2^e lies in (after, last], each shifted by the phase: where
        // they differ in bit e or above.
        const std::int64_t phase = phase_of(index);
        const auto difference =
            static_cast<std::uint64_t>((ticks.last + phase) ^ (ticks.after + phase));
        return static_cast<std::uint32_t>(std::bit_width(difference));
    }
    /// Scrambled (multiplicative hashing, by the golden ratio): games add objects of several kinds
    /// by turns, and each kind is to be spread over the ticks.
    [[nodiscard]] static constexpr std::uint32_t phase_of(ObjectIndex index) noexcept {
        return value_of(index) * 0x9E37'79B1u >> 16;
    }

    /// Rows are as long as `owed`.
    void grow(const BitRow& owed);
    void add(ObjectIndex index, std::uint32_t rank, std::uint32_t band);
    /// False: it is due by no tick of its own.
    bool add_arrival(ObjectIndex index, const Arrival& arrival);
    /// To their queues, in order.
    void queue_arrivals();
    void sort_fresh(std::size_t begin);
    [[nodiscard]] bool is_fresh_left() const noexcept {
        return candidates_.next_fresh < candidates_.fresh.size();
    }
    /// The queues of a kind that are not empty, a bit for each band.
    [[nodiscard]] std::uint32_t waiting_bands(Kind kind) const noexcept {
        constexpr std::uint32_t all_bands = (1u << band_count) - 1;
        return candidates_.waiting >> queue_of(kind, 0) & all_bands;
    }
    [[nodiscard]] bool is_any_new() const noexcept {
        return (waiting_bands(Kind::New) | waiting_bands(Kind::Unfinished)) != 0;
    }
    [[nodiscard]] bool is_any_shown_due() const noexcept;
    /// The first that is live, or nothing.
    void skip_old_entries(Queue& queue) noexcept;
    void find_waiting();
    /// The one of these bands whose first candidate has been missed for longest.
    [[nodiscard]] std::uint32_t oldest_band(Kind kind, std::uint32_t bands) const noexcept;
    /// From which queue the next one of its kind comes. Shown: no_queue, the first of `fresh`.
    [[nodiscard]] std::uint8_t next_new_queue(bool is_oldest) const noexcept;
    [[nodiscard]] std::uint8_t next_shown_queue(bool is_oldest) const noexcept;
    [[nodiscard]] bool is_new_next() const noexcept;
    [[nodiscard]] Candidate take_from(std::uint8_t queue, bool is_oldest);
    void append(ObjectIndex index, std::uint8_t queue);
    /// The index of a fresh candidate that is kept if it finds no room; nothing for any other.
    [[nodiscard]] static std::optional<ObjectIndex> kept_index(std::uint64_t fresh) noexcept;
    void give_back_held();
    void keep_fresh();
    void note_what_is_left();
    void drop_old_entries();
    void end_period();

    Candidates& candidates_;
    BitRow& ordered_;
    BitRow missed_;
    ByObject<std::uint16_t> missed_since_;  // flushes
    Vector<Queue> queues_;                  // by kind and band; none before the first is missed
    MemoryResource* resource_;
    std::size_t entry_count_ = 0;  // in all queues
    std::size_t entry_count_max_ = entry_count_max_initial;
    Stage stage_ = Stage::Ended;  // of the flush: of what it made candidates
    std::uint16_t flush_ = 0;
    std::uint16_t period_begin_ = 0;
    std::uint32_t pressure_ = 0;
    std::uint32_t flush_pressure_ = 0;  // in the last flush, at whose end it may have changed
    static constexpr std::uint32_t calm_periods_to_go_back = 4;

    std::uint32_t flushes_left_ = 1;  // of the period
    std::uint32_t calm_periods_ = 0;  // in a row
    SendTurns turns_;
    bool is_calm_ = true;  // in this period all was sent that a pressure of one less asks for
};

template <typename Arrive, typename BandOf, typename TicksOf>
void SendOrder::begin(const BitRow& owed, Arrive arrive, BandOf band_of, TicksOf ticks_of) {
    REPLAYOUT_ASSERT(!has_begun());
    REPLAYOUT_ASSERT(candidates_.fresh.empty() && candidates_.held_back.empty());
    REPLAYOUT_ASSERT(candidates_.arrivals.empty());
    stage_ = Stage::Due;
    grow(owed);
    std::array<std::uint32_t, band_count> exponents;
    for (std::uint32_t band = 0; band < band_count; ++band) {
        exponents[band] = exponent_of(band);
    }
    for (std::size_t i = 0; i < owed.word_count(); ++i) {
        const std::uint64_t of_owed = owed.word(i);
        const std::uint64_t was_ordered = ordered_.word(i);
        if ((of_owed | was_ordered) == 0) {
            continue;
        }
        std::uint64_t are_ordered = was_ordered & of_owed;
        BitRow::for_each_in_word(i, of_owed & ~are_ordered, [&](ObjectIndex index) {
            if (const Arrival arrival = arrive(index);
                arrival.is_there && !add_arrival(index, arrival)) {
                are_ordered |= BitRow::mask_of(index);
            }
        });
        missed_.set_word(i, missed_.word(i) & was_ordered & of_owed);
        ordered_.set_word(i, are_ordered);
        BitRow::for_each_in_word(i, are_ordered & ~missed_.word(i), [&](ObjectIndex index) {
            const std::uint32_t band = band_of(index);
            const TickRange ticks = ticks_of(index);
            if (bits_of(index, ticks) + std::min(exponents[band], ticks.flushes_log2) >
                exponents[band]) {
                add(index, due_rank, band);
            }
        });
    }
    sort_fresh(0);
    queue_arrivals();
    find_waiting();
}

template <typename BandOf, typename TicksOf>
void SendOrder::add_undue(const BitRow& owed, BandOf band_of, TicksOf ticks_of) {
    REPLAYOUT_ASSERT(has_begun() && !has_candidate());
    if (std::exchange(stage_, Stage::All) == Stage::All) {
        return;
    }
    for (std::size_t i = 0; i < ordered_.word_count(); ++i) {
        BitRow::for_each_in_word(
            i, owed.word(i) & ordered_.word(i) & ~missed_.word(i), [&](ObjectIndex index) {
                const std::uint32_t band = band_of(index);
                const std::uint32_t rank = rank_of(index, band, ticks_of(index));
                if (rank > due_rank) {
                    add(index, rank, band);
                }
            });
    }
    sort_fresh(candidates_.next_fresh);
}

template <typename KindOf>
void SendOrder::end(KindOf kind_of) {
    const auto is_forgotten = [&](ObjectIndex index, Kind kind) {
        if (kind_of(index) == kind) {
            return false;
        }
        missed_.erase(index);
        ordered_.erase(index);
        return true;
    };
    if (has_begun()) {
        Vector<std::uint64_t>& fresh = candidates_.fresh;
        const auto left = fresh.begin() + static_cast<std::ptrdiff_t>(candidates_.next_fresh);
        fresh.erase(std::remove_if(left, fresh.end(),
                                   [&](std::uint64_t number) {
                                       const auto index = kept_index(number);
                                       return index.has_value() &&
                                              is_forgotten(*index, Kind::Shown);
                                   }),
                    fresh.end());
        missed_.retain(ordered_, ordered_);  // what was opened amid the flush stands in a queue
        auto& held = candidates_.held_back;
        held.erase(
            std::remove_if(held.begin(), held.end(),
                           [&](const auto& each) { return is_forgotten(each.index, each.kind); }),
            held.end());
    }
    end();
}

}  // namespace replayout
