// SPDX-License-Identifier: MIT
//
// What a game decides about joining and leaving (Mirror: NetworkManager). Derive from it and
// override what is to be otherwise; a server and a client may share one or have their own.
#pragma once

#include <replayout/behaviours/network_connection.h>
#include <replayout/netdriver/channel_close_reason.h>
#include <replayout/netdriver/close_reason.h>

namespace replayout {

class NetworkClient;
class NetworkIdentity;
class NetworkPrefab;
class NetworkServer;

/// Calls come from early_update() and late_update() of the server or client that they are about,
/// and from what the game calls of it.
class NetworkManager {
  public:
    virtual ~NetworkManager() = default;

    /// What on_server_add_player() makes a player from.
    const NetworkPrefab* player_prefab = nullptr;
    /// A client that is connected says that it is ready, and asks for a player.
    bool auto_create_player = true;

    // Server.

    virtual void on_server_connect(NetworkServer&, NetworkConnection&) {}
    /// Makes it ready.
    virtual void on_server_ready(NetworkServer& server, NetworkConnection& connection);
    /// Makes a player from player_prefab, and gives it to the connection.
    virtual void on_server_add_player(NetworkServer& server, NetworkConnection& connection);
    /// This process plays, too: makes it ready, and asks for a player, with auto_create_player.
    virtual void on_start_host(NetworkServer& server, NetworkConnection& host);
    /// This process stops playing: before anything else of that.
    virtual void on_stop_host(NetworkServer&, NetworkConnection&) {}
    /// Destroys what it owns.
    virtual void on_server_disconnect(NetworkServer& server, NetworkConnection& connection);

    // Client.

    /// Makes it ready, and asks for a player, with auto_create_player.
    virtual void on_client_connect(NetworkClient& client);
    virtual void on_client_disconnect(NetworkClient&, CloseReason) {}
    /// The server said that this client is not ready any more.
    virtual void on_client_not_ready(NetworkClient&) {}
    virtual void on_client_spawn_started(NetworkClient&) {}
    /// All objects that were there when this client became ready are, and were started.
    virtual void on_client_spawn_finished(NetworkClient&) {}
    /// The object, which was told that it stops, goes back to its handler, the scene or the heap.
    /// `reason`: Destroyed, Relevancy (it is hidden from this client), Disconnected.
    virtual void on_client_unspawn(NetworkClient&, NetworkIdentity&, ChannelCloseReason) {}
};

}  // namespace replayout
