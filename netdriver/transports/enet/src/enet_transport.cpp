// SPDX-License-Identifier: MIT
#include <replayout/transports/enet_transport.h>

#include "address_text.h"
#include "drive_watch.h"
#include "enet_address.h"
#include "enet_gate.h"
#include "peer_stay.h"
#include "transport_secret.h"

#include <replayout/netdriver/datagram_pool.h>
#include <replayout/reflection/diagnostics.h>

#include <cstring>
#include <map>
#include <utility>

#include <enet/enet.h>

namespace replayout {

namespace {

/// Who the server is to a client.
constexpr PeerId server_peer{1};
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
/// Datagrams that the system could not give us, between two ticks.
constexpr std::uint32_t errors_max = 1'024;

/// Once in a process.
[[nodiscard]] bool initialize() {
    // Its table is made by the first call, which two threads could make at once.
    (void)enet_crc32(nullptr, 0);
    return enet_initialize() == 0;
}

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

}  // namespace

class EnetTransport::Host final : public EnetTransport, private EnetPeers {
  public:
    [[nodiscard]] static Result<std::unique_ptr<EnetTransport>> start(std::string_view text,
                                                                      const EnetSettings& settings,
                                                                      bool is_server) {
        const Result<ENetAddress> address = parse_address(text);
        if (!address) {
            return address.error();
        }
        if (!is_server && address->host == ENET_HOST_ANY) {
            return all_addresses_error(kind, text);
        }
        const Result<AddressCookie::Secret> secret = transport_secret(settings.secret, kind);
        if (!secret) {
            return secret.error();
        }
        auto host = std::make_unique<Host>(settings, *secret, is_server);
        if (Status opened = host->open(*address, text); !opened) {
            return opened.error();
        }
        return std::unique_ptr<EnetTransport>(std::move(host));
    }

    Host(const EnetSettings& settings, const AddressCookie::Secret& secret, bool is_server)
        : settings_(settings),
          gate_(settings, secret, stats_, *this),
          pool_(settings.datagram_bytes_max, settings.resource),
          peers_(settings.resource),
          is_server_(is_server) {}
    ~Host() override {
        if (host_ != nullptr) {
            enet_host_destroy(host_);
        }
    }

    /// A server at `address`, or a client of the server there, which `text` named.
    [[nodiscard]] Status open(const ENetAddress& address, std::string_view text) {
        static const bool is_ready = initialize();
        if (settings_.datagram_bytes_max > datagram_bytes_limit || settings_.peers_max == 0 ||
            settings_.peers_max > peers_limit) {
            return address_error(kind, text, "ENet has no datagrams so large, or peers so many");
        }
        if (is_ready) {
            host_ = is_server_ ? enet_host_create(&address, settings_.peers_max, 1, 0, 0)
                               : enet_host_create(nullptr, 1, 1, 0, 0);
        }
        if (host_ == nullptr) {
            return address_error(kind, text, "no socket could be bound to it");
        }
        enet_socket_set_option(host_->socket, ENET_SOCKOPT_RCVBUF, settings_.receive_buffer_bytes);
        host_->intercept = intercept;
        // Over the bytes and the number of the connection, which its two ends alone know: so nobody
        // can speak, or say goodbye, in the name of another. The number is the client's to choose.
        host_->checksum = enet_crc32;
        // Of its own it would put together 32 MiB for any peer.
        host_->maximumPacketSize = settings_.datagram_bytes_max;
        host_->maximumWaitingData = waiting_bytes_max;
        // Slots are of addresses with their ports; of each of these ENet would take many peers.
        host_->duplicatePeers = settings_.peers_per_address_max;
        gate_.open(host_, is_server_ ? nullptr : &address);
        return {};
    }

    void tick(NetTime now) override {
        watch_.ticked();
        now_ = now;
        gate_.tick(now);
        serve();
        if (gate_.take_welcome()) {
            host_->randomSeed = gate_.connection_number();  // ENet takes the next one
            if (enet_host_connect(host_, &gate_.server_address(), 1, gate_.connect_data()) ==
                nullptr) {
                gate_.forget_welcome(true);
            }
        }
        end_stays();
    }

    void flush() override { enet_host_flush(host_); }

    void send(PeerId peer, std::span<const std::byte> datagram) override {
        REPLAYOUT_EXPECT(datagram.size() <= settings_.datagram_bytes_max, void(),
                         "send: a datagram of %zu bytes, and datagram_bytes_max is %zu: send no "
                         "larger ones (Transport::datagram_bytes_max)",
                         datagram.size(), std::size_t{settings_.datagram_bytes_max});
        const auto found = peers_.find(peer);
        if (found == peers_.end()) {
            gate_.want();
            return;
        }
        ENetPacket* packet =
            enet_packet_create(datagram.data(), datagram.size(), ENET_PACKET_FLAG_UNSEQUENCED);
        if (packet == nullptr || enet_peer_send(found->second.peer, 0, packet) != 0) {
            ++stats_.send_errors;
            if (packet != nullptr) {
                enet_packet_destroy(packet);
            }
            return;
        }
        found->second.stay.speak(now_);
        ++stats_.datagrams_sent;
    }

    void close(PeerId peer) override {
        if (const auto found = peers_.find(peer); found != peers_.end()) {
            found->second.stay.close(now_);
        }
    }

    [[nodiscard]] std::size_t receive(PeerId& peer, std::span<std::byte> buffer) override {
        return watch_.answered(arrived_.receive(pool_, peer, buffer), "ENet transport");
    }

    [[nodiscard]] std::size_t datagram_bytes_max() const noexcept override {
        return settings_.datagram_bytes_max;
    }
    [[nodiscard]] PeerId server() const noexcept override { return server_peer; }
    [[nodiscard]] const SocketStats& stats() const noexcept override { return stats_; }
    [[nodiscard]] bool is_connected() const noexcept override {
        return !is_server_ && !peers_.empty();
    }
    [[nodiscard]] std::uint32_t peer_count() const noexcept override {
        return static_cast<std::uint32_t>(peers_.size());
    }
    [[nodiscard]] std::string local_address() const override {
        ENetAddress address{};
        if (enet_socket_get_address(host_->socket, &address) != 0) {
            return {};
        }
        return text_of(address);
    }

  private:
    struct Peer {
        ENetPeer* peer = nullptr;
        PeerStay stay;
    };

    // ENet's callback has no room for whose it is; it comes within enet_host_service() alone.
    static thread_local Host* serving_;

    static int ENET_CALLBACK intercept(ENetHost*, ENetEvent*) { return serving_->intercept(); }

    /// 1: ENet is not to see the datagram.
    [[nodiscard]] int intercept() {
        ++seen_;
        const std::span<const std::byte> bytes(
            reinterpret_cast<const std::byte*>(host_->receivedData), host_->receivedDataLength);
        return gate_.admits(bytes, host_->receivedAddress) ? 0 : 1;
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
            if (!is_server_) {
                gate_.forget_welcome(true);  // who answers later may grant more
            }
            return;
        }
        const PeerId id =
            is_server_ ? gate_.peer_connected(peer.address, PeerId{++last_peer_}) : server_peer;
        peers_.insert_or_assign(id, Peer{&peer, PeerStay(now_)});
        std::memcpy(&peer.data, &id.value, sizeof(peer.data));
        static_assert(sizeof(peer.data) == sizeof(id.value), "an id is kept where a pointer was");
        // It may not fall: what ENet would drop here nobody could tell from what the network lost.
        enet_peer_throttle_configure(&peer, throttle_interval_ms, ENET_PEER_PACKET_THROTTLE_SCALE,
                                     0);
        ++stats_.peers_welcomed;
    }

    void remove_peer(ENetPeer& peer) {
        // ENet tells of a peer that never was one, too: a client's that nobody answered.
        const auto found = find(peer);
        const bool was_closing = found != peers_.end() && found->second.stay.is_closing();
        if (found != peers_.end()) {
            peers_.erase(found);
            ++stats_.peers_forgotten;
            if (is_server_) {
                gate_.peer_left(peer.address);
            }
        }
        if (!is_server_) {
            gate_.forget_welcome(!was_closing);  // asks again, should the server come back
        }
    }

    void replace_peer(ENetPeer& peer) override {
        if (const auto found = find(peer); found != peers_.end()) {
            peers_.erase(found);
            ++stats_.peers_forgotten;
        }
    }

    /// Who was closed, or with whom the driver does not speak.
    void end_stays() {
        const PeerStay::Limits limits =
            is_server_ ? PeerStay::Limits{settings_.handshake_ms, settings_.forget_ms}
                       : PeerStay::Limits{};
        for (auto entry = peers_.begin(); entry != peers_.end();) {
            ENetPeer& peer = *entry->second.peer;
            const bool is_over = entry->second.stay.is_over(now_, limits);
            ++entry;
            if (is_over) {
                // Told once, and gone: nobody keeps a slot by not answering.
                enet_peer_disconnect_now(&peer, 0);
                remove_peer(peer);
            }
        }
    }

    /// The end: ENet's peer is none of ours, or no more.
    [[nodiscard]] auto find(const ENetPeer& peer) noexcept
        -> std::pmr::map<PeerId, Peer>::iterator {
        const auto found = peers_.find(id_of(peer));
        return found != peers_.end() && found->second.peer == &peer ? found : peers_.end();
    }

    [[nodiscard]] static PeerId id_of(const ENetPeer& peer) noexcept {
        PeerId id;
        std::memcpy(&id.value, &peer.data, sizeof(id.value));
        return id;
    }

    void take(const ENetPeer& peer, const ENetPacket& packet) {
        if (const auto found = find(peer); found != peers_.end()) {
            found->second.stay.hear(now_);
        }
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

    EnetSettings settings_;
    SocketStats stats_;
    EnetGate gate_;
    ENetHost* host_ = nullptr;
    DatagramPool pool_;
    DatagramQueue arrived_;
    std::pmr::map<PeerId, Peer> peers_;
    DriveWatch watch_;
    NetTime now_;
    std::uint64_t last_peer_ = 0;
    std::uint64_t seen_ = 0;  // datagrams
    bool is_server_;
};

thread_local EnetTransport::Host* EnetTransport::Host::serving_ = nullptr;

Result<std::unique_ptr<EnetTransport>> EnetTransport::listen(std::string_view address,
                                                             const EnetSettings& settings) {
    return Host::start(address, settings, true);
}

Result<std::unique_ptr<EnetTransport>> EnetTransport::connect(std::string_view address,
                                                              const EnetSettings& settings) {
    return Host::start(address, settings, false);
}

}  // namespace replayout
