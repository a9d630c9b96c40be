// SPDX-License-Identifier: MIT
//
// The connections of a server: its clients and, in host mode, this process. A connection that ended
// is no longer found, and its memory stays until the update is over, as callbacks that run may hold
// it.
#pragma once

#include <replayout/behaviours/network_server.h>
#include <replayout/netdriver/call_arguments.h>
#include <replayout/netdriver/transport.h>

#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

namespace replayout {

class NetworkServer::Connections {
  public:
    using ByPeer = std::map<PeerId, std::unique_ptr<NetworkConnection>>;

    Connections() = default;
    Connections(const Connections&) = delete;
    Connections& operator=(const Connections&) = delete;

    [[nodiscard]] const ByPeer& all() const noexcept { return by_peer_; }
    [[nodiscard]] bool is_empty() const noexcept { return by_peer_.empty(); }
    /// Null: there is no such connection.
    [[nodiscard]] NetworkConnection* find(PeerId peer) const noexcept;
    /// Null: nobody owns the object.
    [[nodiscard]] NetworkConnection* owner_of(const NetworkIdentity& object) const noexcept;
    /// Whether the connection is one of these, and did not end. Does not read it.
    [[nodiscard]] bool owns(const NetworkConnection& connection) const noexcept {
        return owned_.contains(&connection);
    }
    /// What refused calls return. Every function of the server refuses it.
    [[nodiscard]] NetworkConnection& none();

    /// Ends an earlier connection of the same peer.
    [[nodiscard]] NetworkConnection& make(PeerId peer);
    void end(PeerId peer);
    /// Frees the connections that ended.
    void free_ended() { ended_.clear(); }

    /// Calls a function of the client on the channel of its connection. Requires that it is not the
    /// host, which has no channel.
    static CallResult call(NetworkConnection& connection, std::string_view function,
                           CallArguments params = {});

  private:
    ByPeer by_peer_;
    std::set<const NetworkConnection*> owned_;  // the same ones, found without reading them
    std::vector<std::unique_ptr<NetworkConnection>> ended_;
    std::unique_ptr<NetworkConnection> none_;  // made with the first refusal
};

}  // namespace replayout
