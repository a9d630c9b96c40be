// SPDX-License-Identifier: MIT
#include "enet_gate.h"

#include "enet_address.h"

#include <replayout/reflection/diagnostics.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>

namespace replayout {

namespace {

constexpr std::int64_t request_us = 200'000;
constexpr std::int64_t sweep_us = 1'000'000;
/// Connects in the name of one address with another token than its own. So who does not know it has
/// one chance in 65,536 until it must be proved again, under another one.
constexpr std::uint32_t wrong_connects_max = 65'536;

/// What cookies are made over: the parts as they lie in memory, without padding.
[[nodiscard]] std::array<std::byte, 6> bytes_of(const ENetAddress& address) noexcept {
    std::array<std::byte, 6> bytes{};
    std::memcpy(bytes.data(), &address.host, 4);
    std::memcpy(bytes.data() + 4, &address.port, 2);
    return bytes;
}

/// As IPv6 maps it.
[[nodiscard]] AddressKey key_of(const ENetAddress& address) noexcept {
    AddressKey key{};
    key[10] = key[11] = std::byte{0xFF};
    std::memcpy(key.data() + 12, &address.host, 4);
    return key;
}

/// In ENet's words: a datagram for nobody, peer 0xFFF, which can hold one thing alone.
[[nodiscard]] bool is_connect(std::span<const std::byte> bytes) noexcept {
    return bytes.size() >= 2 && (bytes[0] & std::byte{0x0F}) == std::byte{0x0F} &&
           bytes[1] == std::byte{0xFF};
}

struct Connect {
    std::uint32_t connect_id = 0;
    std::uint32_t data = 0;
};

/// ENet's connect as ours say it: alone, behind the time and the checksum.
[[nodiscard]] std::optional<Connect> read_connect(std::span<const std::byte> bytes) noexcept {
    constexpr std::size_t head_bytes = sizeof(ENetProtocolHeader) + sizeof(enet_uint32);
    ENetProtocolConnect command;
    // The first word is 0x8FFF: peer 0xFFF, and a time behind it; neither packed nor of a session.
    if (bytes.size() != head_bytes + sizeof(command) || bytes[0] != std::byte{0x8F}) {
        return std::nullopt;
    }
    std::memcpy(&command, bytes.data() + head_bytes, sizeof(command));
    if ((command.header.command & ENET_PROTOCOL_COMMAND_MASK) != ENET_PROTOCOL_COMMAND_CONNECT) {
        return std::nullopt;
    }
    return Connect{command.connectID, ENET_NET_TO_HOST_32(command.data)};
}

/// What the first of these commands takes, payload included, which may be more than there is. 0: it
/// is none that this transport has ENet say behind the connect.
[[nodiscard]] std::size_t command_bytes(std::span<const std::byte> commands) noexcept {
    switch (std::to_integer<unsigned>(commands[0]) & ENET_PROTOCOL_COMMAND_MASK) {
        case ENET_PROTOCOL_COMMAND_ACKNOWLEDGE:
            return sizeof(ENetProtocolAcknowledge);
        case ENET_PROTOCOL_COMMAND_VERIFY_CONNECT:
            return sizeof(ENetProtocolVerifyConnect);
        case ENET_PROTOCOL_COMMAND_DISCONNECT:
            return sizeof(ENetProtocolDisconnect);
        case ENET_PROTOCOL_COMMAND_PING:
            return sizeof(ENetProtocolPing);
        case ENET_PROTOCOL_COMMAND_SEND_UNSEQUENCED: {
            ENetProtocolSendUnsequenced command{};
            std::memcpy(&command, commands.data(), std::min(commands.size(), sizeof(command)));
            return sizeof(command) + ENET_NET_TO_HOST_16(command.dataLength);
        }
        case ENET_PROTOCOL_COMMAND_BANDWIDTH_LIMIT:
            return sizeof(ENetProtocolBandwidthLimit);
        case ENET_PROTOCOL_COMMAND_THROTTLE_CONFIGURE:
            return sizeof(ENetProtocolThrottleConfigure);
        default:
            return 0;
    }
}

/// Whole commands as ours say them, behind a head that is not packed; no more of them than ENet
/// puts into a datagram.
[[nodiscard]] bool are_ours(std::span<const std::byte> bytes) noexcept {
    constexpr unsigned compressed = ENET_PROTOCOL_HEADER_FLAG_COMPRESSED >> 8;
    constexpr unsigned sent_time = ENET_PROTOCOL_HEADER_FLAG_SENT_TIME >> 8;
    const unsigned flags = bytes.empty() ? compressed : std::to_integer<unsigned>(bytes[0]);
    if ((flags & compressed) != 0) {
        return false;
    }
    const bool has_time = (flags & sent_time) != 0;
    std::size_t end =
        (has_time ? sizeof(ENetProtocolHeader) : sizeof(enet_uint16)) + sizeof(enet_uint32);
    int count = 0;
    for (; end < bytes.size(); ++count) {
        const std::size_t size = command_bytes(bytes.subspan(end));
        if (size == 0) {
            return false;
        }
        end += size;
    }
    return end == bytes.size() && count <= ENET_PROTOCOL_MAXIMUM_PACKET_COMMANDS;
}

[[nodiscard]] bool is_same(const ENetAddress& left, const ENetAddress& right) noexcept {
    return left.host == right.host && left.port == right.port;
}

}  // namespace

EnetGate::EnetGate(const EnetSettings& settings, const AddressCookie::Secret& secret,
                   SocketStats& stats, EnetPeers& peers)
    : settings_(settings),
      stats_(stats),
      peers_(peers),
      cookies_(secret),
      peer_slots_(settings.peers_max, settings.peers_per_address_max, settings.resource),
      proved_(settings.resource),
      client_(cookies_.client_number(0)) {}

void EnetGate::open(ENetHost* host, const ENetAddress* server) {
    host_ = host;
    is_client_ = server != nullptr;
    if (is_client_) {
        server_address_ = *server;
    }
}

void EnetGate::tick(NetTime now) {
    now_ = now;
    ++tick_;
    if (is_server()) {
        if (now.microseconds >= next_sweep_us_) {
            next_sweep_us_ = now.microseconds + sweep_us;
            forget_unused();
        }
    } else if (is_wanted_ && !is_welcome_ && now.microseconds >= next_request_us_) {
        next_request_us_ = now.microseconds + request_us;
        say({AddressMessage::Request, client_, cookie_}, server_address_);
    }
}

bool EnetGate::admits(std::span<const std::byte> bytes, const ENetAddress& from) {
    const std::optional<AddressHandshake> handshake = read_address_handshake(bytes);
    if (!is_server()) {
        // What is no handshake has the number 0, which no client has.
        const AddressHandshake answer = handshake.value_or(AddressHandshake{});
        const bool is_ours = answer.client == client_;
        const bool is_of_server = is_same(from, server_address_);
        if (!is_of_server && is_ours && answer.message != AddressMessage::Request) {
            answers_.strayed("ENet", text_of(server_address_), text_of(from));
        }
        // ENet itself would take a connection from anybody: who connects to a client would be its
        // server.
        if (!is_of_server || is_connect(bytes)) {
            ++stats_.dropped_unproved;
            return false;
        }
        return !(is_ours && take_answer(answer)) && admits_commands(bytes);
    }
    if (handshake && handshake->message == AddressMessage::Request) {
        answer(*handshake, from);
        return false;
    }
    const auto found = proved_.find(from);
    if (found == proved_.end()) {
        ++stats_.dropped_unproved;
        return false;
    }
    if (!has_turn(found->second)) {
        ++stats_.dropped_full;
        return false;
    }
    return is_connect(bytes) ? admits_connect(bytes, found) : admits_commands(bytes);
}

bool EnetGate::has_turn(Proved& address) noexcept {
    if (std::exchange(address.heard_in, tick_) != tick_) {
        address.heard_count = 0;
    }
    return ++address.heard_count <= settings_.datagrams_per_peer_max;
}

bool EnetGate::admits_commands(std::span<const std::byte> bytes) {
    const bool are_known = are_ours(bytes);
    stats_.dropped_malformed += are_known ? 0u : 1u;
    return are_known;
}

bool EnetGate::admits_connect(std::span<const std::byte> bytes, ProvedMap::iterator proved) {
    const std::optional<Connect> connect = read_connect(bytes);
    if (!connect) {
        ++stats_.dropped_malformed;
        return false;
    }
    Proved& address = proved->second;
    if (!address.may_connect || connect->data != address.connect_data) {
        ++stats_.dropped_forged;
        count_wrong_connect(proved);
        return false;
    }
    if (!address.is_begun || address.begun_id != connect->connect_id ||
        address.begun_data != connect->data) {
        // A client that began anew, whose old connection would go on until ENet finds out.
        reset_peers(proved->first);
        address.begun_us = address.is_peer ? now_.microseconds : address.begun_us;
        address.is_begun = true;
        address.is_peer = false;
        address.begun_id = connect->connect_id;
        address.begun_data = connect->data;
    }
    return true;  // ENet knows one that comes again by its number
}

void EnetGate::count_wrong_connect(ProvedMap::iterator proved) {
    Proved& address = proved->second;
    if (address.may_connect && ++address.wrong_connects < wrong_connects_max) {
        return;
    }
    address.may_connect = false;
    if (!address.is_peer) {  // who is connected speaks by its number, not by this
        unprove(proved);
    }
}

EnetGate::ProvedMap::iterator EnetGate::unprove(ProvedMap::iterator proved) {
    reset_peers(proved->first);
    peer_slots_.give_back(key_of(proved->first));
    return proved_.erase(proved);
}

PeerId EnetGate::peer_connected(const ENetAddress& address, PeerId fresh) {
    const auto found = proved_.find(address);
    REPLAYOUT_ASSERT(found != proved_.end());
    Proved& proved = found->second;
    proved.is_peer = true;
    proved.peer = proved.peer == PeerId{} ? fresh : proved.peer;
    return proved.peer;
}

void EnetGate::peer_left(const ENetAddress& address) {
    const auto found = proved_.find(address);
    if (found != proved_.end()) {
        unprove(found);
    }
}

void EnetGate::forget_welcome(bool is_to_ask) noexcept {
    is_welcome_ = false;
    is_wanted_ = is_to_ask;
    cookie_ = 0;
    client_ = cookies_.client_number(++number_count_);
}

void EnetGate::answer(const AddressHandshake& request, const ENetAddress& from) {
    const auto address = bytes_of(from);
    if (!cookies_.is_good(request.cookie, address, request.client, now_)) {
        ++stats_.challenges_sent;
        say({AddressMessage::Challenge, request.client,
             cookies_.make(address, request.client, now_)},
            from);
        return;
    }
    auto found = proved_.find(from);
    if (found == proved_.end()) {
        if (!peer_slots_.take(key_of(from))) {
            ++stats_.dropped_full;
            return;
        }
        found = proved_.emplace(from, Proved{}).first;
        found->second.begun_us = now_.microseconds;
    }
    const std::uint64_t token = cookies_.token(address, request.client);
    Proved& proved = found->second;
    if (const auto data = static_cast<std::uint32_t>(token);
        !proved.may_connect || proved.connect_data != data) {
        proved.connect_data = data;
        proved.wrong_connects = 0;
        proved.may_connect = true;
    }
    say({AddressMessage::Welcome, request.client, token}, from);
}

bool EnetGate::take_answer(const AddressHandshake& handshake) {
    if (handshake.message == AddressMessage::Challenge) {
        cookie_ = handshake.cookie;
        say({AddressMessage::Request, client_, cookie_}, server_address_);
        return true;
    }
    if (handshake.message == AddressMessage::Welcome && !std::exchange(is_welcome_, true)) {
        has_new_welcome_ = true;
        token_ = handshake.cookie;
    }
    return handshake.message != AddressMessage::Request;
}

void EnetGate::say(const AddressHandshake& handshake, const ENetAddress& to) {
    std::array<std::byte, address_request_bytes> bytes;
    const std::span<const std::byte> text = write_address_handshake(handshake, bytes);
    ENetBuffer buffer{};
    buffer.data = bytes.data();
    buffer.dataLength = text.size();
    if (enet_socket_send(host_->socket, &to, &buffer, 1) < 0) {
        ++stats_.send_errors;
    }
}

void EnetGate::forget_unused() {
    for (auto entry = proved_.begin(); entry != proved_.end();) {
        const Proved& proved = entry->second;
        const std::int64_t most_ms = std::min(settings_.handshake_ms, settings_.forget_ms);
        entry = proved.is_peer || now_.microseconds - proved.begun_us <= most_ms * 1'000
                    ? std::next(entry)
                    : unprove(entry);
    }
}

void EnetGate::reset_peers(const ENetAddress& address) {
    for (std::size_t i = 0; i < host_->peerCount; ++i) {
        ENetPeer& peer = host_->peers[i];
        if (peer.state != ENET_PEER_STATE_DISCONNECTED && is_same(peer.address, address)) {
            peers_.replace_peer(peer);
            enet_peer_reset(&peer);
        }
    }
}

}  // namespace replayout
