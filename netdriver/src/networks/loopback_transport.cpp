// SPDX-License-Identifier: MIT
#include <replayout/netdriver/loopback_transport.h>
#include <replayout/reflection/diagnostics.h>

namespace replayout {

LoopbackNetwork::LoopbackNetwork(const LoopbackSettings& settings, MemoryResource* memory)
    : settings_(settings), pool_(settings.datagram_bytes_max, memory), endpoints_(memory) {
    REPLAYOUT_ASSERT(settings.queue_datagrams_max > 0);
}

Transport& LoopbackNetwork::endpoint(PeerId peer) {
    REPLAYOUT_ASSERT(peer != PeerId{});
    return endpoints_.try_emplace(peer, *this, peer).first->second;
}

LoopbackNetwork::Endpoint::Endpoint(LoopbackNetwork& network, PeerId self) noexcept
    : network_(network), self_(self) {}

std::size_t LoopbackNetwork::Endpoint::datagram_bytes_max() const noexcept {
    return network_.settings_.datagram_bytes_max;
}

void LoopbackNetwork::Endpoint::send(PeerId peer, std::span<const std::byte> datagram) {
    REPLAYOUT_EXPECT(datagram.size() <= datagram_bytes_max(), void(),
                     "send: a datagram of %zu bytes, and datagram_bytes_max is %zu: send no larger "
                     "ones (Transport::datagram_bytes_max)",
                     datagram.size(), datagram_bytes_max());
    LoopbackStats& stats = network_.stats_;
    stats.datagrams_sent += 1;
    const auto found = network_.endpoints_.find(peer);
    if (found == network_.endpoints_.end()) {
        stats.datagrams_dropped_unreachable += 1;
        return;
    }
    DatagramQueue& queue = found->second.arrived_;
    if (queue.count() >= network_.settings_.queue_datagrams_max) {
        stats.datagrams_dropped_full += 1;
        return;
    }
    queue.push(network_.pool_, network_.pool_.take(self_, datagram));
}

std::size_t LoopbackNetwork::Endpoint::receive(PeerId& peer, std::span<std::byte> buffer) {
    const std::size_t size = arrived_.receive(network_.pool_, peer, buffer);
    if (size != nothing_received) {
        network_.stats_.datagrams_received += 1;
    }
    return size;
}

}  // namespace replayout
