// SPDX-License-Identifier: MIT
//
// A transport with clients behind it that only pretend: they join, acknowledge every packet in the
// tick in which it was sent, and throw away what it holds. So the time of a tick is the server's
// own, and a benchmark may have a hundred connections without a hundred clients to pay for.
//
//     tick_flush      send()      of each datagram the packet header is noted, the rest is dropped;
//                                 that costs the server a copy of 39 bytes, and the first one of a
//                                 tick a look at the clock
//     (clock stops)   answer()    each client reads its headers and lays one packet of acks ready
//     tick_dispatch   receive()   hands them out
//
// Nothing is made up: the acks are those of a PacketNotify of each client's own.
#pragma once

#include <replayout/netdriver/net_driver_settings.h>
#include <replayout/netdriver/packet_notify.h>
#include <replayout/netdriver/transport.h>
#include <replayout/rep_layout.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace replayout::bench {

/// The datagram that a client of a server with this one layout says hello with: session and schema
/// are in it, so a real client writes it.
[[nodiscard]] std::vector<std::byte> make_hello(const RepLayout& layout);
/// The same of a server with all of these, in this order; `settings` are the server's.
[[nodiscard]] std::vector<std::byte> make_hello(std::span<const RepLayout* const> layouts,
                                                const NetDriverSettings& settings);

class ScriptedClients final : public Transport {
  public:
    /// The clients are peers 2 to `count` + 1, and each says `hello` at once. With `is_concurrent`
    /// jobs may call it (Transport::is_concurrent), each for clients of its own; packets are
    /// answered client by client then.
    ScriptedClients(std::uint32_t count, std::span<const std::byte> hello,
                    bool is_concurrent = false);

    /// Acknowledges what was sent since the last call, client by client, but for what is lost.
    void answer();
    /// Clients do not get so many of the packets that are answered from now on. 0 to 1, at random,
    /// and the same each time that this is called. Acks are never lost.
    void set_loss(double loss) noexcept {
        loss_ = loss;
        random_state_ = 1;
    }

    [[nodiscard]] std::span<const PeerId> peers() const noexcept { return peers_; }

    struct Packet {
        std::uint32_t client = 0;  ///< from 0 on
        std::uint32_t bytes = 0;
    };

    /// Those of the last tick that was answered, as they were sent.
    [[nodiscard]] std::span<const Packet> packets() const noexcept { return packets_; }
    /// When the first one of that tick was sent; where there is none, of an earlier tick.
    [[nodiscard]] std::chrono::steady_clock::time_point first_packet_at() const noexcept {
        return first_packet_at_;
    }
    /// Packets that no client could read: the server must never send one.
    [[nodiscard]] std::uint64_t packets_refused() const noexcept { return packets_refused_; }

    [[nodiscard]] bool is_concurrent() const noexcept override { return is_concurrent_; }

    [[nodiscard]] std::size_t datagram_bytes_max() const noexcept override { return 1'200; }
    void send(PeerId peer, std::span<const std::byte> datagram) override;
    [[nodiscard]] std::size_t receive(PeerId& peer, std::span<std::byte> buffer) override;

  private:
    static constexpr std::uint64_t first_peer = 2;

    /// The front of a packet from or to a peer: the header, and of an answer there is no more.
    struct PacketFront {
        PeerId peer;
        std::size_t size = 0;  // of the whole packet
        std::array<std::byte, packet_header_bytes_max> bytes;
    };
    struct Client {
        PacketNotify notify;
        bool owes_ack = false;
        std::size_t sent_count = 0;  ///< where that is kept by client
    };

    [[nodiscard]] bool is_lost() noexcept;
    [[nodiscard]] std::uint32_t index_of(PeerId peer) const noexcept {
        return static_cast<std::uint32_t>(peer.value - first_peer);
    }
    /// Null: more than the windows of all clients hold, or that of this one.
    [[nodiscard]] PacketFront* place_of(PeerId peer) noexcept;
    /// The first of a tick, a short one, or one of several threads.
    void send_other(PeerId peer, std::span<const std::byte> datagram);
    void take(const PacketFront& sent);
    void lay_ready(PeerId peer, Client& client);

    std::vector<PeerId> peers_;
    std::vector<Client> clients_;
    std::vector<PacketFront> sent_;  // room for the whole window of every client
    std::size_t sent_count_ = 0;
    bool is_concurrent_;  // then each client has a part of that room
    std::atomic<bool> is_first_sent_{false};
    std::vector<Packet> packets_;
    std::chrono::steady_clock::time_point first_packet_at_;
    std::vector<PacketFront> answers_;
    std::size_t next_answer_ = 0;
    std::vector<std::byte> hello_;
    std::uint32_t hello_count_ = 0;  // clients that have said it
    std::atomic<std::uint64_t> packets_refused_{0};
    double loss_ = 0;
    std::uint64_t random_state_ = 1;
};

}  // namespace replayout::bench
