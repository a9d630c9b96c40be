// SPDX-License-Identifier: MIT
//
// Collections of a server on their way to single clients, in parts (collection_parts.h).
#pragma once

#include <replayout/behaviours/network_server.h>
#include <replayout/netdriver/time.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <vector>

#include "collection_parts.h"
#include "part_of.h"

namespace replayout {

class NetworkServer::PartSender : detail::PartOf<detail::ServerParts> {
  public:
    PartSender(detail::ServerParts& parts, const NetConfig& config);

    /// A collection whose items take more is sent in parts.
    [[nodiscard]] std::size_t whole_bytes_max() const noexcept { return whole_bytes_max_; }
    /// A client asks. It is not sent what it may not see.
    void wanted(PeerId peer, const detail::CollectionsWanted& wanted);
    /// With each late_update(), a part to each client that is owed any, as long as few are under
    /// way. Those of one client are sent one collection after another.
    void send();
    void client_left(PeerId peer) { clients_.erase(peer.value); }

  private:
    /// A client is sent the same collection again only after this time, however often it asks.
    static constexpr std::int64_t pause_ms = 1'000;
    static constexpr std::size_t orders_of_client_max = 1'024;
    /// So many parts are under way to a client at most, so that what else it is called keeps room.
    static constexpr std::uint32_t parts_under_way_max = 4;

    struct Path {
        std::uint64_t net_id = 0;
        std::uint8_t component = 0;
        std::uint8_t collection = 0;

        friend auto operator<=>(const Path&, const Path&) = default;
    };
    struct Order {
        Path path;
        NetTime due;
        std::deque<std::vector<std::byte>> parts{};
        bool is_packed = false;
        bool is_under_way = false;  ///< all parts were sent, and may not have arrived
        bool is_wanted = true;      ///< since it was packed, or arrived last
    };
    /// In the order in which the client asked. It asks for many collections in a call, and calls
    /// often, so what it asked for before is looked up, and not searched.
    struct ClientOrders {
        std::list<Order> orders;
        std::uint32_t parts_under_way = 0;  ///< at most
        std::map<Path, std::list<Order>::iterator> by_path;
    };

    /// The connection's calls have not all arrived at the client.
    [[nodiscard]] bool has_calls_under_way(PeerId peer) const;
    /// The next part of the first order that has one. Orders that are over go.
    void send_to(PeerId peer, ClientOrders& client);
    /// False: the order is over.
    [[nodiscard]] bool send(PeerId peer, Order& order, bool& is_sent);
    /// False: it cannot be written.
    [[nodiscard]] bool pack(Order& order, detail::CollectionEnd& collection,
                            const RepLayout& changes);

    std::size_t whole_bytes_max_;
    std::size_t part_bytes_max_;
    std::map<std::uint64_t, ClientOrders> clients_;  // by peer; each has an order
};

}  // namespace replayout
