// SPDX-License-Identifier: MIT
//
// A network in memory that behaves badly, by settings and from a seed, on a virtual clock. The same
// seed and the same calls give the same deliveries on every compiler and machine: probabilities are
// integer thresholds, times are whole microseconds, and the only engine is std::mt19937_64.
//
// Each pair (from, to) is a link of its own, with its own settings and its own random stream, made
// from (seed, from, to). What a datagram meets on its way, in this order:
//
//     send --> queue of the bottleneck --> loss --> duplication --> delay --> receive queue
//              bandwidth, tail drop                 latency, jitter, reorder
//
//   - Every datagram sent takes the same number of draws, whatever the settings. So the fate of a
//     link's n-th datagram depends on seed, link and n alone: a further client, more latency or a
//     narrower bottleneck leave the loss pattern of a link as it was.
//   - Loss is independent, or in bursts by a two-state (Gilbert-Elliott) chain whose bad state is
//     total loss. The chain takes one step for each datagram sent.
//   - Jitter alone keeps the order of a link: nothing is delivered before what was sent earlier. So
//     datagrams closer together than the jitter wait for each other. Real jitter may reorder; here
//     only `reorder` does, so that each can be had without the other: a datagram so chosen takes
//     its place in the order and is then held back without holding back those behind it.
//   - A duplicate is a second copy with a delay of its own, made after the bottleneck.
//   - advance() delivers what is due, by (time, order of sending). Between calls time stands still.
//
// A network and its endpoints belong to one thread.
#pragma once

#include <replayout/netdriver/datagram_pool.h>
#include <replayout/netdriver/time.h>
#include <replayout/netdriver/transport.h>
#include <replayout/reflection/memory.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory_resource>
#include <random>
#include <span>

namespace replayout {

/// How one direction between two endpoints behaves. The default is perfect: nothing lost, no delay.
/// Probabilities are 0 to 1; times are rounded to microseconds and at most one hour, jitter less
/// than half of one.
struct LinkSettings {
    /// Share of datagrams lost on the way, over a long time.
    double loss = 0;
    /// Mean number of datagrams lost in a row. Up to 1: losses are independent. Where loss / (1 -
    /// loss) is above it, both cannot be had: the rate holds, and bursts are longer.
    double burst_packets = 0;
    /// Probability of a second copy.
    double duplicate = 0;
    /// Probability of being held back, uniformly up to reorder_ms, so that later ones may overtake.
    double reorder = 0;
    double reorder_ms = 100;
    /// Delay is uniform in latency +- jitter, and not below 0.
    double latency_ms = 0;
    double jitter_ms = 0;
    /// Rate of the bottleneck, datagram payload only. 0: none. At most 10^12.
    std::uint64_t bandwidth_bytes_per_second = 0;
    /// What may wait at the bottleneck, the datagram on the wire included; what would exceed it is
    /// dropped. An idle link takes any datagram. At most 10^12.
    std::uint64_t queue_bytes = 65536;
};

struct SimulatedNetworkSettings {
    /// Every link, until set_settings() says otherwise.
    LinkSettings link;
    std::size_t datagram_bytes_max = 1200;
    /// Datagrams that wait at one endpoint to be received; more are dropped.
    std::size_t receive_queue_datagrams_max = 2048;
};

/// Counted since the network was made. What was sent or duplicated is delivered, dropped or in
/// flight: sent + duplicated == delivered + lost + the four dropped + in flight.
struct SimulatedNetworkStats {
    std::uint64_t packets_sent = 0;
    std::uint64_t bytes_sent = 0;
    /// Put into the receive queue of an endpoint.
    std::uint64_t packets_delivered = 0;
    std::uint64_t bytes_delivered = 0;
    /// By LinkSettings::loss.
    std::uint64_t packets_lost = 0;
    /// The queue of the bottleneck was full.
    std::uint64_t packets_dropped_bandwidth = 0;
    /// The receive queue was full.
    std::uint64_t packets_dropped_receiver = 0;
    /// On arrival there was no such endpoint, or it was disconnected.
    std::uint64_t packets_dropped_unreachable = 0;
    /// Sent by an endpoint that was disconnected.
    std::uint64_t packets_dropped_sender = 0;
    std::uint64_t packets_duplicated = 0;
    /// Reached the other end after one that was sent later.
    std::uint64_t packets_reordered = 0;
    /// On the way now.
    std::uint64_t packets_in_flight = 0;
};

class SimulatedNetwork {
  public:
    /// `memory` is on loan and outlives the network. It grows with peers, links and the most
    /// datagrams that were ever under way or waiting at one time. The clock starts at 0.
    SimulatedNetwork(const SimulatedNetworkSettings& settings, std::uint64_t seed,
                     MemoryResource* memory);

    SimulatedNetwork(const SimulatedNetwork&) = delete;
    SimulatedNetwork& operator=(const SimulatedNetwork&) = delete;

    /// The endpoint of this peer, made or connected again if need be. Lives as long as the network.
    [[nodiscard]] Transport& endpoint(PeerId peer);

    /// The endpoint forgets what waits for it and stays silent until endpoint() is called again.
    /// What it sent before still arrives, and what is on the way to it does if it is back by then.
    void disconnect(PeerId peer);

    /// Moves the clock, never back, and delivers everything due by then.
    void advance(NetTime now);

    [[nodiscard]] NetTime now() const noexcept { return now_; }

    /// From now on, for every link there is or will be. What is on the way stays as it is.
    void set_settings(const LinkSettings& settings);

    /// From now on, for the one direction.
    void set_settings(PeerId from, PeerId to, const LinkSettings& settings);

    /// From now on the network is perfect. What is on the way arrives as it would have, and what is
    /// sent afterwards does not overtake it.
    void heal() { set_settings(LinkSettings{}); }

    [[nodiscard]] const SimulatedNetworkStats& stats() const noexcept { return stats_; }

  private:
    /// LinkSettings in the numbers that are computed with. Probabilities are thresholds for a draw
    /// of 63 bits.
    struct LinkModel {
        std::uint64_t loss = 0;
        bool bursts = false;
        std::uint64_t burst_begin = 0;
        std::uint64_t burst_end = 0;
        std::uint64_t duplicate = 0;
        std::uint64_t reorder = 0;
        std::uint64_t reorder_us = 0;
        std::uint64_t latency_us = 0;
        std::uint64_t jitter_us = 0;
        std::uint64_t bytes_per_second = 0;
        std::uint64_t queue_bytes = 0;
    };

    struct LinkId {
        PeerId from;
        PeerId to;

        friend constexpr auto operator<=>(const LinkId&, const LinkId&) noexcept = default;
    };

    /// What the draws decided about one copy of a datagram.
    struct CopyFate {
        std::uint64_t delay_us = 0;
        std::uint64_t held_back_us = 0;
    };

    struct PacketFate {
        bool lost = false;
        bool duplicated = false;
        CopyFate original;
        CopyFate duplicate;
    };

    struct Link {
        Link(const LinkModel& link_model, std::uint64_t link_seed);

        [[nodiscard]] PacketFate draw_fate();
        [[nodiscard]] bool draw_loss();
        [[nodiscard]] CopyFate draw_copy();
        [[nodiscard]] bool pass_bottleneck(NetTime now, std::size_t bytes, std::uint64_t& wait_us);

        LinkModel model;
        std::mt19937_64 random;
        bool in_burst = false;
        /// Bytes at the bottleneck times 10^6, as of backlog_time: what drains in a microsecond is
        /// then a whole number.
        std::uint64_t backlog = 0;
        NetTime backlog_time;
        /// When the last datagram that keeps the order is due.
        NetTime last_due{std::numeric_limits<std::int64_t>::min()};
        std::uint64_t packets_sent = 0;
        std::uint64_t highest_arrived = 0;
    };

    struct Arrival {
        NetTime due;
        std::uint64_t order = 0;
        std::uint64_t packet_number = 0;
        Link* link = nullptr;
        PeerId to;
        DatagramSlot slot = DatagramSlot::None;
    };

    class Endpoint final : public Transport {
      public:
        Endpoint(SimulatedNetwork& network, PeerId self) noexcept;

        [[nodiscard]] std::size_t datagram_bytes_max() const noexcept override;
        void send(PeerId peer, std::span<const std::byte> datagram) override;
        [[nodiscard]] std::size_t receive(PeerId& peer, std::span<std::byte> buffer) override;

      private:
        friend class SimulatedNetwork;

        SimulatedNetwork& network_;
        PeerId self_;
        bool connected_ = true;
        DatagramQueue arrived_;
    };

    [[nodiscard]] static LinkModel make_model(const LinkSettings& settings);
    [[nodiscard]] static bool is_later(const Arrival& a, const Arrival& b) noexcept;
    [[nodiscard]] Link& link_between(PeerId from, PeerId to);
    void send(PeerId from, PeerId to, std::span<const std::byte> datagram);
    void schedule(Link& link, LinkId ends, std::span<const std::byte> datagram,
                  std::uint64_t wait_us, const CopyFate& fate);
    void deliver(const Arrival& arrival);

    SimulatedNetworkSettings settings_;
    std::uint64_t seed_;
    NetTime now_;
    bool has_begun_ = false;  // before that it knows of no clock
    LinkModel default_model_;
    SimulatedNetworkStats stats_;
    DatagramPool pool_;
    // Both are referred to by address, so their elements must not move.
    std::pmr::map<PeerId, Endpoint> endpoints_;
    std::pmr::map<LinkId, Link> links_;
    // A heap: the front is due first.
    Vector<Arrival> arrivals_;
    std::uint64_t arrival_order_ = 0;
};

}  // namespace replayout
