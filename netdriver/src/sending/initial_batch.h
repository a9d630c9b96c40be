// SPDX-License-Identifier: MIT
//
// The objects that are there when a client joins: opened a few in each flush, so that no tick
// carries a large world, and watched until the client has them. What is nowhere goes first, then
// what was nearest to the client's viewers when the batch began.
//
//     waiting   --opened-->   sent   --the client has all that it then was-->   gone from here
#pragma once

#include <replayout/netdriver/net_object_id.h>
#include <replayout/reflection/memory.h>
#include <replayout/sending_rep_state.h>

#include "bit_row.h"

#include <cstddef>
#include <cstdint>

namespace replayout {

class InitialBatch {
  public:
    enum class State : std::uint8_t {
        Before,  ///< the client was sent nothing yet
        Sending,
        Finished,
    };

    explicit InitialBatch(MemoryResource* resource)
        : waiting_(resource),
          whole_(resource),
          pieces_(resource),
          candidates_(Allocator<Candidate>(resource)),
          sent_(Allocator<Sent>(resource)) {}

    [[nodiscard]] State state() const noexcept { return state_; }

    // Before: add() and add_part() for what the client is to have, then begin().

    /// An object with its parts is opened after all for which `order` is less, and of those for
    /// which it is the same after all of a lower index. `order` is the square of a distance, or
    /// negative.
    void add(ObjectIndex index, float order);
    void add_part(ObjectIndex index) { waiting_.insert(index); }
    void begin();

    // Sending

    /// Objects and parts that wait to be opened.
    [[nodiscard]] const BitRow& waiting() const noexcept { return waiting_; }
    /// The object that is to be opened next, or BitRow::no_bit.
    [[nodiscard]] ObjectIndex next() noexcept;
    /// Those that wait are opened in the order of their indices.
    [[nodiscard]] bool is_by_index() const noexcept { return is_by_index_; }
    /// It waits no more: it is about to be opened, or goes.
    void release(ObjectIndex index) noexcept { waiting_.erase(index); }

    struct Sent {
        NetObjectId id;
        Version version = 0;  ///< of the object when it was released
    };
    /// How the client came by what it has of an object that was released.
    enum class Arrival : std::uint8_t {
        None,    ///< its first block is not there
        Whole,   ///< that was everything, and is there
        Pieces,  ///< by and by: in parts, or again after a loss
    };
    [[nodiscard]] Arrival arrival(ObjectIndex index) const noexcept {
        return pieces_.test(index)  ? Arrival::Pieces
               : whole_.test(index) ? Arrival::Whole
                                    : Arrival::None;
    }
    void came_whole(ObjectIndex index) { whole_.insert(index); }
    void comes_in_pieces(ObjectIndex index) { pieces_.insert(index); }
    /// What was released to be opened, and may not be there; whoever finds out takes it away.
    [[nodiscard]] const Vector<Sent>& sent() const noexcept { return sent_; }
    void add_sent(const Sent& object) { sent_.push_back(object); }
    /// The object that was added last found no room: it waits again, and is the next one.
    void take_back_last() {
        waiting_.insert(slot_of(sent_.back().id));
        sent_.pop_back();
    }
    /// The last one takes its place.
    void take_sent(std::size_t number) noexcept;
    /// Nothing waits, and everything is there.
    [[nodiscard]] bool is_over() noexcept { return sent_.empty() && next() == BitRow::no_bit; }
    /// Once it is over. Gives its memory back.
    void finish();

  private:
    struct Candidate {
        float order = 0;
        ObjectIndex index{};

        friend bool operator>(const Candidate& left, const Candidate& right) noexcept {
            return left.order != right.order ? left.order > right.order : left.index > right.index;
        }
    };

    State state_ = State::Before;
    BitRow waiting_;
    BitRow whole_;   // of what was sent; see Arrival
    BitRow pieces_;  // likewise
    // A heap, the next one on top; by index where all have the same order.
    Vector<Candidate> candidates_;
    bool is_by_index_ = false;
    std::size_t next_ = 0;  // by index: no candidate before it waits, but for one taken back
    Vector<Sent> sent_;
};

}  // namespace replayout
