// SPDX-License-Identifier: MIT
#include "enet_gate.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include <sodium/randombytes.h>

namespace replayout {

namespace {

constexpr std::int64_t request_us = 200'000;
constexpr std::int64_t sweep_us = 1'000'000;
/// Tries to connect of one address that is no peer: ENet takes a place for each.
constexpr std::uint32_t connects_max = 16;

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

[[nodiscard]] AddressCookie::Secret secret_of(const EnetSettings& settings) {
    AddressCookie::Secret secret = settings.secret;
    if (secret == AddressCookie::Secret{}) {
        randombytes_buf(secret.data(), secret.size());
    }
    return secret;
}

/// In ENet's words: a datagram for nobody, peer 0xFFF, which can hold one thing alone.
[[nodiscard]] bool is_connect(std::span<const std::byte> bytes) noexcept {
    return bytes.size() >= 2 && (bytes[0] & std::byte{0x0F}) == std::byte{0x0F} &&
           bytes[1] == std::byte{0xFF};
}

[[nodiscard]] bool is_same(const ENetAddress& left, const ENetAddress& right) noexcept {
    return left.host == right.host && left.port == right.port;
}

}  // namespace

EnetGate::EnetGate(const EnetSettings& settings, SocketStats& stats)
    : settings_(settings),
      stats_(stats),
      secret_(secret_of(settings)),
      cookies_(secret_),
      places_(settings.peers_max, settings.peers_per_address_max, settings.resource),
      proved_(settings.resource) {
    std::memcpy(&client_, secret_.data(), sizeof(client_));
}

void EnetGate::open(ENetHost* host, const ENetAddress* server) {
    host_ = host;
    is_client_ = server != nullptr;
    if (is_client_) {
        server_address_ = *server;
    }
}

void EnetGate::tick(NetTime now) {
    now_ = now;
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
        // ENet itself would take a connection from anybody: who connects to a client would be its
        // server.
        if (!is_same(from, server_address_) || is_connect(bytes)) {
            ++stats_.dropped_unproved;
            return false;
        }
        const bool is_ours = handshake && handshake->client == client_;
        return !(is_ours && take_answer(*handshake));
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
    if (is_connect(bytes) && (found->second.peers > 0 || ++found->second.connects > connects_max)) {
        ++stats_.dropped_malformed;
        return false;
    }
    return true;
}

void EnetGate::peer_connected(const ENetAddress& address) {
    Proved& proved = proved_[address];
    ++proved.peers;
    proved.connects = 0;
    proved.was_peer = true;
}

void EnetGate::peer_left(const ENetAddress& address) {
    const auto found = proved_.find(address);
    if (found != proved_.end() && found->second.peers > 0) {
        --found->second.peers;
        found->second.used_us = now_.microseconds;
    }
}

void EnetGate::forget_welcome(bool is_to_ask) noexcept {
    is_welcome_ = false;
    is_wanted_ = is_to_ask;
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
    if (!proved_.contains(from) && !places_.take(key_of(from))) {
        ++stats_.dropped_full;
        return;
    }
    proved_[from].used_us = now_.microseconds;
    say({AddressMessage::Welcome, request.client, cookies_.token(address, request.client)}, from);
}

bool EnetGate::take_answer(const AddressHandshake& handshake) {
    if (handshake.message == AddressMessage::Challenge) {
        cookie_ = handshake.cookie;
        say({AddressMessage::Request, client_, cookie_}, server_address_);
        return true;
    }
    if (handshake.message == AddressMessage::Welcome && !std::exchange(is_welcome_, true)) {
        has_new_welcome_ = true;
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
        const std::int64_t most_ms = proved.was_peer
                                         ? settings_.forget_ms
                                         : std::min(settings_.handshake_ms, settings_.forget_ms);
        if (proved.peers > 0 || now_.microseconds - proved.used_us <= most_ms * 1'000) {
            ++entry;
            continue;
        }
        reset_connecting(entry->first);
        places_.give_back(key_of(entry->first));
        entry = proved_.erase(entry);
    }
}

void EnetGate::reset_connecting(const ENetAddress& address) {
    for (std::size_t i = 0; i < host_->peerCount; ++i) {
        ENetPeer& peer = host_->peers[i];
        if (peer.state != ENET_PEER_STATE_DISCONNECTED && is_same(peer.address, address)) {
            enet_peer_reset(&peer);
        }
    }
}

}  // namespace replayout
