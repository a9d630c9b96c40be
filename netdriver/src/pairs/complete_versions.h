// SPDX-License-Identifier: MIT
//
// As of which version a receiver's copy of an object is complete, for certain: of each property it
// has the value of then, or a newer one. Kept beside a pair from the first call that means it.
//
//     versions sent   (3, 5]   (5, 7]   (7, 9]        p changed at 4 and at 8
//     (3, 5] is lost: p is not owed for it, (7, 9] carries what it became. Yet until that arrives
//     the copy is complete as of 3 only, and if that is lost as well it still is.
//
// So a record knows its floor: the version as of which the copy is complete if it is lost and all
// others arrive. A loss lowers the floors of all records under way, because what is newer than the
// lost values lies in one of them, and of the next that takes along what is owed. A record that
// only says again what others carry has none: nothing is owed for its loss, so nothing would end
// that debt. (Rejected: the held version of InFlightVersions. It tells of what changed last by then
// has arrived, which is what a sender asks; p above it passes over. Rejected, too: to end an
// account when all is known to have arrived, and to begin it again from the bundles under way. A
// loss that is skipped, as something newer was under way then, leaves nothing that tells of it; a
// reliable call was left out.)
#pragma once

#include <replayout/reflection/memory.h>
#include <replayout/sending_rep_state.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace replayout {

class CompleteVersions {
  public:
    explicit CompleteVersions(MemoryResource* resource) : records_(Allocator<Record>(resource)) {}

    [[nodiscard]] bool is_tracking() const noexcept { return is_tracking_; }
    /// Nobody knows what the records under way carry: as if everything.
    void begin(std::uint32_t records_in_flight) {
        is_tracking_ = true;
        debt_ = no_debt;  // what was lost so far stands in the pair
        records_.assign(records_in_flight, Record{});
        first_ = 0;
        lowered_count_ = 0;
        loss_count_ = 0;
    }
    /// How many records were lost since then that carried something of their own.
    [[nodiscard]] std::uint32_t loss_count() const noexcept { return loss_count_; }

    /// What is owed is taken, to be sent in the records that follow, or is nothing after all.
    void take() noexcept {
        taken_debt_ = debt_;
        debt_ = no_debt;
    }
    /// Some of it was not sent.
    void give_back() noexcept { debt_ = std::min(debt_, taken_debt_); }

    /// A record goes out. `is_complete`: with everything since version(), in this one packet.
    void sent(const SentVersions& versions, bool is_complete) {
        const Version complete_through = is_complete ? versions.sent.through : 0;
        if (versions.sent.is_empty() && versions.lost.is_empty()) {
            records_.push_back({no_debt, complete_through});
            return;
        }
        Version floor = std::min(versions.sent.after, taken_debt_);
        if (!versions.lost.is_empty()) {
            floor = std::min(floor, versions.lost.after);
        }
        records_.push_back({floor, complete_through});
    }
    /// The oldest record was delivered.
    void delivered() noexcept {
        complete_ = std::max(complete_, records_[first_].complete_through);
        drop_first();
    }
    void lost() noexcept {
        const Version floor = floor_of(first_);
        drop_first();
        if (floor == no_debt) {
            return;
        }
        ++loss_count_;
        debt_ = std::min(debt_, floor);
        lowered_to_ = floor;
        lowered_count_ = records_.size() - first_;
    }
    [[nodiscard]] bool has_records() const noexcept { return first_ < records_.size(); }
    [[nodiscard]] std::uint32_t record_count() const noexcept {
        return static_cast<std::uint32_t>(records_.size() - first_);
    }

    /// All that changed since version() was sent reliably, of the object at `version` or later, and
    /// has arrived.
    void arrived(Version version) noexcept { complete_ = std::max(complete_, version); }

    /// The receiver begins to meet a condition: what it has is not all that it may see, nor is what
    /// is under way.
    void began_to_see_more() noexcept {
        complete_ = 0;
        for (Record& record : records_) {
            record.complete_through = 0;
        }
    }
    /// The open was lost: the receiver threw everything away.
    void restart() noexcept {
        complete_ = 0;
        debt_ = 0;
        for (Record& record : records_) {
            record = Record{};
        }
        lowered_count_ = 0;
    }

    /// The pair's object is complete as of this one. Values that travel reliably are not in it.
    [[nodiscard]] Version version(const SendingRepState& pair) const noexcept {
        const VersionInterval lost = pair.lost();
        Version version = std::min(pair.sent_version, debt_);
        if (!lost.is_empty()) {
            version = std::min(version, lost.after);
        }
        for (std::size_t i = first_; i < records_.size(); ++i) {
            version = std::min(version, floor_of(i));
        }
        return std::max(version, complete_);
    }

  private:
    static constexpr Version no_debt = std::numeric_limits<Version>::max();

    struct Record {
        Version floor = 0;             // no_debt: it carries nothing of its own
        Version complete_through = 0;  ///< 0: it does not make the copy complete
    };

    /// As the losses since it was sent have left it. The last of them has the lowest floor that any
    /// had: it was lowered by those before it.
    [[nodiscard]] Version floor_of(std::size_t i) const noexcept {
        const Version floor = records_[i].floor;
        return floor != no_debt && i - first_ < lowered_count_ ? std::min(floor, lowered_to_)
                                                               : floor;
    }
    /// O(1), amortized.
    void drop_first() noexcept {
        lowered_count_ -= lowered_count_ > 0 ? 1u : 0u;
        ++first_;
        if (first_ * 2 > records_.size()) {
            records_.erase(records_.begin(),
                           records_.begin() + static_cast<std::ptrdiff_t>(first_));
            first_ = 0;
        }
    }

    Vector<Record> records_;  // oldest first; as many as blocks in flight, so a few
    std::size_t first_ = 0;   // of those that are under way
    // A loss lowers the floors of the first `lowered_count_` records, without a look at them.
    std::size_t lowered_count_ = 0;
    Version lowered_to_ = no_debt;
    Version complete_ = 0;          // by a delivered record
    Version debt_ = no_debt;        // of what was lost and not sent again
    Version taken_debt_ = no_debt;  // of what is being sent
    bool is_tracking_ = false;
    std::uint32_t loss_count_ = 0;  // see loss_count()
};

}  // namespace replayout
