// SPDX-License-Identifier: MIT
#include "server_clients.h"

#include <algorithm>
#include <memory>
#include <new>

namespace replayout {

ServerClients::ServerClients(const ServerEnvironment& environment, ServerObjects& objects,
                             ServerLanes& lanes, InterestManager& interest, ServerLog& log)
    : environment_(environment),
      objects_(objects),
      lanes_(lanes),
      interest_(interest),
      log_(log),
      host_(interest, environment.memory),
      type_counters_(Allocator<TypeCounters>(&environment.memory.layout_table)),
      waiting_pool_(environment.settings.config.clients_waiting_bytes_max),
      clients_(Allocator<ServerClient*>(&environment.memory.connections)),
      by_peer_(&environment.memory.connections),
      replaced_(Allocator<ReplacedPeer>(&environment.memory.connections)) {
    if (environment.settings.is_counting_types) {
        const LayoutTable& layouts = environment.layouts;
        type_counters_.reserve(layouts.count());
        for (std::uint32_t number = 0; number < layouts.count(); ++number) {
            type_counters_.emplace_back(*layouts.find(number), &environment.memory.layout_table);
        }
    }
}

ServerClients::~ServerClients() {
    end_all();
}

void ServerClients::end_all() noexcept {
    for (ServerClient* client : clients_) {
        destroy(client);
    }
    clients_.clear();
    by_peer_.clear();
}

ServerClient* ServerClients::find(PeerId peer) const {
    const auto found = by_peer_.find(peer.value);
    return found == by_peer_.end() ? nullptr : found->second;
}

ServerClient* ServerClients::find_sender(PeerId peer) {
    ServerClient* client = next_sender_ < clients_.size() ? clients_[next_sender_] : nullptr;
    if (client == nullptr || client->connection.peer() != peer || !client->is_addressed) {
        client = find(peer);
    }
    REPLAYOUT_ASSERT(client == find(peer));
    if (client != nullptr) {
        next_sender_ = client->number + 1 < clients_.size() ? client->number + 1 : 0;
    }
    return client;
}

ServerClient* ServerClients::find_joined(PeerId peer) const {
    ServerClient* const client = find(peer);
    return client != nullptr && client->is_joined() ? client : nullptr;
}

ClientInterest* ServerClients::find_interest(PeerId peer) {
    ClientInterest* const hosts = host_.find_interest();
    if (hosts != nullptr && hosts->peer == peer) {
        return hosts;
    }
    ServerClient* const client = find_joined(peer);
    return client == nullptr ? nullptr : &client->interest;
}

std::uint32_t ServerClients::joined_count() const noexcept {
    return static_cast<std::uint32_t>(std::count_if(
        clients_.begin(), clients_.end(),
        [](const ServerClient* client) { return client->is_joined() && !client->is_replay; }));
}

ServerClient& ServerClients::make(const PacketStream::Settings& settings, NetTime now,
                                  Transport* tap) {
    void* memory =
        environment_.memory.connections.allocate(sizeof(ServerClient), alignof(ServerClient));
    ServerLane& lane = lanes_.emptiest();
    ++lane.client_count;
    const ServerClient::Shared shared{environment_, objects_, type_counters(), waiting_pool_, log_};
    auto* client = ::new (memory) ServerClient(shared, settings, lane, now, tap);
    clients_.push_back(client);
    number_clients(clients_.size() - 1);
    return *client;
}

ServerClient& ServerClients::add(const PacketStream::Settings& settings, NetTime now) {
    ServerClient& client = make(settings, now, nullptr);
    client.is_addressed = by_peer_.emplace(settings.peer.value, &client).second;
    REPLAYOUT_ASSERT(client.is_addressed);
    return client;
}

ServerClient& ServerClients::add_recording(const PacketStream::Settings& settings, NetTime now,
                                           Transport& tap) {
    return make(settings, now, &tap);
}

void ServerClients::end(ServerClient& client) noexcept {
    forget_address(client);
    const std::uint32_t number = client.number;
    clients_.erase(clients_.begin() + number);
    number_clients(number);
    destroy(&client);
}

void ServerClients::end_replaced(ServerClient& client) {
    if (client.is_told_of) {
        replaced_.push_back({client.connection.peer(), client.connection.close_reason()});
    }
    end(client);
}

void ServerClients::forget_address(ServerClient& client) noexcept {
    if (client.is_addressed) {
        by_peer_.erase(client.connection.peer().value);
        client.is_addressed = false;
    }
}

void ServerClients::number_clients(std::size_t begin) noexcept {
    for (std::size_t i = begin; i < clients_.size(); ++i) {
        clients_[i]->number = static_cast<std::uint32_t>(i);
    }
}

void ServerClients::destroy(ServerClient* client) noexcept {
    interest_.remove_client(client->interest);
    --client->lane.client_count;
    std::destroy_at(client);
    environment_.memory.connections.deallocate(client, sizeof(ServerClient), alignof(ServerClient));
}

void ServerClients::tell_world() {
    NetWorld& world = environment_.world;
    host_.tell(world);
    for (const ReplacedPeer& replaced : replaced_) {
        world.peer_left(replaced.peer, replaced.reason);
    }
    replaced_.clear();
    for (ServerClient* client : clients_) {
        const NetConnection& connection = client->connection;
        if (client->is_replay || client->is_joined() == client->is_told_of) {
            continue;
        }
        client->is_told_of = client->is_joined();
        if (client->is_told_of) {
            world.peer_joined(connection.peer());
        } else {
            world.peer_left(connection.peer(), connection.close_reason());
        }
    }
}

void ServerClients::set_host(PeerId host) {
    REPLAYOUT_EXPECT(!host_.peer().has_value() || host_.is(host), void(),
                     "set_host: peer %llu is the host already: call clear_host() before",
                     static_cast<unsigned long long>(host_.peer()->value));
    REPLAYOUT_EXPECT(find_joined(host) == nullptr, void(),
                     "set_host: peer %llu is a client: give the host an id of its own",
                     static_cast<unsigned long long>(host.value));
    host_.set(host);
}

void ServerClients::disconnect(PeerId peer, NetTime now) {
    if (ServerClient* const client = find(peer)) {
        client->connection.close(CloseReason::Requested, now);
    }
}

void ServerClients::set_bytes_per_second_max(PeerId peer, std::uint32_t bytes) {
    if (ServerClient* const client = find(peer)) {
        client->connection.packets().bandwidth().set_bytes_per_second_max(bytes);
    }
}

const NetConnection* ServerClients::find_connection(PeerId peer) const noexcept {
    const ServerClient* const client = find(peer);
    return client == nullptr ? nullptr : &client->connection;
}

std::optional<ConnectionShadow> ServerClients::connection_shadow(PeerId peer,
                                                                 NetObjectId id) const {
    const ServerClient* const client = find_joined(peer);
    return client == nullptr ? std::nullopt : client->sender.pairs().connection_shadow(slot_of(id));
}

}  // namespace replayout
