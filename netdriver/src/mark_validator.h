// SPDX-License-Identifier: MIT
//
// The debug mode of the push model (NetDriverSettings::mark_validation_ticks): finds properties
// that changed and were not marked. Only looks, so what is sent does not depend on it.
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

        friend constexpr bool operator==(const Reported&, const Reported&) noexcept = default;
    };

    void report(const NetworkObjectInfo& info, ReplicationCounters& counters);

    std::uint32_t ticks_;
    std::uint32_t first_ = 0;  // slot whose turn it is
    ChangeMask missed_;
    Vector<Reported> reported_;  // few
};

}  // namespace replayout
