// SPDX-License-Identifier: MIT
//
// Whose turn it is where candidates of two classes wait for the same room. New objects and shown
// ones take turns by bytes, and in each class the oldest and the first band do:
//
//     room of objects      1/2 new                       1/2 shown
//                          1/2 first band  1/2 oldest    3/4 first band  1/4 oldest
//
// A class that is sent while the other one waits owes the other as many bytes. The account goes on
// from flush to flush, so a large object is not held up by many small ones, nor these by it. A
// class that waits for nothing is owed nothing; what it owes stays until the other one waits for
// nothing. Without that rule an object that comes and goes in each flush would have all the room.
//
// Inside a class, a quarter or a half of the bytes goes to the oldest candidate, whatever its band.
// So an object waits for the bytes that waited before it, and later ones of a higher priority push
// it back by a factor that is known.
//
// Rejected: a share of each flush. Where a flush has room for one packet it cannot be divided.
// Rejected: only the oldest first. A rocket would wait for all the crates of a level.
#pragma once

#include <cstdint>

namespace replayout {

class SendTurns {
  public:
    enum class Class : std::uint8_t { New, Shown };

    /// The class that has had fewer bytes than the other one while both waited.
    [[nodiscard]] bool is_new_behind() const noexcept { return ahead_ > 0; }
    [[nodiscard]] bool is_shown_behind() const noexcept { return ahead_ < 0; }
    /// The oldest candidate of the class goes next, and not that of its first band.
    [[nodiscard]] bool is_oldest_next(Class of) const noexcept {
        return (of == Class::New ? oldest_new_ : oldest_shown_) > 0;
    }

    /// A candidate took `bytes`. `was_oldest`: it went as the oldest of its class.
    void pay(Class of, bool was_oldest, bool does_other_wait, std::uint32_t bytes) noexcept {
        const std::int64_t paid = bytes;
        if (does_other_wait) {
            ahead_ += of == Class::Shown ? paid : -paid;
        }
        if (of == Class::New) {
            oldest_new_ += was_oldest ? -paid : paid;
        } else {
            oldest_shown_ += was_oldest ? -3 * paid : paid;
        }
    }
    /// The same of first values, which go before all turns.
    void pay_first_values(bool does_other_wait, std::uint32_t bytes) noexcept {
        ahead_ -= does_other_wait ? std::int64_t{bytes} : 0;
    }
    /// At the end of a flush: which classes still wait for room.
    void end_flush(bool does_new_wait, bool does_shown_wait) noexcept {
        if ((ahead_ > 0 && !does_new_wait) || (ahead_ < 0 && !does_shown_wait)) {
            ahead_ = 0;
        }
    }

  private:
    std::int64_t ahead_ = 0;  // bytes by which shown objects are ahead of new ones
    // Bytes that the oldest of a class is owed.
    std::int64_t oldest_new_ = 0;
    std::int64_t oldest_shown_ = 0;
};

}  // namespace replayout
