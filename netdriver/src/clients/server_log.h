// SPDX-License-Identifier: MIT
//
// What a server logs of its peers, a few lines a second at most, and the time of each line.
#pragma once

#include <replayout/netdriver/peer_log.h>
#include <replayout/netdriver/time.h>

#include "close_log.h"

namespace replayout {

struct ServerLog {
    explicit ServerLog(const LayoutTable& layouts) noexcept : closes(layouts, now) {}

    NetTime now;  ///< of the dispatch that came last
    PeerLog peers;
    CloseLog closes;
};

}  // namespace replayout
