// SPDX-License-Identifier: MIT
//
// A client of ENet's own making, so that it can send from its address what no ENet would.
#pragma once

#include <replayout/transports/enet_transport.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include <enet/enet.h>

#include "support/checks/catch.h"
#include "transports/stranger.h"
#include "transports/transport_ends.h"

namespace replayout::test {

/// A server and its clock.
class EnetServer {
  public:
    explicit EnetServer(const EnetSettings& settings = {})
        : transport_(required(EnetTransport::listen("127.0.0.1:0", settings))) {}

    [[nodiscard]] EnetTransport* operator->() const { return transport_.get(); }
    void tick() {
        now = now.plus_milliseconds(1);
        transport_->tick(now);
        transport_->flush();
    }

    NetTime now;

  private:
    std::unique_ptr<EnetTransport> transport_;
};

class OwnClient {
  public:
    explicit OwnClient(const ENetAddress* bind = nullptr)
        : host_(enet_host_create(bind, 1, 1, 0, 0)) {
        REQUIRE(host_ != nullptr);
        host_->checksum = enet_crc32;
    }
    ~OwnClient() { enet_host_destroy(host_); }
    OwnClient(const OwnClient&) = delete;
    OwnClient& operator=(const OwnClient&) = delete;

    /// Proves the address; the low half of the token, which a connect is to bring.
    [[nodiscard]] enet_uint32 prove(EnetServer& server, std::uint64_t client = 7) {
        const std::string address = server->local_address();
        enet_address_set_host_ip(&server_, "127.0.0.1");
        server_.port = static_cast<enet_uint16>(std::stoi(address.substr(address.rfind(':') + 1)));
        send(Stranger::request(client, {}));
        send(Stranger::request(client, cookie_of(answer(server))));
        const Bytes token = token_of(answer(server));
        enet_uint32 data = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            data |= std::to_integer<enet_uint32>(token[i]) << (8 * i);
        }
        return data;
    }
    /// What its connect says that it takes.
    void set_mtu(enet_uint32 bytes) { host_->mtu = host_->peers[0].mtu = bytes; }
    /// Whether it became a peer.
    [[nodiscard]] bool connect_with(EnetServer& server, enet_uint32 data) {
        const std::uint64_t before = server->stats().peers_welcomed;
        begin_to_connect(data);
        for (int i = 0; i < 2'000 && server->stats().peers_welcomed == before; ++i) {
            server.tick();
            go_on();
        }
        return server->stats().peers_welcomed > before;
    }
    void begin_to_connect(enet_uint32 data) {
        peer_ = enet_host_connect(host_, &server_, 1, data);
        go_on();
    }
    /// Hears what has come, and says what there is to say.
    void go_on() {
        ENetEvent event{};
        while (enet_host_service(host_, &event, 0) > 0) {
        }
    }
    void connect(EnetServer& server) { REQUIRE(connect_with(server, prove(server))); }
    [[nodiscard]] ENetAddress address() const {
        ENetAddress own{};
        REQUIRE(enet_socket_get_address(host_->socket, &own) == 0);
        return own;
    }
    /// A connect of ENet's, as another one would say it from our address.
    [[nodiscard]] static Bytes connect_bytes(enet_uint32 connect_id, enet_uint32 data) {
        ENetProtocolConnect command{};
        command.header.command =
            ENET_PROTOCOL_COMMAND_CONNECT | std::uint8_t{ENET_PROTOCOL_COMMAND_FLAG_ACKNOWLEDGE};
        command.header.channelID = 0xFF;
        command.header.reliableSequenceNumber = ENET_HOST_TO_NET_16(1);
        command.mtu = ENET_HOST_TO_NET_32(1'400);
        command.windowSize = ENET_HOST_TO_NET_32(65'536);
        command.channelCount = ENET_HOST_TO_NET_32(1);
        command.connectID = connect_id;
        command.data = ENET_HOST_TO_NET_32(data);
        Bytes bytes(8 + sizeof(command));
        bytes[0] = std::byte{0x8F};
        bytes[1] = std::byte{0xFF};
        std::memcpy(bytes.data() + 8, &command, sizeof(command));
        ENetBuffer buffer{};
        buffer.data = bytes.data();
        buffer.dataLength = bytes.size();
        put(std::span(bytes), 4, enet_crc32(&buffer, 1));
        return bytes;
    }

    /// The end of our connection, as whoever knows its number says it.
    [[nodiscard]] Bytes goodbye(enet_uint32 number) const {
        Bytes command(sizeof(ENetProtocolDisconnect));
        command[0] = std::byte{ENET_PROTOCOL_COMMAND_DISCONNECT};
        command[1] = std::byte{0xFF};
        return datagram(number, command);
    }
    /// Commands of our connection, whatever they are, behind `flags` of the head.
    [[nodiscard]] Bytes datagram(enet_uint32 number, const Bytes& commands, int flags = 0) const {
        const auto head = static_cast<enet_uint16>(peer_->outgoingPeerID |
                                                   peer_->outgoingSessionID << 12 | flags);
        Bytes bytes(6);
        put(std::span(bytes), 0, ENET_HOST_TO_NET_16(head));
        put(std::span(bytes), 2, number);
        bytes.insert(bytes.end(), commands.begin(), commands.end());
        ENetBuffer buffer{};
        buffer.data = bytes.data();
        buffer.dataLength = bytes.size();
        put(std::span(bytes), 2, enet_crc32(&buffer, 1));
        return bytes;
    }
    [[nodiscard]] enet_uint32 number() const { return peer_->connectID; }

    void send(Bytes bytes) {
        ENetBuffer buffer{};
        buffer.data = bytes.data();
        buffer.dataLength = bytes.size();
        REQUIRE(enet_socket_send(host_->socket, &server_, &buffer, 1) > 0);
    }

  private:
    template <typename Number>
    static void put(std::span<std::byte> bytes, std::size_t at, Number number) {
        std::memcpy(bytes.data() + at, &number, sizeof(number));
    }
    [[nodiscard]] Bytes answer(EnetServer& server) {
        Bytes bytes(2'048);
        ENetBuffer buffer{};
        buffer.data = bytes.data();
        buffer.dataLength = bytes.size();
        for (int i = 0; i < 10'000; ++i) {
            server.tick();
            ENetAddress from{};
            const int size = enet_socket_receive(host_->socket, &from, &buffer, 1);
            if (size == 17) {  // and not what ENet says besides
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

}  // namespace replayout::test
