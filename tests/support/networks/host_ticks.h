// SPDX-License-Identifier: MIT
//
// A server and its clients, each a host with a `driver`, over one simulated network: a tick of all
// of them, and whether there is anything left to do. What the fixtures of the driver's tests run
// on.
#pragma once

#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/simulated_network.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace replayout::test {

/// The host's driver, which may be a pointer.
template <typename Host>
[[nodiscard]] NetDriver& driver_of(const std::unique_ptr<Host>& host) {
    if constexpr (requires { *host->driver; }) {
        return *host->driver;
    } else {
        return host->driver;
    }
}

/// Datagrams arrive, the server takes them, its game moves, it sends, and then the clients do.
/// What a game does between the two is not the same as what it does before: the server has just
/// heard of losses, and has not sent again what was lost.
template <typename Host, typename Moves>
void tick_hosts(SimulatedNetwork& network, NetTime now, const std::unique_ptr<Host>& server,
                const std::vector<std::unique_ptr<Host>>& clients, Moves moves) {
    network.advance(now);
    driver_of(server).tick_dispatch(now);
    moves();
    driver_of(server).tick_flush(now);
    std::for_each(clients.begin(), clients.end(), [now](const std::unique_ptr<Host>& client) {
        driver_of(client).tick_dispatch(now);
        driver_of(client).tick_flush(now);
    });
}

template <typename Host>
void tick_hosts(SimulatedNetwork& network, NetTime now, const std::unique_ptr<Host>& server,
                const std::vector<std::unique_ptr<Host>>& clients) {
    tick_hosts(network, now, server, clients, [] {});
}

/// Every client has joined, and nothing is owed or under way. As of the last tick: what changed
/// since is found in the next.
template <typename Host>
[[nodiscard]] bool are_settled(const std::unique_ptr<Host>& server,
                               const std::vector<std::unique_ptr<Host>>& clients) {
    return driver_of(server).connection_count() == clients.size() &&
           driver_of(server).is_settled() &&
           std::all_of(clients.begin(), clients.end(), [](const std::unique_ptr<Host>& client) {
               return driver_of(client).state() == ConnectionState::Joined;
           });
}

}  // namespace replayout::test
