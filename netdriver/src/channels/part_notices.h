// SPDX-License-Identifier: MIT
//
// What a client is still to be told of the parts that its objects make themselves and that were
// destroyed: by object, from which of the names on (ObjectStore::destroyed_parts_of). Of an object
// that is not here the client was told all, or has not got it.
#pragma once

#include <replayout/reflection/memory.h>

#include "destroyed_names.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace replayout {

class PartNotices {
  public:
    struct Entry {
        std::size_t next = 0;  ///< the first name that is not under way
        std::uint32_t under_way_count = 0;
    };
    using Map = FlatMap<ObjectIndex, Entry>;  // by index of the outer
    /// Messages of one object at once: enough for a thousand names in a round trip, and few beside
    /// the other bunches of its channel.
    static constexpr std::uint32_t under_way_max = 32;

    explicit PartNotices(MemoryResource* resource)
        : entries_(Allocator<std::pair<ObjectIndex, Entry>>(resource)) {}

    /// The names from `place` on are to be told.
    void add(ObjectIndex outer, std::size_t place) { entries_.emplace(outer, Entry{place, 0}); }
    /// The name at `place` is taken back; those behind it move up. no_place: nothing happens.
    void forget(ObjectIndex outer, std::size_t place) noexcept {
        const auto found = entries_.find(outer);
        if (place != DestroyedNames::no_place && found != entries_.end() &&
            found->second.next > place) {
            --found->second.next;
        }
    }
    void delivered(ObjectIndex outer) noexcept { --entries_.at(outer).under_way_count; }
    void erase(ObjectIndex outer) noexcept { entries_.erase(outer); }

    [[nodiscard]] bool contains(ObjectIndex outer) const noexcept {
        return entries_.find(outer) != entries_.end();
    }
    [[nodiscard]] Map& entries() noexcept { return entries_; }
    [[nodiscard]] const Map& entries() const noexcept { return entries_; }

  private:
    Map entries_;
};

}  // namespace replayout
