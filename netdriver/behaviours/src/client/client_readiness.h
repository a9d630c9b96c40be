// SPDX-License-Identifier: MIT
//
// How far a client is: connected, ready, all objects there. Both ends speak about that by the
// channel, an object of the connection (connection_channel.h).
#pragma once

#include <replayout/behaviours/network_client.h>
#include <replayout/netdriver/close_reason.h>

#include <cstdint>

#include "part_of.h"

namespace replayout {

class NetworkClient::ClientReadiness : detail::PartOf<detail::ClientParts> {
  public:
    using PartOf::PartOf;

    // As of NetworkClient.
    [[nodiscard]] bool is_connected() const noexcept { return is_connected_; }
    [[nodiscard]] bool is_ready() const noexcept { return is_ready_; }
    [[nodiscard]] bool is_spawn_finished() const noexcept { return is_spawn_finished_; }
    bool ready();
    bool add_player();

    /// Null: it is not there.
    [[nodiscard]] NetworkIdentity* channel() const noexcept { return channel_; }
    void channel_came(NetworkIdentity& channel) noexcept { channel_ = &channel; }
    void channel_left() noexcept;

    /// The server lets this client join. With the channel, which may come later, the client is
    /// connected.
    void joined();
    void connection_ended(CloseReason reason);

    // The server says so.

    void spawn_started();
    void spawn_finished();
    void not_ready();

    /// Answers that found no room when the server asked for them.
    void send_answers();

  private:
    bool refuse_request(const char* why);

    NetworkIdentity* channel_ = nullptr;
    std::uint32_t answers_due_ = 0;  // that it heard that it is not ready
    bool is_connected_ = false;
    bool is_ready_ = false;
    bool is_spawn_finished_ = false;
};

}  // namespace replayout
