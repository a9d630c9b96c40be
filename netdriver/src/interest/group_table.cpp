// SPDX-License-Identifier: MIT
#include "group_table.h"

namespace replayout {

GroupTable::GroupTable(MemoryResource* resource)
    : memberships_(Allocator<Membership>(resource)),
      first_of_object_(Allocator<std::uint32_t>(resource)),
      first_in_group_(resource) {}

std::uint32_t GroupTable::find(ObjectIndex object, NetGroup group) const noexcept {
    std::uint32_t at = first_of(object);
    while (at != none && memberships_[at].group != group) {
        at = memberships_[at].next_of_object;
    }
    return at;
}

bool GroupTable::is_in_any(ObjectIndex object, const FlatSet<NetGroup>& groups) const noexcept {
    for (std::uint32_t at = first_of(object); at != none; at = memberships_[at].next_of_object) {
        if (groups.contains(memberships_[at].group)) {
            return true;
        }
    }
    return false;
}

std::uint32_t GroupTable::take_slot() {
    if (first_free_ == none) {
        memberships_.push_back(Membership());
        return static_cast<std::uint32_t>(memberships_.size() - 1);
    }
    const std::uint32_t at = first_free_;
    first_free_ = memberships_[at].next_of_object;
    return at;
}

bool GroupTable::add(ObjectIndex object, NetGroup group) {
    if (is_in(object, group)) {
        return false;
    }
    first_of_object_.grow_to(object, none);
    const std::uint32_t at = take_slot();
    const auto [first, is_new] = first_in_group_.try_emplace(group.value, none);
    memberships_[at] = {object, group, first_of_object_[object], first->second, none};
    if (!is_new) {
        memberships_[first->second].previous_in_group = at;
    }
    first->second = at;
    first_of_object_[object] = at;
    return true;
}

bool GroupTable::remove(ObjectIndex object, NetGroup group) {
    const std::uint32_t at = find(object, group);
    if (at == none) {
        return false;
    }
    std::uint32_t* link = &first_of_object_[object];
    while (*link != at) {
        link = &memberships_[*link].next_of_object;
    }
    *link = memberships_[at].next_of_object;
    release(at);
    return true;
}

bool GroupTable::remove_all(ObjectIndex object) {
    std::uint32_t at = first_of(object);
    if (at == none) {
        return false;
    }
    first_of_object_[object] = none;
    while (at != none) {
        const std::uint32_t next = memberships_[at].next_of_object;
        release(at);
        at = next;
    }
    return true;
}

void GroupTable::release(std::uint32_t at) {
    Membership& leaving = memberships_[at];
    if (leaving.next_in_group != none) {
        memberships_[leaving.next_in_group].previous_in_group = leaving.previous_in_group;
    }
    if (leaving.previous_in_group != none) {
        memberships_[leaving.previous_in_group].next_in_group = leaving.next_in_group;
    } else if (leaving.next_in_group != none) {
        first_in_group_[leaving.group.value] = leaving.next_in_group;
    } else {
        first_in_group_.erase(leaving.group.value);
    }
    leaving.next_of_object = first_free_;
    first_free_ = at;
}

}  // namespace replayout
