// SPDX-License-Identifier: MIT
//
// Why connections ended, for the log: a line for each, with the peer, the reason and, where there
// is one, what was read. Whoever can reach a server can make it close connections, so lines are few
// a second; those left out are counted, and the next line tells how many they were.
#pragma once

#include <replayout/net_guid.h>
#include <replayout/netdriver/close_reason.h>
#include <replayout/netdriver/time.h>
#include <replayout/netdriver/transport.h>

#include "call_limiter.h"
#include "layout_table.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace replayout {

/// What was being read when a connection was closed. Empty: nothing of an object.
struct CloseDetails {
    std::string_view class_name;  ///< of a layout, which outlives the driver
    std::string_view function;    ///< of a call; of a type, likewise
    NetGUID object;
    /// Of *layout mismatch*: by which name the layouts differ, as in Goodbye, and how many layouts
    /// the peer has, where it said so.
    std::uint32_t layout_name_hash = 0;
    std::optional<std::uint32_t> peer_layout_count{};
    std::optional<bool> has_peer_layout{};  ///< it listed one of that name
    /// ... the class, where its name is known, and the first difference as a sentence. Kept
    /// elsewhere, by whoever found it.
    std::string_view layout_class{};
    std::string_view layout_difference{};
    bool is_unanswered = false;  ///< of a timeout: the peer was never heard
};

class CloseLog {
  public:
    static constexpr std::uint32_t lines_per_second = 10;  ///< over time, and at once

    CloseLog(const LayoutTable& layouts, NetTime now) noexcept
        : layouts_(layouts), bucket_(lines_per_second, lines_per_second, now) {}

    /// A connection ended, by the other side's word or by ours. What was asked for is no news.
    void connection_closed(PeerId peer, CloseReason reason, bool is_by_peer,
                           const CloseDetails& details, NetTime now);

    /// The other side reported how its layout of a class differs. `sentence` is logged as it is.
    void difference_told(PeerId peer, std::string_view class_name, std::string_view sentence,
                         NetTime now);

  private:
    /// False, and counted: it is one too many.
    [[nodiscard]] bool take_line(NetTime now) noexcept;
    void write_line(std::string text);
    [[nodiscard]] std::string mismatch_text(const CloseDetails& details, bool is_by_peer) const;

    const LayoutTable& layouts_;
    TokenBucket bucket_;
    std::uint64_t left_out_count_ = 0;
};

}  // namespace replayout
