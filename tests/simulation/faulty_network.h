// SPDX-License-Identifier: MIT
//
// The network of a simulation: datagrams in memory on a virtual clock, and everything that may
// happen to them. It is told what by rows of choices, one a tick, so that what happened in a tick
// can be taken away and the rest stays. SimulatedNetwork, the library's, draws from a stream for
// each link, and knows no corruption, no forgery and no partition.
//
// Beneath the driver a checksum guards each datagram, as UDP has it and a secure transport even
// more: one that was damaged on the way is counted and dropped. A link may be hostile instead: then
// what is sent over it is damaged and arrives.
#pragma once

#include "simulation/swarm.h"
#include "support/checks/byte_dump.h"

#include <replayout/netdriver/time.h>
#include <replayout/netdriver/transport.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace replayout::test {

struct FaultCounts {
    std::uint64_t sent = 0;
    std::uint64_t bytes = 0;
    std::uint64_t delivered = 0;
    std::uint64_t lost = 0;  ///< by itself or in a burst
    std::uint64_t duplicated = 0;
    std::uint64_t delayed = 0;  ///< by a spike
    std::uint64_t corrupt = 0;  ///< damaged, and dropped for its checksum
    std::uint64_t parted = 0;   ///< a partition was in between
    std::uint64_t tail_dropped = 0;
    std::uint64_t replayed = 0;
    std::uint64_t unreachable = 0;
    std::uint64_t overrun = 0;  ///< a receive queue was full
    std::uint64_t hostile = 0;  ///< changed after the checksum, by who sent it

    void add(const FaultCounts& other);
};

class FaultyNetwork {
  public:
    static constexpr std::size_t datagram_bytes_max = 1'400;

    FaultyNetwork(const LinkFaults& to_client, const LinkFaults& to_server, PeerId server)
        : to_client_(to_client), to_server_(to_server), server_(server) {}

    /// Lives as long as the network. Connected again if it was not.
    [[nodiscard]] Transport& endpoint(PeerId peer);
    /// It is not there any more, and forgets what waits for it. What it sent arrives.
    void disconnect(PeerId peer);
    /// From now on the server sees the endpoint `peer` at another address, and nobody at the last.
    void rebind(PeerId peer, PeerId address);
    /// The address by which the server knows it.
    [[nodiscard]] PeerId address_of(PeerId peer) const;

    /// Time goes on: what is due arrives. `row` decides about all that is sent from now on.
    void advance(NetTime now, Choices row);
    /// A datagram of the past arrives once more, from wherever the row says.
    void replay();

    /// Nothing arrives over this direction while it is parted.
    void set_parted(PeerId client, bool is_to_client, bool is_to_server);
    void set_faults(const LinkFaults& to_client, const LinkFaults& to_server);
    /// What this peer sends is damaged after its checksum was made. Per mille; 0: no more.
    void set_hostile(PeerId peer, std::uint32_t per_mille);
    void set_queue_max(PeerId peer, std::size_t datagrams) {
        endpoint_of(peer).queue_max = datagrams;
    }
    /// Taken by whoever is there.
    [[nodiscard]] std::uint64_t received_by(PeerId peer) { return endpoint_of(peer).received; }
    /// No faults any more. What is under way stays under way.
    void heal();
    /// The last of what is under way arrives then.
    [[nodiscard]] NetTime last_due() const;

    [[nodiscard]] const FaultCounts& counts() const noexcept { return counts_; }

    /// Called with each datagram that is sent, before anything happens to it.
    std::function<void(PeerId from, PeerId to, std::span<const std::byte>)> on_sent;

  private:
    class Endpoint final : public Transport {
      public:
        Endpoint(FaultyNetwork& network, PeerId self) : network_(network), self_(self) {}

        [[nodiscard]] std::size_t datagram_bytes_max() const noexcept override {
            return FaultyNetwork::datagram_bytes_max;
        }
        void send(PeerId peer, std::span<const std::byte> datagram) override {
            network_.send(self_, peer, datagram);
        }
        [[nodiscard]] std::size_t receive(PeerId& peer, std::span<std::byte> buffer) override;

        std::deque<std::pair<PeerId, Bytes>> arrived;
        std::size_t queue_max = 2'048;
        std::uint64_t received = 0;
        bool is_connected = true;
        std::uint32_t hostile_per_mille = 0;
        PeerId address;  ///< as the server sees it

      private:
        FaultyNetwork& network_;
        PeerId self_;
    };
    struct Link {
        std::uint32_t burst_left = 0;
        NetTime busy_until;  ///< the bottleneck
        bool is_parted = false;
    };
    struct Flight {
        PeerId from;  ///< addresses
        PeerId to;
        Bytes bytes;
        std::uint64_t checksum = 0;
    };
    using Due = std::pair<NetTime, std::uint64_t>;  // and the order of sending

    [[nodiscard]] Endpoint& endpoint_of(PeerId peer);
    void send(PeerId from, PeerId to, std::span<const std::byte> datagram);
    [[nodiscard]] bool passes(Link& link, const LinkFaults& faults, std::size_t bytes,
                              std::int64_t& wait_us);
    void fly(const Flight& flight, const LinkFaults& faults, std::int64_t wait_us);
    /// From this byte on.
    void damage(Bytes& bytes, std::size_t first);
    void remember(const Flight& flight);
    void deliver(const Flight& flight);

    LinkFaults to_client_;
    LinkFaults to_server_;
    PeerId server_;
    NetTime now_;
    Choices row_{Choices({})};
    std::map<PeerId, Endpoint> endpoints_;
    std::map<PeerId, PeerId> owners_of_addresses_;
    std::map<PeerId, PeerId> senders_;                 ///< of all addresses that there ever were
    std::map<std::pair<PeerId, PeerId>, Link> links_;  // by endpoints
    std::map<Due, Flight> flights_;
    std::vector<Flight> past_;
    std::uint64_t order_ = 0;
    FaultCounts counts_;
};

}  // namespace replayout::test
