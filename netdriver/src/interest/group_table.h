// SPDX-License-Identifier: MIT
//
// Which objects are in which groups, to be asked from either side. A membership is in two lists,
// that of its object and that of its group. Objects are in few groups: a hash of memberships would
// be faster from some dozens on, and for all others twice the memory.
#pragma once

#include <replayout/netdriver/spawn_parameters.h>
#include <replayout/reflection/memory.h>

#include <cstdint>
#include <unordered_map>

#include "object_index.h"

namespace replayout {

class GroupTable {
  public:
    explicit GroupTable(MemoryResource* resource);

    /// False: it was there. O(groups of the object), as all that changes or asks something.
    bool add(ObjectIndex object, NetGroup group);
    /// False: it was not there.
    bool remove(ObjectIndex object, NetGroup group);
    /// False: it was in none.
    bool remove_all(ObjectIndex object);
    [[nodiscard]] bool is_in(ObjectIndex object, NetGroup group) const noexcept {
        return find(object, group) != none;
    }
    /// Whether the object is in any of these.
    [[nodiscard]] bool is_in_any(ObjectIndex object,
                                 const FlatSet<NetGroup>& groups) const noexcept;
    /// Calls `visit(object)`, in no order; only bits may follow from it.
    template <typename Visitor>
    void for_each_member(NetGroup group, Visitor&& visit) const {
        const auto found = first_in_group_.find(group.value);
        std::uint32_t at = found == first_in_group_.end() ? none : found->second;
        for (; at != none; at = memberships_[at].next_in_group) {
            visit(memberships_[at].object);
        }
    }

  private:
    static constexpr std::uint32_t none = 0xFFFF'FFFF;

    struct Membership {
        ObjectIndex object{};
        NetGroup group;
        std::uint32_t next_of_object = none;  // of a free one: the next that is free
        std::uint32_t next_in_group = none;
        std::uint32_t previous_in_group = none;
    };

    [[nodiscard]] std::uint32_t first_of(ObjectIndex object) const noexcept {
        return first_of_object_.contains(object) ? first_of_object_[object] : none;
    }
    [[nodiscard]] std::uint32_t find(ObjectIndex object, NetGroup group) const noexcept;
    [[nodiscard]] std::uint32_t take_slot();
    /// Out of the list of its group, and free; the list of its object is the caller's.
    void release(std::uint32_t at);

    Vector<Membership> memberships_;
    std::uint32_t first_free_ = none;
    ByObject<std::uint32_t> first_of_object_;
    std::pmr::unordered_map<std::uint32_t, std::uint32_t>
        first_in_group_;  // looked up, never walked
};

}  // namespace replayout
