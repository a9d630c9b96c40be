// SPDX-License-Identifier: MIT
#include "part_sender.h"

#include "inside.h"
#include "server_parts.h"

#include <replayout/behaviours/collection_end.h>
#include <replayout/parameter_bytes.h>

#include <algorithm>
#include <iterator>

namespace replayout {

NetworkServer::PartSender::PartSender(detail::ServerParts& parts, const NetConfig& config)
    : PartOf(parts) {
    constexpr std::size_t part_max = 8 * 1024;
    constexpr std::size_t in_packet = 1'024;  // A call that small needs no parts of its own.
    const std::size_t call = std::max<std::size_t>(config.call_bytes_max, in_packet);
    whole_bytes_max_ = std::min<std::size_t>(config.bunch_bytes_max, call) / 4 * 3;
    part_bytes_max_ = std::min(part_max, call / 2);
}

void NetworkServer::PartSender::wanted(PeerId peer, const detail::CollectionsWanted& wanted) {
    if (wanted.paths.size() > detail::CollectionsWanted::paths_max) {
        return;
    }
    for (const auto& [object, component, collection] : wanted.paths) {
        const bool is_there =
            object != nullptr && object->is_spawned() && component < object->components().size() &&
            collection < object->prefab().components()[component].type->collections.size();
        if (!is_there) {
            continue;  // It ended meanwhile.
        }
        ClientOrders& client = clients_[peer.value];
        const Path path{object->net_id(), component, collection};
        if (const auto found = client.by_path.find(path); found != client.by_path.end()) {
            found->second->is_wanted = true;
        } else if (client.orders.size() < orders_of_client_max) {
            client.orders.push_back({path, parts_.now});
            client.by_path.emplace(path, std::prev(client.orders.end()));
        }
    }
}

void NetworkServer::PartSender::send() {
    for (auto& [peer, client] : clients_) {
        send_to(PeerId{peer}, client);
    }
    std::erase_if(clients_, [](const auto& entry) { return entry.second.orders.empty(); });
}

bool NetworkServer::PartSender::has_calls_under_way(PeerId peer) const {
    const NetworkConnection* const connection = parts_.connections.find(peer);
    return connection != nullptr && !connection->is_host() &&
           parts_.driver.call_progress(peer, detail::Inside::of(*connection->channel_).server.id) !=
               CallProgress::Arrived;
}

void NetworkServer::PartSender::send_to(PeerId peer, ClientOrders& client) {
    if (!has_calls_under_way(peer)) {
        client.parts_under_way = 0;
    }
    if (client.parts_under_way >= parts_under_way_max) {
        return;
    }
    bool is_sent = false;
    for (auto order = client.orders.begin(); !is_sent && order != client.orders.end();) {
        if (send(peer, *order, is_sent)) {
            ++order;
        } else {
            client.by_path.erase(order->path);
            order = client.orders.erase(order);
        }
    }
    client.parts_under_way += is_sent ? 1u : 0u;
}

bool NetworkServer::PartSender::send(PeerId peer, Order& order, bool& is_sent) {
    NetworkConnection* connection = parts_.connections.find(peer);
    NetworkIdentity* object = parts_.objects.find(order.path.net_id);
    if (connection == nullptr || connection->is_host() || object == nullptr) {
        return false;
    }
    const NetworkPrefab::Component& entry = object->prefab().components()[order.path.component];
    const bool may_see =
        parts_.driver.is_relevant_for(peer, detail::Inside::of(*object).server.id) &&
        (entry.settings.sync_mode != SyncMode::Owner || object->connection_to_client() == peer);
    if (order.is_under_way) {
        if (has_calls_under_way(peer)) {
            return true;
        }
        order.is_under_way = false;
        order.due = parts_.now.plus_milliseconds(pause_ms);
    }
    if (parts_.now < order.due) {
        return true;
    }
    if (!may_see || (order.parts.empty() && !order.is_wanted)) {
        return false;
    }
    const FunctionIndex function = entry.collections[order.path.collection].changes;
    const detail::ObjectComponent& component =
        detail::Inside::of(*object->components()[order.path.component]);
    detail::CollectionEnd& collection = component.collection(order.path.collection);
    if (!order.is_packed &&
        !pack(order, collection,
              *object->prefab().layout().functions()[function.value].parameters)) {
        component.log_line(
            LogLevel::Error,
            "collection " + collection.name() +
                " cannot be sent in parts: an item cannot be written, or is larger than a call");
        return false;
    }
    detail::CollectionPart part;
    part.path = {object, order.path.component, order.path.collection};
    part.operations.bytes = order.parts.front();
    part.is_last = order.parts.size() == 1;
    is_sent = true;
    switch (Connections::call(*connection, "collection_part", &part)) {
        case CallResult::Full:
        case CallResult::NoChannel:
            return true;
        case CallResult::Sent:
            break;
        default:
            return false;  // It was logged.
    }
    order.parts.pop_front();
    if (order.parts.empty()) {
        order.is_packed = false;
        order.is_under_way = true;
    }
    return true;
}

bool NetworkServer::PartSender::pack(Order& order, detail::CollectionEnd& collection,
                                     const RepLayout& changes) {
    order.parts.clear();
    const auto keep = [&](const void* params) {
        order.parts.push_back(
            write_parameter_bytes(changes, params, detail::PartBytes::bytes_max, parts_.resource));
        return order.parts.back().empty() ? CallResult::TooLarge : CallResult::Sent;
    };
    collection.pack(keep, part_bytes_max_);
    order.is_packed = true;
    order.is_wanted = false;
    return std::none_of(order.parts.begin(), order.parts.end(),
                        [](const std::vector<std::byte>& part) { return part.empty(); });
}

}  // namespace replayout
