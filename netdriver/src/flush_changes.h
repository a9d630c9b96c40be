// SPDX-License-Identifier: MIT
//
// What changed in the flush that goes on: found by the compare, once, and read by every connection
// when its turn comes.
#pragma once

#include <replayout/reflection/memory.h>

#include "bit_row.h"

#include <cstdint>

namespace replayout {

struct FlushChanges {
    explicit FlushChanges(MemoryResource* resource) : objects(resource) {}

    /// Those whose version grew in this flush, and those that are new.
    BitRow objects;
    /// Whether there are any: told when all were compared.
    bool has_any = false;
    /// Of the flush that began last; none has 0.
    std::uint64_t flush = 0;
};

}  // namespace replayout
