// SPDX-License-Identifier: MIT
//
// Whether calls or large values go first in a flush, where one flush has no room for both.
//
//     flush                1        2        3        4
//     first                values   calls    values   values
//     a call found no room yes      yes      no
//
// Calls go before values in a flush if some call found no room in the flush before, and the turn of
// values is over. Room does not come with each flush, so a turn without any is none: calls keep
// their turn until one of them was written, and values theirs until one was, or none may be sent.
#pragma once

#include "reliable_sender.h"

namespace replayout {

class CallTurns {
  public:
    /// Decides which go first in the flush that begins. `do_values_wait`: there are values of which
    /// no part is in `reliable` yet.
    void begin_flush(bool do_values_wait, const ReliableSender& reliable) noexcept {
        are_calls_first_ = !did_calls_find_room_ && is_turn_of_calls(do_values_wait, reliable);
        is_any_call_written_ = false;
        is_any_value_written_ = false;
        did_calls_find_room_ = true;
    }

    [[nodiscard]] bool are_calls_first() const noexcept { return are_calls_first_; }
    /// Returns whether calls will not go first in the next flush, whatever waits.
    [[nodiscard]] bool is_turn_of_values_next() const noexcept {
        return did_calls_find_room_ && !are_calls_first_;
    }
    /// Returns whether values go before calls in this flush, and none of them was written so far.
    [[nodiscard]] bool is_values_turn() const noexcept {
        return !are_calls_first_ && !is_any_value_written_;
    }
    /// Returns whether no call of this flush reported that it found no room.
    [[nodiscard]] bool did_calls_find_room() const noexcept { return did_calls_find_room_; }

    void call_written() noexcept { is_any_call_written_ = true; }
    void value_written() noexcept { is_any_value_written_ = true; }
    void calls_found_no_room() noexcept { did_calls_find_room_ = false; }

  private:
    [[nodiscard]] bool is_turn_of_calls(bool do_values_wait,
                                        const ReliableSender& reliable) const noexcept {
        if (are_calls_first_) {
            return !is_any_call_written_;
        }
        return is_any_value_written_ || !(do_values_wait || reliable.may_send(PacketUse::Values));
    }

    bool are_calls_first_ = false;
    // In this flush:
    bool is_any_call_written_ = false;
    bool is_any_value_written_ = false;
    bool did_calls_find_room_ = true;
};

}  // namespace replayout
