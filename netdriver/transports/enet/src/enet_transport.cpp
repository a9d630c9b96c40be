// SPDX-License-Identifier: MIT
#include <replayout/transports/enet_transport.h>

#include "address_cookie.h"
#include "address_handshake.h"
#include "address_text.h"

#include <replayout/netdriver/datagram_pool.h>
#include <replayout/reflection/diagnostics.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include <enet/enet.h>
#include <sodium/randombytes.h>

namespace replayout {

namespace {

/// Who the server is to a client.
constexpr PeerId server_peer{1};
constexpr std::int64_t request_us = 200'000;
constexpr std::int64_t sweep_us = 1'000'000;
/// What ENet calls a full throttle, of which it drops nothing.
constexpr enet_uint32 throttle_interval_ms = 5'000;

constexpr std::string_view kind = "ENet";
/// What fits into ENet's packets with its own headers: beyond it cuts, and sends the parts
/// reliably.
constexpr std::size_t datagram_bytes_limit = 1'300;
constexpr std::uint32_t peers_limit = 4'095;
/// Of one peer, that ENet may hold before we take it.
constexpr std::size_t waiting_bytes_max = 256 * 1024;
/// Of what a datagram needs beside its bytes, in ENet's words the least MTU.
constexpr std::uint32_t header_bytes = 92;
/// Tries to connect of one address that is no peer: ENet takes a place for each.
constexpr std::uint32_t connects_max = 16;
/// Datagrams that the system could not give us, between two ticks.
constexpr std::uint32_t errors_max = 1'024;

/// "1.2.3.4:7777".
[[nodiscard]] Result<ENetAddress> parse_address(std::string_view text) {
    const Result<AddressText> parts = split_address(kind, text);
    if (!parts) {
        return parts.error();
    }
    ENetAddress address{};
    address.port = parts->port;
    if (enet_address_set_host_ip(&address, std::string(parts->host).c_str()) != 0) {
        return address_error(kind, text, "is no address of IPv4");
    }
    return address;
}

struct AddressLess {
    bool operator()(const ENetAddress& left, const ENetAddress& right) const noexcept {
        return std::pair(left.host, left.port) < std::pair(right.host, right.port);
    }
};

/// What cookies are made over: the parts as they lie in memory, without padding.
[[nodiscard]] std::array<std::byte, 6> bytes_of(const ENetAddress& address) noexcept {
    std::array<std::byte, 6> bytes{};
    std::memcpy(bytes.data(), &address.host, 4);
    std::memcpy(bytes.data() + 4, &address.port, 2);
    return bytes;
}

[[nodiscard]] AddressCookie::Secret secret_of(const EnetSettings& settings) {
    AddressCookie::Secret secret = settings.secret;
    if (secret == AddressCookie::Secret{}) {
        randombytes_buf(secret.data(), secret.size());
    }
    return secret;
}

}  // namespace

class EnetTransport::Host {
  public:
    Host(const EnetSettings& settings, bool is_server)
        : settings_(settings),
          secret_(secret_of(settings)),
          cookies_(secret_),
          pool_(settings.datagram_bytes_max, settings.resource),
          proved_(settings.resource),
          peers_(settings.resource),
          is_server_(is_server) {
        std::memcpy(&client_, secret_.data(), sizeof(client_));
    }
    ~Host() {
        if (host_ != nullptr) {
            enet_host_destroy(host_);
        }
    }
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    [[nodiscard]] Status open(const ENetAddress* bind, std::string_view address) {
        static const bool is_ready = enet_initialize() == 0;  // counts nothing but Windows' sockets
        if (settings_.datagram_bytes_max > datagram_bytes_limit || settings_.peers_max == 0 ||
            settings_.peers_max > peers_limit) {
            return address_error(kind, address, "ENet has no datagrams so large, or peers so many");
        }
        const std::size_t peers = is_server_ ? settings_.peers_max : 1;
        host_ = is_ready ? enet_host_create(bind, peers, 1, 0, 0) : nullptr;
        if (host_ == nullptr) {
            return address_error(kind, address, "no socket could be bound to it");
        }
        enet_socket_set_option(host_->socket, ENET_SOCKOPT_RCVBUF, settings_.receive_buffer_bytes);
        host_->intercept = intercept;
        // Of its own it would put together 32 MiB for any peer.
        host_->maximumPacketSize = settings_.datagram_bytes_max;
        host_->maximumWaitingData = waiting_bytes_max;
        return {};
    }

    void set_server(const ENetAddress& server) { server_address_ = server; }

    void tick(NetTime now) {
        now_ = now;
        if (!is_server_ && !is_welcome_ && now.microseconds >= next_request_us_) {
            next_request_us_ = now.microseconds + request_us;
            say({AddressMessage::Request, client_, cookie_}, server_address_);
        }
        serve();
        if (is_server_ && now.microseconds >= next_sweep_us_) {
            next_sweep_us_ = now.microseconds + sweep_us;
            forget_unused();
        }
    }

    void flush() { enet_host_flush(host_); }

    void send(PeerId peer, std::span<const std::byte> datagram) {
        REPLAYOUT_ASSERT(datagram.size() <= settings_.datagram_bytes_max);
        const auto found = peers_.find(peer);
        if (found == peers_.end()) {
            return;
        }
        ENetPacket* packet =
            enet_packet_create(datagram.data(), datagram.size(), ENET_PACKET_FLAG_UNSEQUENCED);
        if (packet == nullptr || enet_peer_send(found->second, 0, packet) != 0) {
            ++stats_.send_errors;
            if (packet != nullptr) {
                enet_packet_destroy(packet);
            }
            return;
        }
        ++stats_.datagrams_sent;
    }

    [[nodiscard]] std::size_t receive(PeerId& peer, std::span<std::byte> buffer) {
        return arrived_.receive(pool_, peer, buffer);
    }

    [[nodiscard]] const EnetSettings& settings() const noexcept { return settings_; }
    [[nodiscard]] const SocketStats& stats() const noexcept { return stats_; }
    [[nodiscard]] bool is_connected() const noexcept { return !is_server_ && !peers_.empty(); }
    [[nodiscard]] std::size_t peer_count() const noexcept { return peers_.size(); }
    [[nodiscard]] std::string local_address() const {
        ENetAddress address{};
        char text[32] = {};
        if (enet_socket_get_address(host_->socket, &address) != 0 ||
            enet_address_get_host_ip(&address, text, sizeof(text)) != 0) {
            return {};
        }
        return std::string(text) + ":" + std::to_string(address.port);
    }

  private:
    /// An address that proved itself.
    struct Proved {
        std::int64_t used_us = 0;
        std::uint32_t peers = 0;  ///< of ENet, at this address
        std::uint32_t connects = 0;
    };

    // ENet's callback has no room for whose it is; it comes within enet_host_service() alone.
    static thread_local Host* serving_;

    static int ENET_CALLBACK intercept(ENetHost*, ENetEvent*) { return serving_->intercept(); }

    /// In ENet's words: a datagram for nobody, peer 0xFFF, which can hold one thing alone.
    [[nodiscard]] static bool is_connect(std::span<const std::byte> bytes) noexcept {
        return bytes.size() >= 2 && (bytes[0] & std::byte{0x0F}) == std::byte{0x0F} &&
               bytes[1] == std::byte{0xFF};
    }

    /// 1: ENet is not to see the datagram.
    [[nodiscard]] int intercept() {
        ++seen_;
        const std::span<const std::byte> bytes(
            reinterpret_cast<const std::byte*>(host_->receivedData), host_->receivedDataLength);
        const ENetAddress from = host_->receivedAddress;
        const std::optional<AddressHandshake> handshake = read_address_handshake(bytes);
        if (!is_server_) {
            const bool is_ours = handshake && handshake->client == client_ &&
                                 from.host == server_address_.host &&
                                 from.port == server_address_.port;
            return is_ours && take_answer(*handshake) ? 1 : 0;
        }
        if (handshake && handshake->message == AddressMessage::Request) {
            answer(*handshake, from);
            return 1;
        }
        const auto found = proved_.find(from);
        if (found == proved_.end()) {
            ++stats_.dropped_unproved;
            return 1;
        }
        if (is_connect(bytes) &&
            (found->second.peers > 0 || ++found->second.connects > connects_max)) {
            ++stats_.dropped_malformed;
            return 1;
        }
        return 0;
    }

    void answer(const AddressHandshake& request, const ENetAddress& from) {
        const auto address = bytes_of(from);
        if (!cookies_.is_good(request.cookie, address, request.client, now_)) {
            ++stats_.challenges_sent;
            say({AddressMessage::Challenge, request.client,
                 cookies_.make(address, request.client, now_)},
                from);
            return;
        }
        if (!proved_.contains(from) && proved_.size() >= settings_.peers_max) {
            ++stats_.dropped_full;
            return;
        }
        proved_[from].used_us = now_.microseconds;
        say({AddressMessage::Welcome, request.client}, from);
    }

    /// True: it was an answer of the server.
    bool take_answer(const AddressHandshake& handshake) {
        if (handshake.message == AddressMessage::Challenge) {
            cookie_ = handshake.cookie;
            say({AddressMessage::Request, client_, cookie_}, server_address_);
            return true;
        }
        if (handshake.message == AddressMessage::Welcome && !std::exchange(is_welcome_, true)) {
            is_welcome_ = enet_host_connect(host_, &server_address_, 1, 0) != nullptr;
        }
        return handshake.message != AddressMessage::Request;
    }

    void say(const AddressHandshake& handshake, const ENetAddress& to) {
        std::array<std::byte, address_request_bytes> bytes;
        const std::span<const std::byte> text = write_address_handshake(handshake, bytes);
        ENetBuffer buffer{};
        buffer.data = bytes.data();
        buffer.dataLength = text.size();
        if (enet_socket_send(host_->socket, &to, &buffer, 1) < 0) {
            ++stats_.send_errors;
        }
    }

    void serve() {
        Host* const before = std::exchange(serving_, this);
        ENetEvent event{};
        std::uint32_t errors = 0;
        for (const std::uint64_t first = seen_; seen_ - first < settings_.datagrams_per_tick_max;) {
            const std::uint64_t seen_before = seen_;
            const int result = enet_host_service(host_, &event, 0);
            if (result > 0) {
                handle(event);
            } else if (result < 0 ? ++errors > errors_max : seen_ == seen_before) {
                break;  // Nothing came. An error is a datagram that is too large for any of ours.
            }
        }
        serving_ = before;
    }

    void handle(const ENetEvent& event) {
        switch (event.type) {
            case ENET_EVENT_TYPE_CONNECT:
                add_peer(*event.peer);
                break;
            case ENET_EVENT_TYPE_DISCONNECT:
                remove_peer(*event.peer);
                break;
            case ENET_EVENT_TYPE_RECEIVE:
                take(*event.peer, *event.packet);
                enet_packet_destroy(event.packet);
                break;
            case ENET_EVENT_TYPE_NONE:
                break;
        }
    }

    void add_peer(ENetPeer& peer) {
        if (peer.mtu < settings_.datagram_bytes_max + header_bytes) {
            // What does not fit ENet would send in parts, reliably, and keep until it is answered.
            ++stats_.dropped_malformed;
            enet_peer_reset(&peer);
            return;
        }
        const PeerId id{is_server_ ? ++last_peer_ : server_peer.value};
        peers_.emplace(id, &peer);
        std::memcpy(&peer.data, &id.value, sizeof(peer.data));
        static_assert(sizeof(peer.data) == sizeof(id.value), "an id is kept where a pointer was");
        // It may not fall: what ENet would drop here nobody could tell from what the network lost.
        enet_peer_throttle_configure(&peer, throttle_interval_ms, ENET_PEER_PACKET_THROTTLE_SCALE,
                                     0);
        if (is_server_) {
            Proved& proved = proved_[peer.address];
            ++proved.peers;
            proved.connects = 0;
        }
        ++stats_.peers_welcomed;
    }

    void remove_peer(ENetPeer& peer) {
        peers_.erase(id_of(peer));
        ++stats_.peers_forgotten;
        if (is_server_) {
            const auto found = proved_.find(peer.address);
            if (found != proved_.end() && found->second.peers > 0) {
                --found->second.peers;
                found->second.used_us = now_.microseconds;
            }
        } else {
            is_welcome_ = false;  // Asks again, should the server come back.
        }
    }

    [[nodiscard]] static PeerId id_of(const ENetPeer& peer) noexcept {
        PeerId id;
        std::memcpy(&id.value, &peer.data, sizeof(id.value));
        return id;
    }

    void take(const ENetPeer& peer, const ENetPacket& packet) {
        if (packet.dataLength > settings_.datagram_bytes_max) {
            ++stats_.dropped_malformed;
        } else if (arrived_.count() >= settings_.datagrams_per_tick_max) {
            ++stats_.dropped_full;
        } else {
            ++stats_.datagrams_received;
            arrived_.push(
                pool_,
                pool_.take(id_of(peer), std::span(reinterpret_cast<const std::byte*>(packet.data),
                                                  packet.dataLength)));
        }
    }

    void forget_unused() {
        const std::int64_t before = now_.microseconds - settings_.forget_ms * 1000;
        std::erase_if(proved_, [&](const auto& entry) {
            return entry.second.peers == 0 && entry.second.used_us < before;
        });
    }

    EnetSettings settings_;
    AddressCookie::Secret secret_;
    AddressCookie cookies_;
    ENetHost* host_ = nullptr;
    DatagramPool pool_;
    DatagramQueue arrived_;
    std::pmr::map<ENetAddress, Proved, AddressLess> proved_;
    std::pmr::map<PeerId, ENetPeer*> peers_;
    SocketStats stats_;
    NetTime now_;
    std::uint64_t last_peer_ = 0;
    std::uint64_t seen_ = 0;  // datagrams
    std::int64_t next_sweep_us_ = 0;
    bool is_server_;

    ENetAddress server_address_{};
    std::uint64_t client_ = 0;
    std::uint64_t cookie_ = 0;
    std::int64_t next_request_us_ = 0;
    bool is_welcome_ = false;
};

thread_local EnetTransport::Host* EnetTransport::Host::serving_ = nullptr;

EnetTransport::EnetTransport(std::unique_ptr<Host> host) : host_(std::move(host)) {}

EnetTransport::~EnetTransport() = default;

Result<std::unique_ptr<EnetTransport>> EnetTransport::listen(std::string_view address,
                                                             const EnetSettings& settings) {
    const Result<ENetAddress> bind = parse_address(address);
    if (!bind) {
        return bind.error();
    }
    auto host = std::make_unique<Host>(settings, true);
    if (Status opened = host->open(&*bind, address); !opened) {
        return opened.error();
    }
    return std::unique_ptr<EnetTransport>(new EnetTransport(std::move(host)));
}

Result<std::unique_ptr<EnetTransport>> EnetTransport::connect(std::string_view address,
                                                              const EnetSettings& settings) {
    const Result<ENetAddress> server = parse_address(address);
    if (!server) {
        return server.error();
    }
    auto host = std::make_unique<Host>(settings, false);
    if (Status opened = host->open(nullptr, address); !opened) {
        return opened.error();
    }
    host->set_server(*server);
    return std::unique_ptr<EnetTransport>(new EnetTransport(std::move(host)));
}

void EnetTransport::tick(NetTime now) {
    host_->tick(now);
}

void EnetTransport::flush() {
    host_->flush();
}

PeerId EnetTransport::server() const noexcept {
    return server_peer;
}

bool EnetTransport::is_connected() const noexcept {
    return host_->is_connected();
}

std::string EnetTransport::local_address() const {
    return host_->local_address();
}

std::uint32_t EnetTransport::peer_count() const noexcept {
    return static_cast<std::uint32_t>(host_->peer_count());
}

const SocketStats& EnetTransport::stats() const noexcept {
    return host_->stats();
}

std::size_t EnetTransport::datagram_bytes_max() const noexcept {
    return host_->settings().datagram_bytes_max;
}

void EnetTransport::send(PeerId peer, std::span<const std::byte> datagram) {
    host_->send(peer, datagram);
}

std::size_t EnetTransport::receive(PeerId& peer, std::span<std::byte> buffer) {
    return host_->receive(peer, buffer);
}

}  // namespace replayout
