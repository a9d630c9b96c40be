// SPDX-License-Identifier: MIT
#include "server_connections.h"

#include <utility>

namespace replayout {

NetworkConnection* NetworkServer::Connections::find(PeerId peer) const noexcept {
    const auto found = by_peer_.find(peer);
    return found == by_peer_.end() ? nullptr : found->second.get();
}

NetworkConnection* NetworkServer::Connections::owner_of(
    const NetworkIdentity& object) const noexcept {
    const PeerId owner = object.connection_to_client();
    return owner.value == 0 ? nullptr : find(owner);
}

NetworkConnection& NetworkServer::Connections::none() {
    if (none_ == nullptr) {
        none_ = std::make_unique<NetworkConnection>(PeerId{});
    }
    return *none_;
}

NetworkConnection& NetworkServer::Connections::make(PeerId peer) {
    end(peer);
    auto made = std::make_unique<NetworkConnection>(peer);
    NetworkConnection& connection = *made;
    by_peer_.emplace(peer, std::move(made));
    owned_.insert(&connection);
    return connection;
}

void NetworkServer::Connections::end(PeerId peer) {
    if (const auto found = by_peer_.find(peer); found != by_peer_.end()) {
        owned_.erase(found->second.get());
        ended_.push_back(std::move(found->second));
        by_peer_.erase(found);
    }
}

CallResult NetworkServer::Connections::call(NetworkConnection& connection,
                                            std::string_view function, CallArguments params) {
    return connection.channel_->components().front()->call(function, params);
}

}  // namespace replayout
