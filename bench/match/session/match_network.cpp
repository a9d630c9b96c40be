// SPDX-License-Identifier: MIT
#include "match/session/match_network.h"

#include "match/guests/socket_network.h"

#include <replayout/netdriver/simulated_network.h>

#include <memory_resource>
#include <utility>

namespace replayout::match {

namespace {

[[nodiscard]] SimulatedNetworkSettings settings_of(const MatchOptions& options) {
    SimulatedNetworkSettings settings;
    settings.link.loss = options.loss;
    settings.link.burst_packets = options.burst_packets;
    settings.link.duplicate = options.duplicate;
    settings.link.reorder = options.reorder;
    settings.link.latency_ms = options.latency_ms;
    settings.link.jitter_ms = options.jitter_ms;
    settings.link.bandwidth_bytes_per_second = options.bandwidth_bytes_per_second;
    return settings;
}

class Simulation final : public MatchNetwork {
  public:
    explicit Simulation(const MatchOptions& options)
        : network_(settings_of(options), options.seed, std::pmr::get_default_resource()) {}

    [[nodiscard]] Transport& endpoint(PeerId peer) override { return network_.endpoint(peer); }
    void advance(NetTime now) override { network_.advance(now); }
    void heal() override { network_.heal(); }

  private:
    SimulatedNetwork network_;
};

}  // namespace

Result<std::unique_ptr<MatchNetwork>> make_network(const MatchOptions& options) {
    if (options.transport != MatchTransport::Loopback) {
        return make_socket_network(options.transport, options.clients);
    }
    return std::unique_ptr<MatchNetwork>(std::make_unique<Simulation>(options));
}

}  // namespace replayout::match
