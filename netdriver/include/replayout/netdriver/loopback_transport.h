// SPDX-License-Identifier: MIT
//
// A network in memory: what one endpoint sends waits in the queue of the other at once. Nothing is
// lost while there is room, nothing changes its order. For tests, examples, split-screen and a
// server with a player of its own.
//
//     LoopbackNetwork network({}, memory);
//     Transport& server = network.endpoint(PeerId{1});
//     Transport& client = network.endpoint(PeerId{2});
//     client.send(PeerId{1}, datagram);        // server.receive() yields it, from peer 2
//
// A network and its endpoints belong to one thread. For loss and delay see simulated_network.h.
#pragma once

#include <replayout/netdriver/datagram_pool.h>
#include <replayout/netdriver/transport.h>
#include <replayout/reflection/memory.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <span>

namespace replayout {

struct LoopbackSettings {
    std::size_t datagram_bytes_max = 1200;
    /// Datagrams that wait at one endpoint; more are dropped. 2048 = 32 clients x 64 in a tick.
    std::size_t queue_datagrams_max = 2048;
};

/// Counted since the network was made.
struct LoopbackStats {
    std::uint64_t datagrams_sent = 0;
    std::uint64_t datagrams_received = 0;
    /// The queue of the receiver was full.
    std::uint64_t datagrams_dropped_full = 0;
    /// There is no such receiver.
    std::uint64_t datagrams_dropped_unreachable = 0;
};

class LoopbackNetwork {
  public:
    /// `memory` is on loan and outlives the network. It grows with the most datagrams that ever
    /// waited at one time and is given back at the end.
    LoopbackNetwork(const LoopbackSettings& settings, MemoryResource* memory);

    LoopbackNetwork(const LoopbackNetwork&) = delete;
    LoopbackNetwork& operator=(const LoopbackNetwork&) = delete;

    /// The endpoint of this peer, made at the first call. It lives as long as the network.
    [[nodiscard]] Transport& endpoint(PeerId peer);

    [[nodiscard]] const LoopbackStats& stats() const noexcept { return stats_; }

  private:
    class Endpoint final : public Transport {
      public:
        Endpoint(LoopbackNetwork& network, PeerId self) noexcept;

        [[nodiscard]] std::size_t datagram_bytes_max() const noexcept override;
        void send(PeerId peer, std::span<const std::byte> datagram) override;
        [[nodiscard]] std::size_t receive(PeerId& peer, std::span<std::byte> buffer) override;

      private:
        friend class LoopbackNetwork;

        LoopbackNetwork& network_;
        PeerId self_;
        DatagramQueue arrived_;
    };

    LoopbackSettings settings_;
    LoopbackStats stats_;
    DatagramPool pool_;
    // Endpoints are handed out by reference, so they must not move.
    std::pmr::map<PeerId, Endpoint> endpoints_;
};

}  // namespace replayout
