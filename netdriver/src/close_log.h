// SPDX-License-Identifier: MIT
//
// Why connections ended, for the log: a line for each, with the peer, the reason and, where there
// is one, the place. Whoever can reach a server can make it close connections, so lines are few a
// second; those left out are counted, and the next line tells how many they were.
#pragma once

#include <replayout/net_guid.h>
#include <replayout/netdriver/close_reason.h>
#include <replayout/netdriver/time.h>
#include <replayout/netdriver/transport.h>

#include "call_limiter.h"

#include <cstdint>
#include <string_view>

namespace replayout {

/// What was being read when a connection was closed. Empty: nothing of an object.
struct ClosePlace {
    std::string_view class_name;  ///< of a layout, which outlives the driver
    std::string_view function;    ///< of a call; of a type, likewise
    NetGUID object;
};

class CloseLog {
  public:
    static constexpr std::uint32_t lines_per_second = 10;  ///< over time, and at once

    explicit CloseLog(NetTime now) noexcept : bucket_(lines_per_second, lines_per_second, now) {}

    /// A connection ended, by the other side's word or by ours. What was asked for is no news.
    void connection_closed(PeerId peer, CloseReason reason, bool is_by_peer,
                           const ClosePlace& place, NetTime now);
    /// For another line about a peer's doing: false, and it is counted, when there were too many.
    [[nodiscard]] bool may_write(NetTime now) noexcept;

  private:
    TokenBucket bucket_;
    std::uint64_t left_out_count_ = 0;
};

}  // namespace replayout
