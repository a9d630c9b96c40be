// SPDX-License-Identifier: MIT
//
// The ENet transport: what others send in a peer's name. The client is one of ENet's own making, so
// that it can send from its address what no ENet would.
#include <replayout/transports/enet_transport.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include <enet/enet.h>

#include "support/catch.h"
#include "support/seeded_random.h"
#include "transports/stranger.h"
#include "transports/transport_ends.h"

namespace replayout::test {
namespace {

class OwnClient {
  public:
    OwnClient() : host_(enet_host_create(nullptr, 1, 1, 0, 0)) {
        REQUIRE(host_ != nullptr);
        host_->checksum = enet_crc32;
    }
    ~OwnClient() { enet_host_destroy(host_); }
    OwnClient(const OwnClient&) = delete;
    OwnClient& operator=(const OwnClient&) = delete;

    void connect(EnetTransport& server, NetTime& now) {
        const std::string address = server.local_address();
        enet_address_set_host_ip(&server_, "127.0.0.1");
        server_.port = static_cast<enet_uint16>(std::stoi(address.substr(address.rfind(':') + 1)));
        send(Stranger::request(7, {}));
        send(Stranger::request(7, cookie_of(answer(server, now))));
        (void)token_of(answer(server, now));
        peer_ = enet_host_connect(host_, &server_, 1, 0);
        ENetEvent event{};
        for (int i = 0; i < 10'000 && server.peer_count() == 0; ++i) {
            tick(server, now);
            (void)enet_host_service(host_, &event, 0);
        }
        REQUIRE(server.peer_count() == 1);
        (void)enet_host_service(host_, &event, 0);
    }

    /// The end of our connection, as whoever knows its number says it.
    [[nodiscard]] Bytes goodbye(enet_uint32 number) const {
        const auto head =
            static_cast<enet_uint16>(peer_->outgoingPeerID | peer_->outgoingSessionID << 12);
        std::array<std::byte, 14> bytes{};
        put(bytes, 0, ENET_HOST_TO_NET_16(head));
        put(bytes, 2, number);
        bytes[6] = std::byte{ENET_PROTOCOL_COMMAND_DISCONNECT};
        bytes[7] = std::byte{0xFF};
        ENetBuffer buffer{};
        buffer.data = bytes.data();
        buffer.dataLength = bytes.size();
        put(bytes, 2, enet_crc32(&buffer, 1));
        return {bytes.begin(), bytes.end()};
    }
    [[nodiscard]] enet_uint32 number() const { return peer_->connectID; }

    void send(Bytes bytes) {
        ENetBuffer buffer{};
        buffer.data = bytes.data();
        buffer.dataLength = bytes.size();
        REQUIRE(enet_socket_send(host_->socket, &server_, &buffer, 1) > 0);
    }
    static void tick(EnetTransport& server, NetTime& now) {
        now = now.plus_milliseconds(1);
        server.tick(now);
        server.flush();
    }

  private:
    template <typename Number>
    static void put(std::span<std::byte> bytes, std::size_t at, Number number) {
        std::memcpy(bytes.data() + at, &number, sizeof(number));
    }
    [[nodiscard]] Bytes answer(EnetTransport& server, NetTime& now) {
        Bytes bytes(2'048);
        ENetBuffer buffer{};
        buffer.data = bytes.data();
        buffer.dataLength = bytes.size();
        for (int i = 0; i < 10'000; ++i) {
            tick(server, now);
            ENetAddress from{};
            const int size = enet_socket_receive(host_->socket, &from, &buffer, 1);
            if (size > 0) {
                bytes.resize(static_cast<std::size_t>(size));
                return bytes;
            }
        }
        return {};
    }

    ENetHost* host_;
    ENetPeer* peer_ = nullptr;
    ENetAddress server_{};
};

TEST_CASE("EnetTransport: nobody says goodbye in a peer's name who does not know its number",
          "[transport][enet]") {
    auto server = required(EnetTransport::listen("127.0.0.1:0"));
    NetTime now;
    OwnClient client;
    client.connect(*server, now);
    SeededRandom random(11);
    for (int i = 0; i < 1'000; ++i) {
        client.send(client.goodbye(client.number() ^
                                   static_cast<enet_uint32>(1 + random.below(0xFFFF'FFFF))));
        OwnClient::tick(*server, now);
    }
    CHECK(server->peer_count() == 1);
    CHECK(server->stats().peers_forgotten == 0);
    // That the test knows how: who knows the number is believed.
    client.send(client.goodbye(client.number()));
    for (int i = 0; i < 1'000 && server->peer_count() > 0; ++i) {
        OwnClient::tick(*server, now);
    }
    CHECK(server->peer_count() == 0);
}

}  // namespace
}  // namespace replayout::test
