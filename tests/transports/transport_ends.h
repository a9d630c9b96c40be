// SPDX-License-Identifier: MIT
//
// One server's end and any number of clients' ends of each transport that was built, alike, for the
// conformance suite.
#pragma once

#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/simulated_network.h>
#include <replayout/netdriver/transport.h>
#if REPLAYOUT_TESTS_HAVE_ENET
#include <replayout/transports/enet_transport.h>
#endif
#if REPLAYOUT_TESTS_HAVE_UDP
#include <replayout/transports/udp_transport.h>
#endif
#if REPLAYOUT_TESTS_HAVE_WEBSOCKET
#include <replayout/transports/websocket_transport.h>
#endif
#define REPLAYOUT_TESTS_HAVE_SOCKETS \
    (REPLAYOUT_TESTS_HAVE_UDP || REPLAYOUT_TESTS_HAVE_ENET || REPLAYOUT_TESTS_HAVE_WEBSOCKET)

#include <memory>
#include <memory_resource>
#include <string>
#include <utility>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"

namespace replayout::test {

/// What the suite asks of each of them.
///
///     add_client()     another client; returns its index
///     connect_all()    until datagrams of all clients go through
///     advance()        a millisecond of the clock, and what is done once a tick
///     begin_at(time)   before the first advance(): where the clock begins
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
    void begin_at(NetTime) {}
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
    SimulatedEnds() : server_(&network_.endpoint(PeerId{1})) {}

    std::size_t add_client() {
        clients_.push_back(&network_.endpoint(PeerId{clients_.size() + 2}));
        return clients_.size() - 1;
    }
    void connect_all() {}
    void advance() {
        now_ = now_.plus_milliseconds(1);
        network_.advance(now_);
    }
    void begin_at(NetTime time) { now_ = time; }
    [[nodiscard]] Transport& server() { return *server_; }
    [[nodiscard]] Transport& client(std::size_t index) { return *clients_[index]; }
    [[nodiscard]] PeerId server_peer(std::size_t) const { return PeerId{1}; }

  private:
    SimulatedNetwork network_{{{}, 1'200, 1u << 15}, 1, std::pmr::get_default_resource()};
    Transport* server_;
    NetTime now_;
    std::vector<Transport*> clients_;
};

/// The next datagram, after some ticks if need be; false: none came.
template <typename Ends>
bool receive_soon(Ends& ends, Transport& transport, PeerId& from, Bytes& datagram) {
    for (int i = 0; i < 200; ++i) {
        Bytes buffer(2'048);
        const std::size_t size = transport.receive(from, buffer);
        if (size != Transport::nothing_received) {
            buffer.resize(size);
            datagram = buffer;
            return true;
        }
        ends.advance();
    }
    return false;
}

#if REPLAYOUT_TESTS_HAVE_SOCKETS
/// Over sockets of this machine. `Maker` has listen() and connect(address).
template <typename Maker>
class SocketEnds {
  public:
    SocketEnds() : server_(Maker::listen()) {}

    std::size_t add_client() {
        clients_.push_back(Maker::connect(server_->local_address()));
        return clients_.size() - 1;
    }
    void connect_all() {
        std::byte buffer[1'300];
        PeerId peer;
        for (int i = 0; i < 5'000; ++i) {
            advance();
            CHECK(server_->receive(peer, buffer) == Transport::nothing_received);
            bool is_done = true;
            for (const auto& client : clients_) {
                CHECK(client->receive(peer, buffer) == Transport::nothing_received);
                is_done = is_done && client->is_connected();
            }
            CHECK_FALSE(server_->is_connected());  // to a server of its own
            if (is_done && server_->peer_count() == clients_.size()) {
                for (const auto& client : clients_) {
                    CHECK(client->peer_count() == 1);
                }
                return;
            }
        }
        FAIL("they are not connected");
    }
    void advance() {
        now_ = now_.plus_milliseconds(1);
        server_->flush();
        for (const auto& client : clients_) {
            client->flush();
            client->tick(now_);
        }
        server_->tick(now_);
    }
    void begin_at(NetTime time) { now_ = time; }
    [[nodiscard]] auto& server() { return *server_; }
    [[nodiscard]] auto& client(std::size_t index) { return *clients_[index]; }
    [[nodiscard]] PeerId server_peer(std::size_t index) const { return clients_[index]->server(); }

  private:
    using Made = decltype(Maker::listen());

    NetTime now_;
    Made server_;
    std::vector<Made> clients_;
};

/// The transport of a Result that must be one.
template <typename Made>
[[nodiscard]] auto required(Made made) {
    REQUIRE(made.has_value());
    return std::move(*made);
}

/// Addresses that are none, one that another socket has, and one that is no machine's are refused
/// with a sentence, which begins with how this transport is called.
template <typename SomeTransport>
void check_addresses_refused(const std::string& name) {
    const auto server = required(SomeTransport::listen("127.0.0.1:0"));
    const std::string addresses[] = {"",
                                     "127.0.0.1",
                                     "127.0.0.1:",
                                     "127.0.0.1:65536",
                                     "host:7",
                                     "[::1:7",
                                     server->local_address(),
                                     "192.0.2.1:0"};
    for (const std::string& address : addresses) {
        CAPTURE(address);
        const auto made = SomeTransport::listen(address);
        REQUIRE_FALSE(made.has_value());
        CHECK(made.error().code == ErrorCode::InvalidArgument);
        CHECK(made.error().message.find(name + " address \"" + address + "\": ") == 0);
    }
    CHECK_FALSE(SomeTransport::connect("1.2.3.4").has_value());
}
#endif

#if REPLAYOUT_TESTS_HAVE_UDP
template <bool IsV6>
struct UdpMaker {
    [[nodiscard]] static auto listen() {
        return required(UdpTransport::listen(IsV6 ? "[::1]:0" : "127.0.0.1:0"));
    }
    [[nodiscard]] static auto connect(const std::string& address) {
        return required(UdpTransport::connect(address));
    }
};
using UdpEnds = SocketEnds<UdpMaker<false>>;
using UdpV6Ends = SocketEnds<UdpMaker<true>>;
#define REPLAYOUT_UDP_ENDS , UdpEnds, UdpV6Ends
#else
#define REPLAYOUT_UDP_ENDS
#endif

#if REPLAYOUT_TESTS_HAVE_ENET
struct EnetMaker {
    [[nodiscard]] static auto listen() { return required(EnetTransport::listen("127.0.0.1:0")); }
    [[nodiscard]] static auto connect(const std::string& address) {
        return required(EnetTransport::connect(address));
    }
};
using EnetEnds = SocketEnds<EnetMaker>;
#define REPLAYOUT_ENET_ENDS , EnetEnds
#else
#define REPLAYOUT_ENET_ENDS
#endif

#if REPLAYOUT_TESTS_HAVE_WEBSOCKET
struct WebSocketMaker {
    [[nodiscard]] static auto listen() {
        return required(WebSocketTransport::listen("127.0.0.1:0"));
    }
    [[nodiscard]] static auto connect(const std::string& address) {
        return required(WebSocketTransport::connect(address));
    }
};
using WebSocketEnds = SocketEnds<WebSocketMaker>;
#define REPLAYOUT_WEBSOCKET_ENDS , WebSocketEnds
#else
#define REPLAYOUT_WEBSOCKET_ENDS
#endif

}  // namespace replayout::test

#define REPLAYOUT_ALL_ENDS \
    LoopbackEnds, SimulatedEnds REPLAYOUT_UDP_ENDS REPLAYOUT_ENET_ENDS REPLAYOUT_WEBSOCKET_ENDS
