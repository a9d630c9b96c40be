// SPDX-License-Identifier: MIT
//
// What one client of a server is interested in: rows of bits by object index, which take no memory
// before the first of them is used, its groups and its eyes.
#pragma once

#include <replayout/netdriver/interest.h>
#include <replayout/netdriver/memory_report.h>

#include "bit_row.h"
#include "interest_grid.h"
#include "marked_row.h"

#include <array>

namespace replayout {

struct ClientInterest {
    ClientInterest(PeerId client_peer, MemoryMeters& memory)
        : peer(client_peer),
          reconsidered(&memory.pairs),
          groups(Allocator<NetGroup>(&memory.connections)),
          shown(&memory.pairs),
          hidden(&memory.pairs) {
        viewers.fill(InterestGrid::no_viewer);
    }
    ClientInterest(const ClientInterest&) = delete;
    ClientInterest& operator=(const ClientInterest&) = delete;

    PeerId peer;
    bool is_new = true;        ///< nothing has been decided for it yet
    MarkedRow reconsidered;    ///< whether it is to have the object may have changed
    FlatSet<NetGroup> groups;  ///< that it is in
    std::array<std::uint32_t, views_per_client_max> viewers;
    // What set_relevant_for() said; no object is in both.
    BitRow shown;
    BitRow hidden;
};

}  // namespace replayout
