// SPDX-License-Identifier: MIT
#include "match/guests/socket_network.h"

#include "match/guests/match_sockets.h"
#include "match/session/buffered_transport.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace replayout::match {

namespace {

using Clock = std::chrono::steady_clock;

/// How long real time may take for what was sent to arrive; what has not by then is lost.
constexpr auto arrival_max = std::chrono::seconds(1);
constexpr auto connect_max = std::chrono::seconds(10);
constexpr auto pause = std::chrono::microseconds(50);

/// A socket whose peers have the numbers that they have in every MatchNetwork.
class Endpoint final : public Transport {
  public:
    explicit Endpoint(std::unique_ptr<SocketTransport> socket) : socket_(std::move(socket)) {}

    [[nodiscard]] SocketTransport& socket() noexcept { return *socket_; }
    void name_peer(PeerId at_socket, PeerId peer) {
        names_[at_socket] = peer;
        peers_[peer] = at_socket;
    }
    /// All that was sent and did not go to nobody.
    [[nodiscard]] std::uint64_t sent_count() const noexcept { return sent_; }
    [[nodiscard]] std::uint64_t arrived_count() const noexcept { return arrived_; }
    void forget_lost(std::uint64_t count) noexcept { arrived_ += count; }

    /// What has arrived at the socket is taken from it.
    void drain(NetTime now) {
        socket_->tick(now);
        PeerId from;
        for (std::size_t size = socket_->receive(from, buffer_);
             size != Transport::nothing_received; size = socket_->receive(from, buffer_)) {
            const auto known = names_.find(from);
            if (known != names_.end()) {
                ++arrived_;
                arriving_.add(known->second, std::span(buffer_).first(size));
            }
        }
    }
    /// What was drained is there to be received, in the order of peers: which of several sockets
    /// was read first is chance.
    void deliver() {
        if (next_ == inbox_.size()) {
            inbox_bytes_.clear();
            inbox_.clear();
            next_ = 0;
            std::swap(inbox_bytes_, arriving_);
            inbox_ = inbox_bytes_.entries();
            std::stable_sort(inbox_.begin(), inbox_.end(),
                             [](const auto& a, const auto& b) { return a.peer < b.peer; });
        }
    }

    [[nodiscard]] std::size_t datagram_bytes_max() const noexcept override {
        return socket_->datagram_bytes_max();
    }
    void send(PeerId peer, std::span<const std::byte> datagram) override {
        const std::uint64_t errors = socket_->stats().send_errors;
        socket_->send(peers_.at(peer), datagram);
        sent_ += socket_->stats().send_errors == errors ? 1u : 0u;
    }
    [[nodiscard]] std::size_t receive(PeerId& peer, std::span<std::byte> buffer) override {
        if (next_ == inbox_.size()) {
            return nothing_received;
        }
        return inbox_bytes_.give(inbox_[next_++], peer, buffer);
    }

  private:
    std::unique_ptr<SocketTransport> socket_;
    std::map<PeerId, PeerId> names_;  // by what the socket calls them
    std::map<PeerId, PeerId> peers_;
    DatagramList arriving_;
    DatagramList inbox_bytes_;
    std::vector<DatagramList::Entry> inbox_;
    std::size_t next_ = 0;
    std::uint64_t sent_ = 0;
    std::uint64_t arrived_ = 0;
    std::array<std::byte, 2'048> buffer_{};
};

class SocketNetwork final : public MatchNetwork {
  public:
    [[nodiscard]] Status open(MatchTransport transport, std::uint32_t clients) {
        auto server = listen_at(transport, "127.0.0.1:0");
        if (!server) {
            return server.error();
        }
        const std::string address = (*server)->local_address();
        server_ = std::make_unique<Endpoint>(*std::move(server));
        for (std::uint32_t i = 0; i < clients; ++i) {
            auto client = connect_to(transport, address);
            if (!client) {
                return client.error();
            }
            clients_.push_back(std::make_unique<Endpoint>(*std::move(client)));
            if (!introduce(i)) {
                return Error{ErrorCode::InvalidArgument,
                             "client " + std::to_string(i) + " does not reach " + address};
            }
        }
        return {};
    }

    [[nodiscard]] Transport& endpoint(PeerId peer) override {
        return peer == server_peer ? *server_ : *clients_[peer.value - client_peer(0).value];
    }
    void heal() override {}

    void advance(NetTime now) override {
        const auto end = Clock::now() + arrival_max;
        for_each_endpoint([](Endpoint& endpoint) { endpoint.socket().flush(); });
        for (;;) {
            std::uint64_t sent = 0;
            std::uint64_t arrived = 0;
            for_each_endpoint([&](Endpoint& endpoint) {
                endpoint.drain({begin_.microseconds + now.microseconds});
                sent += endpoint.sent_count();
                arrived += endpoint.arrived_count();
            });
            if (arrived >= sent) {
                break;
            }
            if (Clock::now() > end) {
                server_->forget_lost(sent - arrived);
                break;
            }
            for_each_endpoint([](Endpoint& endpoint) { endpoint.socket().flush(); });
            std::this_thread::sleep_for(pause);
        }
        for_each_endpoint([](Endpoint& endpoint) { endpoint.deliver(); });
    }

  private:
    template <typename Call>
    void for_each_endpoint(Call&& call) {
        call(*server_);
        for (const auto& client : clients_) {
            call(*client);
        }
    }

    /// Connects a client, and finds out how server and client call each other. This takes real
    /// time; that of the match begins behind it.
    [[nodiscard]] bool introduce(std::uint32_t index) {
        Endpoint& client = *clients_[index];
        const auto end = Clock::now() + connect_max;
        std::array<std::byte, 2'048> buffer{};
        bool has_spoken = false;
        while (Clock::now() < end) {
            const auto passed = Clock::now() - opened_;
            const NetTime now{
                std::chrono::duration_cast<std::chrono::microseconds>(passed).count()};
            begin_ = now;
            client.socket().tick(now);
            PeerId from;
            (void)client.socket().receive(from, buffer);  // reads what the server answers
            if (client.socket().is_connected() && !std::exchange(has_spoken, true)) {
                client.socket().send(client.socket().server(), std::array<std::byte, 1>{});
                client.socket().flush();
            }
            server_->socket().tick(now);
            if (server_->socket().receive(from, buffer) != Transport::nothing_received) {
                server_->name_peer(from, client_peer(index));
                client.name_peer(client.socket().server(), server_peer);
                return true;
            }
            server_->socket().flush();
            client.socket().flush();
            std::this_thread::sleep_for(pause);
        }
        return false;
    }

    Clock::time_point opened_ = Clock::now();
    NetTime begin_;  // of the match, on the clock that the sockets are told
    std::unique_ptr<Endpoint> server_;
    std::vector<std::unique_ptr<Endpoint>> clients_;
};

}  // namespace

Result<std::unique_ptr<MatchNetwork>> make_socket_network(MatchTransport transport,
                                                          std::uint32_t clients) {
    auto network = std::make_unique<SocketNetwork>();
    if (const Status opened = network->open(transport, clients); !opened) {
        return opened.error();
    }
    return std::unique_ptr<MatchNetwork>(std::move(network));
}

}  // namespace replayout::match
