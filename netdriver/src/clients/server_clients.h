// SPDX-License-Identifier: MIT
//
// The clients of a server: found by peer, walked in the order in which they joined, ended. The
// client of a recording is one of them, without a peer.
#pragma once

#include <replayout/netdriver/close_reason.h>
#include <replayout/netdriver/time.h>
#include <replayout/netdriver/transport.h>
#include <replayout/reflection/memory.h>
#include <replayout/type_counters.h>

#include "interest_manager.h"
#include "reliable_account.h"
#include "server_client.h"
#include "server_environment.h"
#include "server_host.h"
#include "server_lane.h"
#include "server_log.h"
#include "server_objects.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

namespace replayout {

class ServerClients {
  public:
    ServerClients(const ServerEnvironment& environment, ServerObjects& objects, ServerLanes& lanes,
                  InterestManager& interest, ServerLog& log);
    ~ServerClients();
    ServerClients(const ServerClients&) = delete;
    ServerClients& operator=(const ServerClients&) = delete;

    // All of them, in the order in which they joined.

    [[nodiscard]] std::size_t size() const noexcept { return clients_.size(); }
    [[nodiscard]] ServerClient& operator[](std::size_t number) const noexcept {
        return *clients_[number];
    }
    [[nodiscard]] ServerClient* const* begin() const noexcept { return clients_.data(); }
    [[nodiscard]] ServerClient* const* end() const noexcept {
        return clients_.data() + clients_.size();
    }
    template <typename Visitor>
    void for_each_joined(Visitor visit) const {
        for (ServerClient* client : clients_) {
            if (client->is_joined()) {
                visit(*client);
            }
        }
    }
    /// Values of the object that a client no longer may see are no longer owed to it.
    void take_back_hidden_values(ObjectIndex index) {
        for_each_joined(
            [&](ServerClient& client) { client.sender.take_back_hidden_values(index); });
    }
    /// How many peers have joined.
    [[nodiscard]] std::uint32_t joined_count() const noexcept;

    // One of them. Null: there is none.

    [[nodiscard]] ServerClient* find(PeerId peer) const;
    /// The same for the peer that just sent something. Most often it is the client after the one
    /// that did so last, which is found without a look at the map.
    [[nodiscard]] ServerClient* find_sender(PeerId peer);
    /// Null also if it is about to leave.
    [[nodiscard]] ServerClient* find_joined(PeerId peer) const;
    /// What the client that has joined, or the host, sees.
    [[nodiscard]] ClientInterest* find_interest(PeerId peer);

    /// A new session of a peer, which has no client.
    ServerClient& add(const PacketStream::Settings& settings, NetTime now);
    /// The client of a recording, which sends by `tap`. It is no peer.
    ServerClient& add_recording(const PacketStream::Settings& settings, NetTime now,
                                Transport& tap);
    /// Ends the client at once, whatever its state.
    void end(ServerClient& client) noexcept;
    /// The peer began a new session: ends its client at once. The world hears of it later.
    void end_replaced(ServerClient& client);
    /// Ends all clients whose connections are closed, after a call of `ended(client)` for each.
    template <typename Visitor>
    void end_closed(Visitor ended) {
        std::size_t kept_count = 0;
        for (ServerClient* client : clients_) {
            if (is_closed(*client)) {
                ended(*client);
                forget_address(*client);
                destroy(client);
            } else {
                clients_[kept_count++] = client;
            }
        }
        if (kept_count < clients_.size()) {
            clients_.resize(kept_count);
            number_clients(0);
        }
    }
    /// Ends all, before what they use ends.
    void end_all() noexcept;
    /// Tells the world of peers that joined or left since the last call.
    void tell_world();

    [[nodiscard]] ServerHost& host() noexcept { return host_; }
    /// By layout number; empty: nobody counts.
    [[nodiscard]] std::span<TypeCounters> type_counters() noexcept {
        return {type_counters_.data(), type_counters_.size()};
    }
    [[nodiscard]] const TypeCounters* type_counters(std::uint32_t layout) const noexcept {
        return type_counters_.empty() ? nullptr : &type_counters_[layout];
    }

    // See NetDriver.
    void set_host(PeerId host);
    void disconnect(PeerId peer, NetTime now);
    void set_bytes_per_second_max(PeerId peer, std::uint32_t bytes);
    [[nodiscard]] const NetConnection* find_connection(PeerId peer) const noexcept;
    [[nodiscard]] std::optional<ConnectionShadow> connection_shadow(PeerId peer,
                                                                    NetObjectId id) const;

  private:
    /// A peer whose client was replaced, of which the world does not know yet.
    struct ReplacedPeer {
        PeerId peer;
        CloseReason reason = CloseReason::None;
    };

    [[nodiscard]] static bool is_closed(const ServerClient& client) noexcept {
        // That of a recording goes with it.
        return client.connection.state() == ConnectionState::Closed && !client.is_replay;
    }
    ServerClient& make(const PacketStream::Settings& settings, NetTime now, Transport* tap);
    void forget_address(ServerClient& client) noexcept;
    /// Tells the clients from `begin` on their numbers, which changed.
    void number_clients(std::size_t begin) noexcept;
    void destroy(ServerClient* client) noexcept;

    const ServerEnvironment& environment_;
    ServerObjects& objects_;
    ServerLanes& lanes_;
    InterestManager& interest_;
    ServerLog& log_;
    ServerHost host_;
    Vector<TypeCounters> type_counters_;  // by layout number; empty unless asked for
    WaitingPool waiting_pool_;            // of all clients, which do not outlive it
    Vector<ServerClient*> clients_;       // in the order in which they joined
    std::pmr::unordered_map<std::uint64_t, ServerClient*> by_peer_;  // looked up, never walked
    std::uint32_t next_sender_ = 0;  // number of the client that is likely to be heard next
    Vector<ReplacedPeer> replaced_;
};

}  // namespace replayout
