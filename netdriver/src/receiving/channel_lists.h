// SPDX-License-Identifier: MIT
//
// For each of some objects the channels that have to do with it: that mention it, are parts of it,
// or wait for it. A server decides how long a list is.
#pragma once

#include <replayout/net_guid.h>
#include <replayout/netdriver/bunch.h>
#include <replayout/reflection/hash.h>
#include <replayout/reflection/memory.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>

namespace replayout {

class ChannelLists {
  public:
    ChannelLists(const SecretHash& hash, MemoryResource* resource)
        : lists_(0, hash, {}, resource), resource_(resource) {}

    /// Nothing where it is in the list. O(log list), and what moving the rest of it takes.
    void add(NetGUID guid, ChannelIndex channel) {
        List& list = list_of(guid);
        const auto position = std::lower_bound(list.begin(), list.end(), channel);
        if (position == list.end() || *position != channel) {
            list.insert(position, channel);
        }
    }
    /// Likewise.
    void remove(NetGUID guid, ChannelIndex channel) {
        const auto found = lists_.find(guid.value);
        if (found == lists_.end()) {
            return;
        }
        List& list = found->second;
        const auto position = std::lower_bound(list.begin(), list.end(), channel);
        if (position != list.end() && *position == channel) {
            list.erase(position);
        }
        if (list.empty()) {
            lists_.erase(found);
        }
    }
    void erase(NetGUID guid) { lists_.erase(guid.value); }

    /// By ascending channel. Valid until something changes.
    [[nodiscard]] std::span<const ChannelIndex> of(NetGUID guid) const noexcept {
        const auto found = lists_.find(guid.value);
        return found == lists_.end() ? std::span<const ChannelIndex>() : std::span(found->second);
    }

  private:
    using List = SmallVector<ChannelIndex, 4>;

    [[nodiscard]] List& list_of(NetGUID guid) {
        const List empty(List::allocator_type{resource_});  // moved, gcc 12 sees it read too far
        return lists_.try_emplace(guid.value, empty).first->second;
    }

    std::pmr::unordered_map<std::uint64_t, List, SecretHash> lists_;  // looked up, never walked
    MemoryResource* resource_;
};

}  // namespace replayout
