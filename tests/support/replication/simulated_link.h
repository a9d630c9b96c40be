// SPDX-License-Identifier: MIT
//
// A link over a simulated network whose datagrams are numbered, and what can be said of them.
#pragma once

#include <replayout/netdriver/simulated_network.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

namespace replayout::test {

inline constexpr PeerId server_id{1};
inline constexpr PeerId client_id{2};
inline constexpr std::uint64_t default_seed = 0x73696d;

inline constexpr std::size_t datagram_bytes_max = 1200;

// A datagram of `size` bytes, 4 or more, that begins with `value`.
inline void send(Transport& transport, PeerId to, std::uint32_t value, std::size_t size = 4) {
    std::array<std::byte, datagram_bytes_max> bytes{};
    for (std::size_t index = 0; index < 4; ++index) {
        bytes[index] = static_cast<std::byte>(value >> (8 * index) & 0xff);
    }
    transport.send(to, std::span(bytes).first(size));
}

struct Received {
    std::int64_t at_us = 0;
    std::uint32_t value = 0;
    PeerId from;
    std::size_t size = 0;
};

// A client that sends numbered datagrams to a server, and what the server got of them.
class Link {
  public:
    explicit Link(const LinkSettings& settings, std::uint64_t seed = default_seed)
        : network_({settings, datagram_bytes_max, 1U << 20}, seed, std::pmr::new_delete_resource()),
          server_(network_.endpoint(server_id)),
          client_(network_.endpoint(client_id)) {}

    void run(std::uint32_t count, std::int64_t interval_us = 1000, std::size_t size = 4) {
        for (std::uint32_t index = 0; index < count; ++index) {
            send(client_, server_id, next_value_++, size);
            advance_by(interval_us);
        }
    }

    void drain() {
        while (network_.stats().packets_in_flight > 0) {
            advance_by(1000);
        }
    }

    void advance_by(std::int64_t microseconds) {
        network_.advance({network_.now().microseconds + microseconds});
        std::array<std::byte, datagram_bytes_max> buffer{};
        Received datagram;
        for (;;) {
            datagram.size = server_.receive(datagram.from, buffer);
            if (datagram.size == Transport::nothing_received) {
                return;
            }
            datagram.at_us = network_.now().microseconds;
            datagram.value = 0;
            for (std::size_t index = 0; index < 4; ++index) {
                datagram.value |= std::to_integer<std::uint32_t>(buffer[index]) << (8 * index);
            }
            received.push_back(datagram);
        }
    }

    SimulatedNetwork& network() { return network_; }
    const SimulatedNetworkStats& stats() const { return network_.stats(); }

    // For each value sent, whether it arrived.
    std::vector<bool> arrived() const {
        std::vector<bool> result(next_value_);
        for (const Received& datagram : received) {
            result[datagram.value] = true;
        }
        return result;
    }

    std::vector<Received> received;

  private:
    SimulatedNetwork network_;
    Transport& server_;
    Transport& client_;
    std::uint32_t next_value_ = 0;
};

inline bool is_in_order(const std::vector<Received>& received) {
    return std::is_sorted(received.begin(), received.end(),
                          [](const Received& a, const Received& b) { return a.value < b.value; });
}

inline bool is_balanced(const SimulatedNetworkStats& stats) {
    return stats.packets_sent + stats.packets_duplicated ==
           stats.packets_delivered + stats.packets_lost + stats.packets_dropped_bandwidth +
               stats.packets_dropped_receiver + stats.packets_dropped_unreachable +
               stats.packets_dropped_sender + stats.packets_in_flight;
}

inline bool is_near(double value, double expected, double tolerance) {
    return value >= expected - tolerance && value <= expected + tolerance;
}

inline double share(std::uint64_t part, std::uint64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
}

struct LossMeasure {
    double rate;
    double mean_burst;
};

inline LossMeasure measure_loss(const std::vector<bool>& arrived) {
    std::uint64_t lost_count = 0;
    std::uint64_t burst_count = 0;
    bool in_burst = false;
    for (const bool present : arrived) {
        lost_count += present ? 0U : 1U;
        burst_count += !present && !in_burst ? 1U : 0U;
        in_burst = !present;
    }
    return {share(lost_count, arrived.size()),
            share(lost_count, std::max<std::uint64_t>(burst_count, 1))};
}

inline LinkSettings make_bad_settings() {
    LinkSettings settings;
    settings.loss = 0.1;
    settings.burst_packets = 3;
    settings.duplicate = 0.05;
    settings.reorder = 0.1;
    settings.reorder_ms = 30;
    settings.latency_ms = 40;
    settings.jitter_ms = 15;
    settings.bandwidth_bytes_per_second = 40000;
    settings.queue_bytes = 4000;
    return settings;
}

}  // namespace replayout::test
