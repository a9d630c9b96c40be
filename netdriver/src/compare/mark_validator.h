// SPDX-License-Identifier: MIT
//
// The debug mode of marks (NetDriverSettings::mark_validation_ticks): finds properties and items of
// fast arrays that changed and were not marked. Only looks, so what is sent does not depend on it.
//
//     ticks = 4     flush   0     1     2     3     4
//                   slots   0,4.. 1,5.. 2,6.. 3,7.. 0,4..
#pragma once

#include <replayout/netdriver/net_world.h>

#include "bit_row.h"
#include "object_store.h"

namespace replayout {

class MarkValidator {
  public:
    /// 0 ticks: validate() does nothing.
    MarkValidator(std::uint32_t ticks, MemoryResource* resource);

    /// Looks at the objects whose turn it is; to be called once a flush, before marks are taken. Of
    /// one that is dormant a mark may still come.
    void validate(const ObjectStore& objects, const BitRow& live, const BitRow& dormant,
                  NetWorld& world, ReplicationCounters& counters);

  private:
    /// Two types may have a base's property in common.
    struct Reported {
        const RepLayout* layout;
        const Property* property;
        NetGUID guid;

        friend constexpr bool operator==(const Reported&, const Reported&) noexcept = default;
    };
    /// A second mistake with the same property should be heard of, ten thousand objects should not.
    static constexpr std::size_t lines_per_property_max = 16;

    /// `object` is the memory of the object of which `missed_` was found.
    void report(const ServerObject& info, const void* object, NetWorld& world,
                ReplicationCounters& counters);
    /// Whether it is to be logged, and from now on was.
    [[nodiscard]] bool is_news(const Reported& found);

    std::uint32_t ticks_;
    std::uint32_t first_ = 0;  // slot whose turn it is
    ChangeMask missed_;
    Vector<Reported> reported_;  // few
};

}  // namespace replayout
