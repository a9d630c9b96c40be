// SPDX-License-Identifier: MIT
//
// What a receiver holds for certain while packets to it are under way: for layouts that need to
// know (RepLayout::needs_held_version), beside the SendingRepState.
//
//     versions in flight    (7, 9]   (9, 12]            nothing lost
//     held version          7: whatever becomes of the two, all up to 7 is there
#pragma once

#include <replayout/reflection/memory.h>
#include <replayout/sending_rep_state.h>

#include <algorithm>
#include <cstddef>

namespace replayout {

/// The oldest versions that each record in flight of one pair carries. Records must be resolved in
/// the order in which they were sent. Takes memory for the most that were in flight at a time.
class InFlightVersions {
  public:
    explicit InFlightVersions(MemoryResource* resource) : after_(Allocator<Version>(resource)) {}

    /// A packet with this record goes out.
    void sent(const SentVersions& record) {
        after_.push_back(record.lost.is_empty() ? record.sent.after
                                                : std::min(record.sent.after, record.lost.after));
    }
    /// The oldest record in flight was delivered or lost. O(1), amortized.
    void resolved() noexcept {
        REPLAYOUT_ASSERT(count() > 0);
        ++resolved_count_;
        if (resolved_count_ * 2 > after_.size()) {
            after_.erase(after_.begin(),
                         after_.begin() + static_cast<std::ptrdiff_t>(resolved_count_));
            resolved_count_ = 0;
        }
    }

    /// OwedVersions::held_version of the pair.
    [[nodiscard]] Version held_version(const SendingRepState& state) const noexcept {
        const VersionInterval lost = state.lost();
        Version held =
            lost.is_empty() ? state.sent_version : std::min(state.sent_version, lost.after);
        for (std::size_t i = resolved_count_; i < after_.size(); ++i) {
            held = std::min(held, after_[i]);
        }
        return held;
    }

    [[nodiscard]] std::size_t count() const noexcept { return after_.size() - resolved_count_; }

  private:
    Vector<Version> after_;           // oldest first; as many as packets in flight, so a few
    std::size_t resolved_count_ = 0;  // of these, at the front
};

}  // namespace replayout
