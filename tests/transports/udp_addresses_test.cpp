// SPDX-License-Identifier: MIT
//
// The UDP transport: a server that listens on all addresses of its host answers from the address
// that it was asked at.
#include <replayout/netdriver/net_driver.h>
#include <replayout/transports/udp_transport.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "support/checks/catch.h"
#include "support/worlds/test_world.h"
#include "transports/stranger.h"
#include "transports/transport_ends.h"

namespace replayout::test {
namespace {

#if defined(__linux__)  // answers to all of 127.0.0.0/8
constexpr std::string_view hosts[] = {"127.0.0.1", "127.0.0.2", "127.254.3.4"};
#else
constexpr std::string_view hosts[] = {"127.0.0.1"};
#endif

/// Nothing: the machine has no such addresses.
[[nodiscard]] std::unique_ptr<UdpTransport> listen_at(const std::string& address) {
    auto made = UdpTransport::listen(address);
    if (!made.has_value()) {
        WARN(made.error().message);
        return nullptr;
    }
    return std::move(*made);
}

/// With the port of the server.
[[nodiscard]] std::string at_host(std::string_view host, const UdpTransport& server) {
    const std::string address = server.local_address();
    return std::string(host) + address.substr(address.rfind(':'));
}

/// A driver over a transport of its own.
class Side {
  public:
    Side(UdpTransport& transport, std::uint64_t first_handle)
        : transport_(transport), world_(first_handle), driver({}, transport, world_) {}

    void tick(NetTime now) {
        transport_.tick(now);
        driver.tick_dispatch(now);
        driver.tick_flush(now);
        transport_.flush();
    }

  private:
    UdpTransport& transport_;
    TestWorld world_;

  public:
    NetDriver driver;
};

/// Whether a client of this address joins the server.
[[nodiscard]] bool joins(UdpTransport& server_transport, const std::string& address) {
    CAPTURE(address);
    auto client_transport = required(UdpTransport::connect(address));
    Side server(server_transport, 1);
    Side client(*client_transport, 1'000'000);
    REQUIRE(server.driver.listen().has_value());
    NetTime now;
    REQUIRE(client.driver.connect(client_transport->server(), now).has_value());
    for (int i = 0; i < 2'000 && client.driver.state() != ConnectionState::Joined; ++i) {
        now = now.plus_milliseconds(1);
        client.tick(now);
        server.tick(now);
    }
    return client.driver.state() == ConnectionState::Joined;
}

TEST_CASE("UdpTransport: a client joins a server on all addresses over any of them",
          "[transport][udp]") {
    for (const std::string_view host : hosts) {
        CAPTURE(host);
        const auto v4 = listen_at("0.0.0.0:0");
        REQUIRE(v4 != nullptr);
        CHECK(joins(*v4, at_host(host, *v4)));
    }
}

TEST_CASE("UdpTransport: a client joins a server on all addresses of IPv6 over any of them",
          "[transport][udp]") {
    for (const std::string_view host : hosts) {
        CAPTURE(host);
        const auto both = listen_at("[::]:0");
        if (both == nullptr) {
            return;
        }
        CHECK(joins(*both, at_host(host, *both)));
        const std::string mapped = "[::ffff:" + std::string(host) + "]";
        const auto again = listen_at("[::]:0");
        CHECK(joins(*again, at_host(mapped, *again)));
        const auto v4_alone = listen_at("[::ffff:0.0.0.0]:0");
        CHECK(joins(*v4_alone, at_host(host, *v4_alone)));
    }
    const auto v6 = listen_at("[::]:0");
    CHECK(joins(*v6, at_host("[::1]", *v6)));
}

#if defined(__linux__)
/// A server on all addresses, whatever is sent to it.
class OpenServer {
  public:
    explicit OpenServer(const std::string& address) : transport(listen_at(address)) {}

    /// How many datagrams its driver is given.
    std::size_t pump() {
        now = now.plus_milliseconds(1);
        transport->tick(now);
        return receive_all(*transport);
    }
    [[nodiscard]] Bytes join(Stranger& stranger, std::uint64_t client) {
        return token_of(stranger.ask_twice(client, [&] { CHECK(pump() == 0); }));
    }
    /// From where a datagram to this peer arrives.
    [[nodiscard]] std::string sender_to(Stranger& stranger, PeerId peer) {
        transport->send(peer, Bytes(1));
        CHECK(stranger.receive().size() == 10);
        return stranger.answered_from();
    }

    std::unique_ptr<UdpTransport> transport;
    NetTime now;
};

TEST_CASE("UdpTransport: each peer is answered from the address that it sends to",
          "[transport][udp]") {
    for (const char* address : {"0.0.0.0:0", "[::]:0"}) {
        CAPTURE(address);
        OpenServer server(address);
        if (server.transport == nullptr) {
            continue;
        }
        Stranger first(server.transport->local_address());
        Stranger second(server.transport->local_address());
        first.turn_to("127.0.0.2");
        second.turn_to("127.0.0.3");
        const Bytes token = server.join(first, 1);
        CHECK(first.answered_from() == "127.0.0.2");
        (void)server.join(second, 2);
        CHECK(second.answered_from() == "127.0.0.3");
        CHECK(server.sender_to(first, PeerId{1}) == "127.0.0.2");
        CHECK(server.sender_to(second, PeerId{2}) == "127.0.0.3");
        // Only with its token can a peer turn to another address.
        first.turn_to("127.0.0.4");
        first.send(data_of(Bytes(8), 1));
        first.send(Stranger::request(1, {}));
        CHECK(server.pump() == 0);
        CHECK(first.receive().size() == 17);
        CHECK(first.answered_from() == "127.0.0.4");
        CHECK(server.sender_to(first, PeerId{1}) == "127.0.0.2");
        first.send(data_of(token, 1));
        CHECK(server.pump() == 1);
        CHECK(server.sender_to(first, PeerId{1}) == "127.0.0.4");
        first.turn_to("127.0.0.5");
        (void)server.join(first, 1);
        CHECK(first.answered_from() == "127.0.0.5");
        CHECK(server.sender_to(first, PeerId{1}) == "127.0.0.5");
        first.send({});  // is no end of what waits
        first.send(data_of(token, 1));
        CHECK(server.pump() == 1);
        CHECK(server.transport->peer_count() == 2);
        CHECK(server.transport->stats().dropped_malformed == 1);
        CHECK(server.transport->stats().send_errors == 0);
    }
}
#endif

}  // namespace
}  // namespace replayout::test
