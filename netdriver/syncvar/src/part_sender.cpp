// SPDX-License-Identifier: MIT
#include "part_sender.h"

#include "connection_channel.h"

#include <replayout/parameter_bytes.h>
#include <replayout/syncvar/network_behaviour.h>
#include <replayout/syncvar/sync_collection.h>

#include <algorithm>
#include <utility>

namespace replayout::syncvar {

namespace {

/// Keeps the parameters of calls as bytes.
class PackedCall final : public detail::CollectionCall {
  public:
    PackedCall(const RepLayout& changes, MemoryResource* resource,
               std::deque<std::vector<std::byte>>& parts)
        : changes_(changes), resource_(resource), parts_(parts) {}

    [[nodiscard]] CallResult run(const void* params) const override {
        parts_.push_back(
            write_parameter_bytes(changes_, params, detail::PartBytes::bytes_max, resource_));
        return parts_.back().empty() ? CallResult::TooLarge : CallResult::Sent;
    }

  private:
    const RepLayout& changes_;
    MemoryResource* resource_;
    std::deque<std::vector<std::byte>>& parts_;
};

}  // namespace

NetworkServer::PartSender::PartSender(NetworkServer& server, const NetConfig& config)
    : server_(server) {
    constexpr std::size_t part_max = 8 * 1024;
    constexpr std::size_t in_packet = 1'024;  // A call that small needs no parts of its own.
    const std::size_t call = std::max<std::size_t>(config.call_bytes_max, in_packet);
    whole_bytes_max_ = std::min<std::size_t>(config.bunch_bytes_max, call) / 4 * 3;
    part_bytes_max_ = std::min(part_max, call / 2);
}

void NetworkServer::PartSender::wanted(PeerId peer, const detail::CollectionsWanted& wanted) {
    if (wanted.places.size() > detail::CollectionsWanted::places_max) {
        return;
    }
    for (const auto& [object, component, collection] : wanted.places) {
        const bool is_there =
            object != nullptr && object->is_spawned() && component < object->components().size() &&
            collection < object->components()[component]->type_->collections.size();
        if (!is_there) {
            continue;  // It ended meanwhile.
        }
        const auto is_same = [&, c = component, i = collection,
                              id = object->net_id()](const Order& order) {
            return order.peer == peer && order.net_id == id && order.component == c &&
                   order.collection == i;
        };
        const auto found = std::find_if(orders_.begin(), orders_.end(), is_same);
        const auto of_client = std::count_if(orders_.begin(), orders_.end(),
                                             [&](const Order& one) { return one.peer == peer; });
        if (found != orders_.end()) {
            found->is_wanted = true;
        } else if (static_cast<std::size_t>(of_client) < orders_of_client_max) {
            orders_.push_back({peer, object->net_id(), component, collection, server_.now(), {}});
        }
    }
}

void NetworkServer::PartSender::send() {
    served_.clear();
    std::erase_if(orders_, [&](Order& order) {
        const bool is_served =
            std::find(served_.begin(), served_.end(), order.peer) != served_.end();
        bool is_sent = is_served;
        const bool is_over = !is_served && !send(order, is_sent);
        if (is_sent && !is_served) {
            served_.push_back(order.peer);
        }
        return is_over;
    });
}

bool NetworkServer::PartSender::send(Order& order, bool& is_sent) {
    NetworkConnection* connection = server_.find_connection(order.peer);
    NetworkIdentity* object = server_.find(order.net_id);
    if (connection == nullptr || connection->is_host() || object == nullptr) {
        return false;
    }
    const NetworkPrefab::Component& placed = object->prefab().components()[order.component];
    const bool may_see =
        server_.driver_.is_relevant_for(order.peer, object->object_) &&
        (placed.settings.sync_mode != SyncMode::Owner || object->owner_ == order.peer);
    if (server_.now() < order.due) {
        return true;
    }
    if (!may_see || (order.parts.empty() && !order.is_wanted)) {
        return false;
    }
    const FunctionIndex function = placed.collections[order.collection].changes;
    SyncCollection& collection =
        object->components()[order.component]->collection(order.collection);
    if (!order.is_packed &&
        !pack(order, collection,
              *object->prefab().layout().functions()[function.value].parameters)) {
        object->components()[order.component]->log_line(
            LogLevel::Error,
            "collection " + object->components()[order.component]->name_of(collection) +
                " cannot be sent in parts: an item cannot be written, or is larger than a call");
        return false;
    }
    detail::CollectionPart part;
    part.place = {object, order.component, order.collection};
    part.operations.bytes = order.parts.front();
    part.is_last = order.parts.size() == 1;
    is_sent = true;
    switch (server_.call(*connection, "collection_part", &part)) {
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
        order.due = server_.now().plus_milliseconds(pause_ms);
    }
    return true;
}

bool NetworkServer::PartSender::pack(Order& order, SyncCollection& collection,
                                     const RepLayout& changes) {
    order.parts.clear();
    collection.pack(PackedCall(changes, server_.resource_, order.parts), part_bytes_max_);
    order.is_packed = true;
    order.is_wanted = false;
    return std::none_of(order.parts.begin(), order.parts.end(),
                        [](const std::vector<std::byte>& part) { return part.empty(); });
}

void NetworkServer::PartSender::client_left(PeerId peer) {
    std::erase_if(orders_, [&](const Order& order) { return order.peer == peer; });
}

}  // namespace replayout::syncvar
