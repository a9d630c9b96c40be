// SPDX-License-Identifier: MIT
//
// How a client and its server agree on layouts: the client names its own in the hello, the server
// describes those that differ or refuses one, and both ends learn the first difference.
#pragma once

#include <replayout/netdriver/net_driver_settings.h>

#include "control_message.h"
#include "layout_messages.h"
#include "layout_table.h"
#include "net_connection.h"
#include "session_layouts.h"

#include <cstddef>
#include <span>
#include <string>

namespace replayout {

class LayoutHandshake {
  public:
    /// `theirs` are the server's, as far as it describes them.
    LayoutHandshake(const NetDriverSettings& settings, const LayoutTable& ours,
                    SessionLayouts& theirs, NetConnection& connection);

    void send_hello();
    /// The server describes a layout. `has_channels`: objects were opened already.
    [[nodiscard]] CloseReason receive_layout(std::span<const std::byte> message, bool has_channels);
    /// The server does not take one of ours.
    [[nodiscard]] CloseReason receive_refusal(const RefusedLayout& refused);

  private:
    /// Our layout differs from the one that the server describes, so the connection ends.
    void find_described(std::span<const std::byte> message);
    /// For the log of both ends, when the connection is closed.
    void tell_difference(ClassDifference difference);

    const NetConfig& config_;
    LayoutPolicy policy_;
    const LayoutTable& ours_;
    SessionLayouts& theirs_;
    NetConnection& connection_;
    MemoryResource* resource_;
    ClassDifference difference_;  // for which the connection ends
    std::string difference_sentence_;
};

}  // namespace replayout
