// SPDX-License-Identifier: MIT
//
// One server's end and any number of clients' ends of each transport that was built, alike, for the
// conformance suite.
#pragma once

#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/simulated_network.h>
#include <replayout/netdriver/transport.h>
#if REPLAYOUT_TESTS_HAVE_UDP
#include <replayout/transports/udp_transport.h>
#endif

#include <memory>
#include <memory_resource>
#include <string>
#include <vector>

#include "support/catch.h"

namespace replayout::test {

/// What the suite asks of each of them.
///
///     add_client()     another client; returns its index
///     connect_all()    until datagrams of all clients go through
///     advance()        a millisecond of the clock, and what is done once a tick
///     server_peer(i)   who the server is to that client
class LoopbackEnds {
  public:
    LoopbackEnds() : server_(&network_.endpoint(PeerId{1})) {}
    std::size_t add_client() {
        clients_.push_back(&network_.endpoint(PeerId{clients_.size() + 2}));
        return clients_.size() - 1;
    }
    void connect_all() {}
    void advance() {}
    [[nodiscard]] Transport& server() { return *server_; }
    [[nodiscard]] Transport& client(std::size_t index) { return *clients_[index]; }
    [[nodiscard]] PeerId server_peer(std::size_t) const { return PeerId{1}; }

  private:
    LoopbackNetwork network_{{1'200, 1u << 15}, std::pmr::get_default_resource()};
    Transport* server_;
    std::vector<Transport*> clients_;
};

class SimulatedEnds {
  public:
    std::size_t add_client() {
        clients_.push_back(&network_.endpoint(PeerId{clients_.size() + 2}));
        return clients_.size() - 1;
    }
    void connect_all() {}
    void advance() {
        now_ = now_.plus_milliseconds(1);
        network_.advance(now_);
    }
    [[nodiscard]] Transport& server() { return network_.endpoint(PeerId{1}); }
    [[nodiscard]] Transport& client(std::size_t index) { return *clients_[index]; }
    [[nodiscard]] PeerId server_peer(std::size_t) const { return PeerId{1}; }

  private:
    SimulatedNetwork network_{{{}, 1'200, 1u << 15}, 1, std::pmr::get_default_resource()};
    NetTime now_;
    std::vector<Transport*> clients_;
};

#if REPLAYOUT_TESTS_HAVE_UDP
template <bool IsV6>
class UdpEnds {
  public:
    UdpEnds() {
        auto server = UdpTransport::listen(IsV6 ? "[::1]:0" : "127.0.0.1:0");
        REQUIRE(server.has_value());
        server_ = std::move(*server);
    }
    std::size_t add_client() {
        auto client = UdpTransport::connect(server_->local_address());
        REQUIRE(client.has_value());
        clients_.push_back(std::move(*client));
        return clients_.size() - 1;
    }
    void connect_all() {
        std::byte buffer[1'300];
        PeerId peer;
        for (int i = 0; i < 1'000; ++i) {
            advance();
            CHECK(server_->receive(peer, buffer) == Transport::nothing_received);
            bool is_done = true;
            for (const auto& client : clients_) {
                CHECK(client->receive(peer, buffer) == Transport::nothing_received);
                is_done = is_done && client->is_welcome();
            }
            if (is_done) {
                return;
            }
        }
        FAIL("they are not welcome");
    }
    void advance() {
        now_ = now_.plus_milliseconds(1);
        server_->tick(now_);
        for (const auto& client : clients_) {
            client->tick(now_);
        }
    }
    [[nodiscard]] UdpTransport& server() { return *server_; }
    [[nodiscard]] UdpTransport& client(std::size_t index) { return *clients_[index]; }
    [[nodiscard]] PeerId server_peer(std::size_t index) const { return clients_[index]->server(); }

  private:
    NetTime now_;
    std::unique_ptr<UdpTransport> server_;
    std::vector<std::unique_ptr<UdpTransport>> clients_;
};
#define REPLAYOUT_UDP_ENDS , UdpEnds<false>, UdpEnds<true>
#else
#define REPLAYOUT_UDP_ENDS
#endif

}  // namespace replayout::test

#define REPLAYOUT_ALL_ENDS LoopbackEnds, SimulatedEnds REPLAYOUT_UDP_ENDS
