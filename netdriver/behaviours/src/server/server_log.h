// SPDX-License-Identifier: MIT
//
// What a server logs of its clients, and of calls of the game that it refuses: a few lines a second
// at most, each with the time of the update in which it was written.
#pragma once

#include <replayout/behaviours/network_server.h>
#include <replayout/netdriver/peer_log.h>
#include <replayout/netdriver/time.h>
#include <replayout/netdriver/transport.h>
#include <replayout/reflection/diagnostics.h>

#include <string>
#include <string_view>

namespace replayout {

class NetworkServer::Log {
  public:
    /// `now` is the server's time, and outlives the log.
    explicit Log(const NetTime& now) noexcept : now_(now) {}
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    /// `peer` is the client that the line is about, 0 where it is about none.
    void write(LogLevel level, PeerId peer, std::string_view text) {
        lines_.write(level, peer, text, now_);
    }
    /// Writes a warning, and returns false.
    bool refuse(PeerId peer, std::string_view why) {
        write(LogLevel::Warning, peer, why);
        return false;
    }
    /// Names an object by its prefab and, if it has one, its net id or scene id.
    [[nodiscard]] static std::string name_of(const NetworkIdentity& object) {
        std::string name = "an object of prefab \"" + object.prefab().name() + "\"";
        if (object.net_id() != 0) {
            name += " (net id " + std::to_string(object.net_id()) + ")";
        } else if (object.scene_id() != 0) {
            name += " (scene id " + std::to_string(object.scene_id()) + ")";
        }
        return name;
    }

  private:
    PeerLog lines_;
    const NetTime& now_;
};

}  // namespace replayout
