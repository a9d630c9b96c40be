// SPDX-License-Identifier: MIT
#include "server_parts.h"

#include <replayout/behaviours/network_client.h>
#include <replayout/behaviours/network_manager.h>
#include <replayout/behaviours/network_server.h>

namespace replayout {

void NetworkManager::on_server_ready(NetworkServer& server, NetworkConnection& connection) {
    server.set_client_ready(connection);
}

void NetworkManager::on_server_add_player(NetworkServer& server, NetworkConnection& connection) {
    if (player_prefab == nullptr) {
        detail::ServerParts::of(server).log.write(
            LogLevel::Error, connection.peer(),
            "a client asks for a player, and the manager has no player prefab");
        return;
    }
    NetworkIdentity& player = server.instantiate(*player_prefab);
    if (!server.add_player_for_connection(connection, player)) {
        server.destroy(player);
    }
}

void NetworkManager::on_start_host(NetworkServer& server, NetworkConnection& host) {
    on_server_ready(server, host);
    if (auto_create_player) {
        on_server_add_player(server, host);
    }
}

void NetworkManager::on_server_disconnect(NetworkServer& server, NetworkConnection& connection) {
    server.destroy_owned(connection);
}

void NetworkManager::on_client_connect(NetworkClient& client) {
    client.ready();
    if (auto_create_player) {
        client.add_player();
    }
}

}  // namespace replayout
