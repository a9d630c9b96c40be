// SPDX-License-Identifier: MIT
//
// Objects in which Identical tolerated a change that is to be sent later all the same
// (Property::sent_within_us), and since when.
//
//     flush      1   2   3   4   5   6   7           an interval of three flushes
//     compared   x   t   t   t       t   .           t: something was tolerated
//     exact                      x           x       at most three flushes after the first t
//
// An object in which nothing was tolerated is not in here, and costs nothing.
#pragma once

#include <replayout/netdriver/time.h>
#include <replayout/reflection/memory.h>

#include "bit_row.h"

#include <cstdint>

namespace replayout {

class ToleratedChanges {
  public:
    explicit ToleratedChanges(MemoryResource* resource)
        : noted_(resource), waiting_(resource), entries_(Allocator<Entry>(resource)) {}

    /// An object that may tolerate something, for so long. Requires an interval.
    void add(ObjectIndex index, std::uint32_t interval_us) {
        noted_.grow_to(index);
        waiting_.grow_to(index);
        entries_.grow_to(index, Entry{});
        entries_[index].interval_us = interval_us;
    }
    void forget(ObjectIndex index) noexcept {
        noted_.erase(index);
        waiting_.erase(index);
    }
    /// It did, in the flush that is going on. Lanes may note objects of different words at once.
    void note(ObjectIndex index) noexcept { noted_.set(index); }

    /// Before objects are compared. Calls `visit(index)` for each that is to be compared exactly in
    /// this flush; false: it is to be asked again in the next one. O(objects that wait).
    template <typename Visitor>
    void advance(NetTime now, Visitor visit) {
        noted_.for_each([&](ObjectIndex index) {
            noted_.clear(index);
            if (!waiting_.test(index)) {
                waiting_.set(index);
                entries_[index].since = last_;
            }
        });
        last_ = now;
        waiting_.for_each([&](ObjectIndex index) {
            const Entry& entry = entries_[index];
            if (now.microseconds_since(entry.since) >= std::int64_t{entry.interval_us} &&
                visit(index)) {
                waiting_.clear(index);
            }
        });
    }

  private:
    struct Entry {
        NetTime since;  ///< of the flush in which the first change was tolerated
        std::uint32_t interval_us = 0;
    };

    BitRow noted_;  // since the last advance()
    BitRow waiting_;
    ByObject<Entry> entries_;
    NetTime last_;  // of the last flush
};

}  // namespace replayout
