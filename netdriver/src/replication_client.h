// SPDX-License-Identifier: MIT
//
// The client's side of a driver: one connection to a server and the objects that it shows.
#pragma once

#include <replayout/netdriver/net_driver.h>

#include "layout_table.h"
#include "net_connection.h"
#include "replication_receiver.h"
#include "session_layouts.h"

#include <string_view>

namespace replayout {

class ReplicationClient final : private PayloadHandler {
  public:
    ReplicationClient(const NetDriverSettings& settings, const LayoutTable& layouts,
                      Transport& transport, NetWorld& world, NetGUIDCache& guids, NetStats& stats,
                      PeerId server, NetTime now, MemoryMeters& memory);

    void receive(PeerId peer, std::span<const std::byte> datagram, NetTime now);
    void flush(NetTime now);
    void disconnect(NetTime now);

    [[nodiscard]] const NetConnection& connection() const noexcept { return connection_; }
    [[nodiscard]] const ReplicationReceiver& receiver() const noexcept { return receiver_; }
    [[nodiscard]] const RepLayout* server_layout(std::string_view class_name) const noexcept {
        return server_layouts_.find(class_name);
    }

  private:
    CloseReason handle_bunch(const BunchHeader& header, std::span<const std::byte> payload,
                             DecodeBudget& budget) override;
    CloseReason handle_control(std::span<const std::byte> message) override;
    CloseReason handle_blocks(BitReader& reader) override;
    [[nodiscard]] CloseReason receive_layout(std::span<const std::byte> message);
    void send_hello(const NetConfig& config);
    void close_when_ended();

    const LayoutTable& layouts_;
    LayoutPolicy policy_;
    NetStats& stats_;
    SessionLayouts server_layouts_;
    NetConnection connection_;
    ReplicationReceiver receiver_;
    bool is_open_ = true;
};

}  // namespace replayout
