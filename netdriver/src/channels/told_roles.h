// SPDX-License-Identifier: MIT
//
// What a client was told of its role to an object since that was opened: only of those objects of
// which it has changed since. One message of a channel is under way at a time, so that a game that
// changes owners in each tick does not fill the channel; the client is told of the last one.
#pragma once

#include <replayout/netdriver/net_role.h>
#include <replayout/reflection/memory.h>

#include <utility>

#include "object_index.h"

namespace replayout {

class ToldRoles {
  public:
    struct Entry {
        ObjectRole told;
        bool is_under_way = false;
    };
    using Map = FlatMap<ObjectIndex, Entry>;  // by object index

    explicit ToldRoles(MemoryResource* resource)
        : entries_(Allocator<std::pair<ObjectIndex, Entry>>(resource)) {}

    /// The client was told `told`, and is to be told of another role.
    void changed(ObjectIndex index, const ObjectRole& told) {
        entries_.emplace(index, Entry{told, false});
    }
    void delivered(ObjectIndex index) noexcept {
        if (const auto found = entries_.find(index); found != entries_.end()) {
            found->second.is_under_way = false;
        }
    }
    void erase(ObjectIndex index) noexcept { entries_.erase(index); }

    [[nodiscard]] bool contains(ObjectIndex index) const noexcept {
        return entries_.find(index) != entries_.end();
    }
    [[nodiscard]] bool is_empty() const noexcept { return entries_.empty(); }
    [[nodiscard]] Map& entries() noexcept { return entries_; }

  private:
    Map entries_;
};

}  // namespace replayout
