// SPDX-License-Identifier: MIT
#include <replayout/transports/udp_transport.h>

#include "address_cookie.h"
#include "address_handshake.h"
#include "answer_watch.h"
#include "asio_address.h"
#include "asio_start.h"
#include "datagram_socket.h"
#include "drive_watch.h"
#include "peer_stay.h"
#include "transport_secret.h"

#include <replayout/reflection/diagnostics.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory_resource>
#include <vector>

namespace replayout {

namespace {

using boost::asio::ip::udp;
using boost::system::error_code;

/// Between two requests of a client.
constexpr std::int64_t request_us = 200'000;
/// A client that heard nothing for as long asks again: the server may have begun anew.
constexpr std::int64_t silence_us = 5'000'000;
/// Between two looks for who was silent.
constexpr std::int64_t sweep_us = 1'000'000;

constexpr std::string_view kind = "UDP";

/// What cookies are made over.
struct EndpointBytes {
    std::array<std::byte, 18> bytes{};

    explicit EndpointBytes(const udp::endpoint& endpoint) {
        const AddressKey key = key_of(endpoint.address());
        std::copy(key.begin(), key.end(), bytes.begin());
        bytes[16] = static_cast<std::byte>(endpoint.port() & 0xFF);
        bytes[17] = static_cast<std::byte>(endpoint.port() >> 8);
    }
};

}  // namespace

class UdpTransport::Socket final : public UdpTransport {
  public:
    [[nodiscard]] static Result<std::unique_ptr<UdpTransport>> start(std::string_view address,
                                                                     const UdpSettings& settings,
                                                                     bool is_server) {
        const Result<udp::endpoint> endpoint = parse_endpoint<udp>(kind, address, is_server);
        if (!endpoint) {
            return endpoint.error();
        }
        const Result<AddressCookie::Secret> secret = transport_secret(settings.secret, kind);
        if (!secret) {
            return secret.error();
        }
        auto made = make_with_asio<Socket>(kind, address, settings, *secret, is_server);
        if (!made) {
            return made.error();
        }
        Socket& socket = **made;
        if (const error_code refused =
                socket.socket_.open(is_server ? *endpoint : udp::endpoint(endpoint->protocol(), 0),
                                    settings.receive_buffer_bytes, is_server)) {
            return start_error(kind, address, refused);
        }
        if (!is_server) {
            socket.server_.remote = *endpoint;
            socket.add_peer(socket.server_, 0);
        }
        return std::unique_ptr<UdpTransport>(std::move(*made));
    }

    Socket(const UdpSettings& settings, const AddressCookie::Secret& secret, bool is_server)
        : settings_(settings),
          cookies_(secret),
          buffer_(std::max(settings.datagram_bytes_max + address_data_head_bytes,
                           address_request_bytes) +
                  1),
          endpoints_(settings.resource),
          peers_(settings.resource),
          peer_slots_(settings.peers_max, settings.peers_per_address_max, settings.resource),
          is_server_(is_server),
          client_(cookies_.client_number(0)) {}

    void tick(NetTime now) override {
        watch_.ticked();
        now_ = now;
        datagrams_left_ = settings_.datagrams_per_tick_max;
        if (!is_server_) {
            ask();
        } else if (now.microseconds >= next_sweep_us_) {
            next_sweep_us_ = now.microseconds + sweep_us;
            forget_silent();
        }
    }

    void flush() override {}

    void send(PeerId peer, std::span<const std::byte> datagram) override {
        REPLAYOUT_EXPECT(datagram.size() <= settings_.datagram_bytes_max, void(),
                         "send: a datagram of %zu bytes, and datagram_bytes_max is %zu: send no "
                         "larger ones (Transport::datagram_bytes_max)",
                         datagram.size(), std::size_t{settings_.datagram_bytes_max});
        const auto found = peers_.find(peer);
        if (found == peers_.end()) {
            return;
        }
        if (!is_server_ && !is_welcome_) {
            is_wanted_ = true;
            return;
        }
        found->second.stay.speak(now_);
        write_address_data_head(found->second.token, buffer_);
        std::copy(datagram.begin(), datagram.end(), buffer_.data() + address_data_head_bytes);
        ++stats_.datagrams_sent;
        send_to(found->second.route,
                std::span(buffer_).first(address_data_head_bytes + datagram.size()));
    }

    void close(PeerId peer) override {
        if (const auto found = peers_.find(peer); found != peers_.end()) {
            found->second.stay.close(now_);
        }
    }

    [[nodiscard]] std::size_t receive(PeerId& peer, std::span<std::byte> buffer) override {
        while (datagrams_left_ > 0) {
            DatagramRoute from;
            error_code error;
            const std::size_t size = socket_.receive(buffer_, from, error);
            if (error == boost::asio::error::would_block ||
                error == boost::asio::error::try_again) {
                return watch_.answered(nothing_received, "UDP transport");
            }
            --datagrams_left_;  // Whatever it is: a flood must not keep us here.
            if (error) {
                continue;  // A datagram of ours that nobody took, told late.
            }
            const std::span<const std::byte> bytes = std::span(buffer_).first(size);
            if (!bytes.empty() && bytes[0] == static_cast<std::byte>(AddressMessage::Data)) {
                if (accept_data(from, bytes, peer)) {
                    const auto datagram = bytes.subspan(address_data_head_bytes);
                    const std::size_t copied = std::min(buffer.size(), datagram.size());
                    std::copy_n(datagram.begin(), copied, buffer.begin());
                    return copied;
                }
                continue;
            }
            const std::optional<AddressHandshake> handshake = read_address_handshake(bytes);
            if (!handshake) {
                ++stats_.dropped_malformed;
            } else if (is_server_) {
                answer(*handshake, from);
            } else {
                take_answer(*handshake, from.remote);
            }
        }
        return watch_.answered(nothing_received, "UDP transport");
    }

    [[nodiscard]] std::string address_of(PeerId peer) const override {
        const auto found = peers_.find(peer);
        return found == peers_.end() ? std::string() : text_of(found->second.route.remote);
    }
    [[nodiscard]] std::string local_address() const override {
        return text_of(socket_.local_endpoint());
    }
    [[nodiscard]] std::size_t datagram_bytes_max() const noexcept override {
        return settings_.datagram_bytes_max;
    }
    [[nodiscard]] const SocketStats& stats() const noexcept override { return stats_; }
    [[nodiscard]] PeerId server() const noexcept override { return PeerId{1}; }
    [[nodiscard]] bool is_connected() const noexcept override { return is_welcome_; }
    [[nodiscard]] std::uint32_t peer_count() const noexcept override {
        return is_server_ || is_welcome_ ? static_cast<std::uint32_t>(peers_.size()) : 0;
    }

  private:
    struct Peer {
        DatagramRoute route;
        std::uint64_t token = 0;
        PeerStay stay;
    };

    void add_peer(const DatagramRoute& route, std::uint64_t token) {
        const PeerId peer{++last_peer_};
        endpoints_.emplace(route.remote, peer);
        peers_.emplace(peer, Peer{route, token, PeerStay(now_)});
    }

    void send_to(const DatagramRoute& route, std::span<const std::byte> bytes) {
        error_code error;
        socket_.send(bytes, route, error);
        stats_.send_errors += error ? 1u : 0u;
    }

    [[nodiscard]] bool accept_data(const DatagramRoute& from, std::span<const std::byte> bytes,
                                   PeerId& id) {
        const auto found = endpoints_.find(from.remote);
        if (found == endpoints_.end() || (!is_server_ && !is_welcome_)) {
            ++stats_.dropped_unproved;
            return false;
        }
        Peer& peer = peers_.find(found->second)->second;
        const std::optional<std::uint64_t> token = read_address_data_head(bytes);
        if (!token || bytes.size() > address_data_head_bytes + settings_.datagram_bytes_max) {
            ++stats_.dropped_malformed;
            return false;
        }
        if (*token != peer.token) {
            ++stats_.dropped_forged;
            return false;
        }
        id = found->second;
        peer.route.local = from.local;  // an address of the host may have taken another's place
        peer.stay.hear(now_);
        ++stats_.datagrams_received;
        return true;
    }

    // A server.

    void answer(const AddressHandshake& request, const DatagramRoute& from) {
        if (request.message != AddressMessage::Request) {
            ++stats_.dropped_malformed;
            return;
        }
        const EndpointBytes address(from.remote);
        if (!cookies_.is_good(request.cookie, address.bytes, request.client, now_)) {
            ++stats_.challenges_sent;
            say({AddressMessage::Challenge, request.client,
                 cookies_.make(address.bytes, request.client, now_)},
                from);
            return;
        }
        const std::uint64_t token = cookies_.token(address.bytes, request.client);
        const auto known = endpoints_.find(from.remote);
        if (known == endpoints_.end()) {
            if (!peer_slots_.take(key_of(from.remote.address()))) {
                ++stats_.dropped_full;
                return;
            }
            add_peer(from, token);
            ++stats_.peers_welcomed;
        } else {
            // The welcome was lost, or another client has this address now.
            Peer& peer = peers_.find(known->second)->second;
            peer.token = token;
            peer.route.local = from.local;
        }
        say({AddressMessage::Welcome, request.client, token}, from);
    }

    void forget_silent() {
        for (auto peer = peers_.begin(); peer != peers_.end();) {
            if (!peer->second.stay.is_over(now_, {settings_.handshake_ms, settings_.forget_ms})) {
                ++peer;
                continue;
            }
            peer_slots_.give_back(key_of(peer->second.route.remote.address()));
            endpoints_.erase(peer->second.route.remote);
            peer = peers_.erase(peer);
            ++stats_.peers_forgotten;
        }
    }

    // A client.

    void ask() {
        Peer& server = peers_.begin()->second;
        const std::int64_t silent_us = now_.microseconds - server.stay.heard_us();
        if (is_welcome_ && server.stay.is_over(now_, {})) {
            is_welcome_ = is_wanted_ = false;
            server.stay = PeerStay(now_);
            ++stats_.peers_forgotten;
        }
        const bool is_to_ask =
            is_welcome_ ? !server.stay.is_closing() && silent_us >= silence_us : is_wanted_;
        if (!is_to_ask || now_.microseconds < next_request_us_) {
            return;
        }
        next_request_us_ = now_.microseconds + request_us;
        say({AddressMessage::Request, client_, cookie_}, server_);
    }

    void take_answer(const AddressHandshake& handshake, const udp::endpoint& from) {
        Peer& server = peers_.begin()->second;
        const bool is_answer =
            handshake.client == client_ && handshake.message != AddressMessage::Request;
        if (!is_answer) {
            ++stats_.dropped_malformed;
        } else if (from != server_.remote) {
            ++stats_.dropped_malformed;
            answers_.strayed(kind, text_of(server_.remote), text_of(from));
        } else if (handshake.message == AddressMessage::Welcome) {
            stats_.peers_welcomed += is_welcome_ ? 0u : 1u;
            is_welcome_ = true;
            server.token = handshake.cookie;
            server.stay.hear(now_);
        } else {
            // At once, but no more than one request for each answer.
            cookie_ = handshake.cookie;
            say({AddressMessage::Request, client_, cookie_}, server_);
        }
    }

    void say(const AddressHandshake& handshake, const DatagramRoute& to) {
        std::array<std::byte, address_request_bytes> bytes;
        send_to(to, write_address_handshake(handshake, bytes));
    }

    UdpSettings settings_;
    AddressCookie cookies_;
    DatagramSocket socket_;
    std::vector<std::byte> buffer_;
    std::pmr::map<udp::endpoint, PeerId> endpoints_;
    std::pmr::map<PeerId, Peer> peers_;
    PeerSlots peer_slots_;
    SocketStats stats_;
    DriveWatch watch_;
    NetTime now_;
    std::uint64_t last_peer_ = 0;
    std::int64_t next_sweep_us_ = std::numeric_limits<std::int64_t>::min();
    std::uint32_t datagrams_left_ = 0;
    bool is_server_;

    DatagramRoute server_;
    AnswerWatch answers_;
    std::uint64_t client_;
    std::uint64_t cookie_ = 0;
    std::int64_t next_request_us_ = std::numeric_limits<std::int64_t>::min();
    bool is_welcome_ = false;
    bool is_wanted_ = true;  // somebody wants to send
};

Result<std::unique_ptr<UdpTransport>> UdpTransport::listen(std::string_view address,
                                                           const UdpSettings& settings) {
    return Socket::start(address, settings, true);
}

Result<std::unique_ptr<UdpTransport>> UdpTransport::connect(std::string_view address,
                                                            const UdpSettings& settings) {
    return Socket::start(address, settings, false);
}

}  // namespace replayout
