// SPDX-License-Identifier: MIT
//
// Objects of one connection with a value too large for a packet, for which there was no room: they
// wait in a queue, and the value is encoded when it is its turn, as it is then. So nothing of it is
// held, and what becomes of the object meanwhile, or of who may see it, is told by what is sent.
//
// A round gives as many a turn as there is room for, from the front. Who finds no room in his turn
// stays where he is, nobody else goes in that round, and the next one is his alone: else small
// values would go before a large one for ever.
#pragma once

#include <replayout/reflection/memory.h>

#include "bit_row.h"
#include "ring_queue.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace replayout {

class ValueTurns {
  public:
    explicit ValueTurns(MemoryResource* resource)
        : queue_(resource),
          waiting_(resource),
          has_turn_(resource),
          promised_(resource),
          round_(Allocator<ObjectIndex>(resource)) {}

    /// It is its turn, or nobody waits.
    [[nodiscard]] bool may_go(ObjectIndex index) const noexcept {
        return !is_blocked_ && (queue_.count() == 0 || has_turn_.test(index));
    }
    /// Whether one value of the object may go though nothing is left of the room that there was
    /// when its turn began. Its small values go before it in that turn: where these took the room,
    /// a value would never go.
    [[nodiscard]] bool is_promised(ObjectIndex index) const noexcept {
        return promised_.test(index);
    }
    /// A value of the object goes out.
    void keep_promise(ObjectIndex index) noexcept { promised_.erase(index); }
    /// It waits, if it does not already, for room for so many fragments.
    void wait(ObjectIndex index, std::uint32_t fragments) {
        is_blocked_ = is_blocked_ || has_turn_.test(index);
        has_turn_.erase(index);
        promised_.erase(index);
        if (!waiting_.test(index)) {
            waiting_.insert(index);
            queue_.push_back() = {index, fragments};
        }
    }
    /// It does not wait any more. Its turn lasts as long as the round.
    void leave(ObjectIndex index) noexcept {
        waiting_.erase(index);
        while (queue_.count() > 0 && !waiting_.test(queue_.front().index)) {
            queue_.pop_front();
        }
    }
    [[nodiscard]] bool is_waiting(ObjectIndex index) const noexcept { return waiting_.test(index); }
    [[nodiscard]] bool is_empty() const noexcept { return queue_.count() == 0; }
    /// None waits, and none had a turn in the last round: a round would do nothing.
    [[nodiscard]] bool is_at_rest() const noexcept { return is_empty() && round_.empty(); }

    /// Ends the round before, and calls `end(index)` for each whose turn that was. Then those who
    /// came first have their turn, as many as there is room for, so many fragments, and one at
    /// least where there is any: `bool begin(index)` is called for each. Where it says that there
    /// is no room after all, that one and those behind it stay where they are.
    template <typename End, typename Begin>
    void begin_round(std::uint32_t room, End end, Begin begin) {
        for (const ObjectIndex index : round_) {
            promised_.erase(index);
            if (has_turn_.test(index)) {
                has_turn_.erase(index);
                leave(index);
            }
            end(index);
        }
        round_.clear();
        const bool is_first_alone = std::exchange(is_blocked_, false);
        for (std::size_t i = 0; i < queue_.count() && room > 0; ++i) {
            const Entry entry = queue_.at(i);
            if (waiting_.test(entry.index) && !has_turn_.test(entry.index)) {
                room -= is_first_alone ? room : std::min(room, entry.fragments);
                has_turn_.insert(entry.index);
                promised_.insert(entry.index);
                round_.push_back(entry.index);
            }
        }
        for (std::size_t i = 0; i < round_.size(); ++i) {
            if (!begin(round_[i])) {
                take_turns_from(i);
            }
        }
    }

  private:
    struct Entry {
        ObjectIndex index{};
        std::uint32_t fragments = 0;
    };

    void take_turns_from(std::size_t first) noexcept {
        for (std::size_t i = first; i < round_.size(); ++i) {
            has_turn_.erase(round_[i]);
            promised_.erase(round_[i]);
        }
        round_.erase(round_.begin() + static_cast<std::ptrdiff_t>(first), round_.end());
    }

    RingQueue<Entry> queue_;  // who left stands in it until it is at the front
    BitRow waiting_;
    BitRow has_turn_;
    BitRow promised_;            // room for one value, of those
    Vector<ObjectIndex> round_;  // those who had a turn when it began
    bool is_blocked_ = false;    // for the rest of the round
};

}  // namespace replayout
