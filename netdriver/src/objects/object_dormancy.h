// SPDX-License-Identifier: MIT
//
// Which objects of a server are dormant: rows of bits by object index, which take no memory before
// the first of them is used.
#pragma once

#include "bit_row.h"

namespace replayout {

struct ObjectDormancy {
    explicit ObjectDormancy(MemoryResource* resource)
        : candidates(resource), becoming(resource), dormant(resource), scratch(resource) {}

    /// The object is about to be removed.
    void forget(std::uint32_t index) noexcept {
        candidates.erase(index);
        becoming.erase(index);
        dormant.erase(index);
    }

    BitRow candidates;  ///< may be dormant, by what the game said
    BitRow becoming;    ///< of these, awake for anybody; so they are compared
    BitRow dormant;     ///< of these, dormant for everybody: compared no more
    BitRow scratch;     ///< of rest_dormant_objects()
};

}  // namespace replayout
