// SPDX-License-Identifier: MIT
//
// The opens in the packet that is being put together. A client sees an object once its open has
// arrived, and is to find the object's values then. So an open goes in one packet with the first
// block of its object:
//
//     open A   open B   block A | no room for block B
//
//     this packet:  open A   block A
//     the next:     open B   block B
//
// An open whose block has not been written when its packet is full is taken out of it, and waits as
// if it had been lost. If it is its own block that did not fit, both go in the next packet. Values
// that do not fit into a packet with the open follow it in parts.
#pragma once

#include <replayout/reflection/memory.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "reliable_sender.h"

namespace replayout {

class CarriedOpens {
  public:
    struct Open {
        ObjectIndex object_index{};
        SentBunch name;
        std::uint32_t bunch_number =
            0;                   ///< among the bunches of the packet that ReliableSender sent
        std::size_t offset = 0;  ///< in the bunches of the packet, with the next one
        std::size_t bytes = 0;
        bool was_sent = false;  ///< in a packet before
        bool is_followed = false;
    };

    explicit CarriedOpens(MemoryResource* resource) : opens_(Allocator<Open>(resource)) {}

    void add(const Open& open) { opens_.push_back(open); }
    [[nodiscard]] bool contains(ObjectIndex object_index) const noexcept {
        return std::any_of(opens_.begin(), opens_.end(),
                           [=](const Open& open) { return open.object_index == object_index; });
    }
    /// The first block of the object is in the packet, or it has none.
    void followed(ObjectIndex object_index) noexcept {
        for (std::size_t i = first_unfollowed_; i < opens_.size(); ++i) {
            if (opens_[i].object_index == object_index) {
                opens_[i].is_followed = true;
                break;
            }
        }
        while (first_unfollowed_ < opens_.size() && opens_[first_unfollowed_].is_followed) {
            ++first_unfollowed_;
        }
    }
    [[nodiscard]] bool has_unfollowed() const noexcept { return first_unfollowed_ < opens_.size(); }
    /// The object whose block is to be written next.
    [[nodiscard]] std::optional<ObjectIndex> first_unfollowed() const noexcept {
        return has_unfollowed() ? std::optional(opens_[first_unfollowed_].object_index)
                                : std::nullopt;
    }
    [[nodiscard]] std::optional<Open> find_unfollowed(ObjectIndex object_index) const noexcept {
        for (std::size_t i = first_unfollowed_; i < opens_.size(); ++i) {
            if (opens_[i].object_index == object_index && !opens_[i].is_followed) {
                return opens_[i];
            }
        }
        return std::nullopt;
    }
    /// Calls `visit(open)` for those without a block, the last one first.
    template <typename Visitor>
    void for_each_unfollowed(Visitor visit) const {
        for (std::size_t i = opens_.size(); i-- > first_unfollowed_;) {
            if (!opens_[i].is_followed) {
                visit(opens_[i]);
            }
        }
    }
    void clear() noexcept {
        opens_.clear();
        first_unfollowed_ = 0;
    }

  private:
    Vector<Open> opens_;
    std::size_t first_unfollowed_ = 0;  // or their number
};

}  // namespace replayout
