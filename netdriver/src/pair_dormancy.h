// SPDX-License-Identifier: MIT
//
// Which objects are dormant on one connection: rows of bits by object index, beside its pairs. A
// row takes no memory before its first bit is set.
//
//     pair        awake    becoming    close under way    dormant    woken, open under way    awake
//     becoming                 x
//     dormant                                x               x
//     kept                                   x               x                x                 x
#pragma once

#include <replayout/net_guid.h>

#include "bit_row.h"

namespace replayout {

/// Payload of a close: its reason.
inline constexpr std::size_t close_payload_bytes = 1;

/// One that was removed while the close for its dormancy was under way.
struct RemovedObject {
    NetGUID guid;
    std::uint32_t layout_number = 0;
};

struct PairDormancy {
    explicit PairDormancy(MemoryResource* resource)
        : becoming(resource), dormant(resource), kept(resource), asked(resource) {}

    /// The object is about to be removed.
    void forget(std::uint32_t index) noexcept {
        becoming.erase(index);
        dormant.erase(index);
        kept.erase(index);
        asked.erase(index);
    }

    /// Goes dormant as soon as the client has all of it.
    BitRow becoming;
    /// A change of the object is no reason to send anything. Also of an object that is kept from a
    /// client which does not have it (NetDormancy::Initial).
    BitRow dormant;
    /// The client has the object, whether its channel is open or not: it was dormant before.
    BitRow kept;
    /// What set_dormant_for() said.
    BitRow asked;
};

}  // namespace replayout
