// SPDX-License-Identifier: MIT
#include "support/scripted_clients.h"

#include "support/dropping_transport.h"

#include <replayout/netdriver/net_driver.h>
#include <replayout/reflection/diagnostics.h>

#include <algorithm>
#include <cstring>

namespace replayout::bench {

namespace {

/// Keeps the one datagram that is sent.
class HelloTransport final : public DroppingTransport {
  public:
    void send(PeerId, std::span<const std::byte> datagram) override {
        hello.assign(datagram.begin(), datagram.end());
    }

    std::vector<std::byte> hello;
};

class EmptyWorld final : public NetWorld {
  public:
    [[nodiscard]] void* object_memory(ObjectHandle) override { return nullptr; }
    [[nodiscard]] ObjectHandle spawn(const SpawnInfo&) override { return {}; }
    void despawn(ObjectHandle, ChannelCloseReason) override {}
};

class DeafHandler final : public PacketNotifyHandler {
  public:
    void packet_delivered(std::uint64_t) override {}
    void packet_lost(std::uint64_t) override {}
};

[[nodiscard]] PacketNotifySettings notify_settings(std::span<const std::byte> hello) {
    PacketHeader header;
    const std::size_t header_bytes = read_packet_header(hello, header);
    REPLAYOUT_ASSERT(header_bytes > 0);
    (void)header_bytes;
    PacketNotifySettings settings;
    settings.session = header.session;
    return settings;
}

}  // namespace

std::vector<std::byte> make_hello(const RepLayout& layout) {
    const RepLayout* const layouts[] = {&layout};
    return make_hello(layouts, {});
}

std::vector<std::byte> make_hello(std::span<const RepLayout* const> layouts,
                                  const NetDriverSettings& settings) {
    HelloTransport transport;
    EmptyWorld world;
    NetDriver client(settings, transport, world);
    for (const RepLayout* layout : layouts) {
        if (!client.add_layout(*layout)) {
            return {};
        }
    }
    if (!client.connect(PeerId{1}, NetTime{})) {
        return {};
    }
    client.tick_flush(NetTime{});
    return transport.hello;
}

ScriptedClients::ScriptedClients(std::uint32_t count, std::span<const std::byte> hello,
                                 bool is_concurrent)
    : clients_(count, Client{PacketNotify(notify_settings(hello))}),
      is_concurrent_(is_concurrent),
      hello_(hello.begin(), hello.end()) {
    // Enough for the whole window of every client: nothing is allocated while the clock runs.
    sent_.resize(std::size_t{count} * packets_in_flight_max);
    packets_.reserve(sent_.size());
    answers_.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        peers_.push_back(PeerId{first_peer + i});
    }
    for (Client& client : clients_) {
        (void)client.notify.commit_send(client.notify.next_header());  // the hello
    }
}

ScriptedClients::PacketFront* ScriptedClients::place_of(PeerId peer) noexcept {
    if (is_concurrent_) {
        const std::uint32_t index = index_of(peer);
        std::size_t& count = clients_[index].sent_count;
        return count < packets_in_flight_max
                   ? &sent_[std::size_t{index} * packets_in_flight_max + count++]
                   : nullptr;
    }
    return sent_count_ < sent_.size() ? &sent_[sent_count_++] : nullptr;
}

void ScriptedClients::send(PeerId peer, std::span<const std::byte> datagram) {
    // Of what this costs nothing is the server's: most packets take the short way.
    if (!is_concurrent_ && sent_count_ > 0 && sent_count_ < sent_.size() &&
        datagram.size() >= packet_header_bytes_max) {
        PacketFront& sent = sent_[sent_count_++];
        sent.peer = peer;
        sent.size = datagram.size();
        std::memcpy(sent.bytes.data(), datagram.data(), packet_header_bytes_max);
        return;
    }
    send_other(peer, datagram);
}

void ScriptedClients::send_other(PeerId peer, std::span<const std::byte> datagram) {
    if (!is_first_sent_.load(std::memory_order_relaxed) && !is_first_sent_.exchange(true)) {
        first_packet_at_ = std::chrono::steady_clock::now();
    }
    PacketFront* const sent = place_of(peer);
    if (sent == nullptr) {
        ++packets_refused_;
        return;
    }
    sent->peer = peer;
    sent->size = datagram.size();
    std::memcpy(sent->bytes.data(), datagram.data(), std::min(datagram.size(), sent->bytes.size()));
}

void ScriptedClients::take(const PacketFront& sent) {
    DeafHandler handler;
    const std::uint32_t index = index_of(sent.peer);
    packets_.push_back({index, static_cast<std::uint32_t>(sent.size)});
    if (is_lost()) {
        return;
    }
    Client& client = clients_[index];
    PacketHeader header;
    const std::size_t front_bytes = std::min(sent.size, sent.bytes.size());
    const bool is_readable =
        read_packet_header(std::span(sent.bytes).first(front_bytes), header) > 0 &&
        client.notify.receive(header, handler) == PacketReceipt::Accepted;
    packets_refused_ += is_readable ? 0 : 1;
    client.owes_ack = client.owes_ack || header.ack_requested;
}

void ScriptedClients::answer() {
    packets_.clear();
    for (std::size_t i = 0; i < clients_.size(); ++i) {
        const std::span<const PacketFront> sent =
            std::span(sent_).subspan(i * packets_in_flight_max, clients_[i].sent_count);
        std::for_each(sent.begin(), sent.end(), [this](const PacketFront& front) { take(front); });
        clients_[i].sent_count = 0;
    }
    for (const PacketFront& front : std::span(sent_).first(sent_count_)) {
        take(front);
    }
    is_first_sent_ = false;
    sent_count_ = 0;
    answers_.clear();
    next_answer_ = 0;
    for (std::size_t i = 0; i < clients_.size(); ++i) {
        if (clients_[i].owes_ack) {
            lay_ready(PeerId{i + first_peer}, clients_[i]);
        }
    }
}

// Numerical Recipes' quick generator of 64 bits; its upper 32.
bool ScriptedClients::is_lost() noexcept {
    if (loss_ == 0) {
        return false;
    }
    random_state_ = random_state_ * 6'364'136'223'846'793'005 + 1'442'695'040'888'963'407;
    return static_cast<double>(random_state_ >> 32) < loss_ * 4'294'967'296.0;
}

void ScriptedClients::lay_ready(PeerId peer, Client& client) {
    if (!client.notify.can_probe()) {
        return;  // a whole window of acks that the server never answered
    }
    const PacketHeader header = client.notify.next_header();
    PacketFront& answer = answers_.emplace_back();
    answer.peer = peer;
    answer.size = write_packet_header(answer.bytes, header);
    (void)client.notify.commit_send(header);
    client.owes_ack = false;
}

std::size_t ScriptedClients::receive(PeerId& peer, std::span<std::byte> buffer) {
    if (hello_count_ < clients_.size()) {
        peer = PeerId{first_peer + hello_count_++};
        std::memcpy(buffer.data(), hello_.data(), hello_.size());
        return hello_.size();
    }
    if (next_answer_ == answers_.size()) {
        return nothing_received;
    }
    const PacketFront& answer = answers_[next_answer_++];
    peer = answer.peer;
    std::memcpy(buffer.data(), answer.bytes.data(), answer.size);
    return answer.size;
}

}  // namespace replayout::bench
