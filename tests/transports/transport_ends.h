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

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"

namespace replayout::test {

/// What the suite asks of each of them.
///
///     add_client()     another client; returns its index
///     connect_all()    until datagrams of all clients go through
///     advance()        a millisecond of the clock, or more, and what is done once a tick
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

/// So many clients, whose datagrams go through.
template <typename Ends>
void connect_clients(Ends& ends, int count = 1) {
    for (; count > 0; --count) {
        ends.add_client();
    }
    ends.connect_all();
}

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

/// The size of the next datagram; nothing_received: there is none.
inline std::size_t receive_one(Transport& transport) {
    PeerId peer;
    Bytes buffer(2'048);
    return transport.receive(peer, buffer);
}

/// How many datagrams there were.
inline std::size_t receive_all(Transport& transport) {
    std::size_t count = 0;
    while (receive_one(transport) != Transport::nothing_received) {
        ++count;
    }
    return count;
}

/// The server still hears the first client.
template <typename Ends>
void check_heard(Ends& ends) {
    ends.client(0).send(ends.server_peer(0), Bytes(10));
    PeerId peer;
    Bytes received;
    REQUIRE(receive_soon(ends, ends.server(), peer, received));
    CHECK(received.size() == 10);
}

#if REPLAYOUT_TESTS_HAVE_SOCKETS
/// The transport of a Result that must be one.
template <typename Made>
[[nodiscard]] auto required(Made made) {
    REQUIRE(made.has_value());
    return std::move(*made);
}

/// The settings of each transport, how its errors call it, and whether it takes addresses of IPv6.
template <typename SomeTransport>
struct SocketFacts;

/// Over sockets of this machine.
template <typename SomeTransport, bool IsV6 = false>
class SocketEnds {
  public:
    using Kind = SomeTransport;
    using Facts = SocketFacts<SomeTransport>;
    using Settings = typename Facts::Settings;

    /// `settings` are the server's.
    explicit SocketEnds(const Settings& settings = {})
        : server_(required(Kind::listen(IsV6 ? "[::1]:0" : "127.0.0.1:0", settings))) {}

    std::size_t add_client() {
        clients_.push_back(required(Kind::connect(server_->local_address())));
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
    void advance(std::int64_t milliseconds = 1) {
        now_ = now_.plus_milliseconds(milliseconds);
        server_->flush();
        for (const auto& client : clients_) {
            client->flush();
            client->tick(now_);
        }
        server_->tick(now_);
    }
    void begin_at(NetTime time) { now_ = time; }
    [[nodiscard]] Kind& server() { return *server_; }
    [[nodiscard]] Kind& client(std::size_t index) { return *clients_[index]; }
    [[nodiscard]] PeerId server_peer(std::size_t index) const { return clients_[index]->server(); }

  private:
    NetTime now_;
    std::unique_ptr<Kind> server_;
    std::vector<std::unique_ptr<Kind>> clients_;
};
#endif

#if REPLAYOUT_TESTS_HAVE_UDP
template <>
struct SocketFacts<UdpTransport> {
    using Settings = UdpSettings;
    static constexpr const char* name = "UDP";
    static constexpr bool has_v6 = true;
};
using UdpEnds = SocketEnds<UdpTransport>;
using UdpV6Ends = SocketEnds<UdpTransport, true>;
#define REPLAYOUT_UDP_ENDS , UdpEnds, UdpV6Ends
#else
#define REPLAYOUT_UDP_ENDS
#endif

#if REPLAYOUT_TESTS_HAVE_ENET
template <>
struct SocketFacts<EnetTransport> {
    using Settings = EnetSettings;
    static constexpr const char* name = "ENet";
    static constexpr bool has_v6 = false;
};
using EnetEnds = SocketEnds<EnetTransport>;
#define REPLAYOUT_ENET_ENDS , EnetEnds
#else
#define REPLAYOUT_ENET_ENDS
#endif

#if REPLAYOUT_TESTS_HAVE_WEBSOCKET
template <>
struct SocketFacts<WebSocketTransport> {
    using Settings = WebSocketSettings;
    static constexpr const char* name = "WebSocket";
    static constexpr bool has_v6 = true;
};
using WebSocketEnds = SocketEnds<WebSocketTransport>;
#define REPLAYOUT_WEBSOCKET_ENDS , WebSocketEnds
#else
#define REPLAYOUT_WEBSOCKET_ENDS
#endif

template <typename, typename... Others>
struct AllBut {
    using Type = std::tuple<Others...>;
};
using AllSocketEnds =
    AllBut<void REPLAYOUT_UDP_ENDS REPLAYOUT_ENET_ENDS REPLAYOUT_WEBSOCKET_ENDS>::Type;

}  // namespace replayout::test

#define REPLAYOUT_ALL_ENDS \
    LoopbackEnds, SimulatedEnds REPLAYOUT_UDP_ENDS REPLAYOUT_ENET_ENDS REPLAYOUT_WEBSOCKET_ENDS
