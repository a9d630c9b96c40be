// SPDX-License-Identifier: MIT
#include <replayout/netdriver/simulated_network.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "support/catch.h"

namespace replayout {
namespace {

constexpr PeerId server_id{1};
constexpr PeerId client_id{2};
constexpr std::uint64_t default_seed = 0x73696d;

// Counts what goes through to the heap, and what is not given back.
class CountingResource final : public std::pmr::memory_resource {
  public:
    std::size_t allocation_count = 0;
    std::size_t live_count = 0;

  private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        allocation_count += 1;
        live_count += 1;
        return std::pmr::new_delete_resource()->allocate(bytes, alignment);
    }
    void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
        live_count -= 1;
        std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
    }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
        return this == &other;
    }
};

constexpr std::size_t datagram_bytes_max = 1200;

// A datagram of `size` bytes, 4 or more, that begins with `value`.
void send(Transport& transport, PeerId to, std::uint32_t value, std::size_t size = 4) {
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

bool is_in_order(const std::vector<Received>& received) {
    return std::is_sorted(received.begin(), received.end(),
                          [](const Received& a, const Received& b) { return a.value < b.value; });
}

bool is_balanced(const SimulatedNetworkStats& stats) {
    return stats.packets_sent + stats.packets_duplicated ==
           stats.packets_delivered + stats.packets_lost + stats.packets_dropped_bandwidth +
               stats.packets_dropped_receiver + stats.packets_dropped_unreachable +
               stats.packets_dropped_sender + stats.packets_in_flight;
}

bool is_near(double value, double expected, double tolerance) {
    return value >= expected - tolerance && value <= expected + tolerance;
}

double share(std::uint64_t part, std::uint64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
}

struct LossMeasure {
    double rate;
    double mean_burst;
};

LossMeasure measure_loss(const std::vector<bool>& arrived) {
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

LinkSettings make_bad_settings() {
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

// --- A perfect network.

TEST_CASE("SimulatedNetwork: without settings everything arrives in order, at the next advance",
          "[netdriver][simulated_network]") {
    Link link({});
    link.run(1000);
    REQUIRE(link.received.size() == 1000);
    CHECK(is_in_order(link.received));
    CHECK(link.received.front().from == client_id);
    CHECK(link.received.front().size == 4);
    CHECK(link.received.front().at_us == 1000);
    CHECK(link.stats().packets_delivered == 1000);
    CHECK(link.stats().bytes_delivered == 4000);
    CHECK(link.stats().bytes_sent == 4000);
}

TEST_CASE("SimulatedNetwork: latency is exact to the microsecond",
          "[netdriver][simulated_network]") {
    LinkSettings settings;
    settings.latency_ms = 20.5;
    Link link(settings);
    link.run(1, 0);
    link.advance_by(20499);
    CHECK(link.received.empty());
    link.advance_by(1);
    CHECK(link.received.size() == 1);
}

// --- Faults, one at a time, against their settings.

TEST_CASE("SimulatedNetwork: independent losses have the rate that was set",
          "[netdriver][simulated_network]") {
    for (const double loss : {0.01, 0.1, 0.3, 0.9}) {
        CAPTURE(loss);
        LinkSettings settings;
        settings.loss = loss;
        Link link(settings);
        link.run(50000);
        const LossMeasure measure = measure_loss(link.arrived());
        CHECK(is_near(measure.rate, loss, 0.005));
        const double mean_burst = 1.0 / (1.0 - loss);
        CHECK(is_near(measure.mean_burst, mean_burst, mean_burst * 0.05));
        CHECK(link.stats().packets_lost + link.received.size() == 50000);
    }
}

TEST_CASE("SimulatedNetwork: burst losses have the rate and the length that were set",
          "[netdriver][simulated_network]") {
    const LossMeasure wanted[] = {{0.02, 2}, {0.1, 8}, {0.3, 30}, {0.5, 1.5}};
    for (const auto& [loss, burst_packets] : wanted) {
        INFO("loss " << loss << ", burst packets " << burst_packets);
        LinkSettings settings;
        settings.loss = loss;
        settings.burst_packets = burst_packets;
        Link link(settings);
        link.run(100000);
        const LossMeasure measure = measure_loss(link.arrived());
        CHECK(is_near(measure.rate, loss, loss * 0.1));
        CHECK(is_near(measure.mean_burst, burst_packets, burst_packets * 0.1));
    }
}

TEST_CASE("SimulatedNetwork: a rate beyond the burst length holds, with longer bursts",
          "[netdriver][simulated_network]") {
    LinkSettings settings;
    settings.loss = 0.9;
    settings.burst_packets = 2;
    Link link(settings);
    link.run(50000);
    const LossMeasure measure = measure_loss(link.arrived());
    CHECK(is_near(measure.rate, 0.9, 0.01));
    CHECK(is_near(measure.mean_burst, 9, 0.5));
}

TEST_CASE("SimulatedNetwork: probabilities of 0 and 1 are certain",
          "[netdriver][simulated_network]") {
    LinkSettings settings;
    settings.loss = 1;
    settings.burst_packets = 5;
    Link lossy(settings);
    lossy.run(5000);
    CHECK(lossy.received.empty());

    settings = {};
    settings.duplicate = 1;
    Link doubled(settings);
    doubled.run(5000);
    CHECK(doubled.received.size() == 10000);
    CHECK(is_in_order(doubled.received));
}

TEST_CASE("SimulatedNetwork: duplicates have the rate that was set, and keep the order",
          "[netdriver][simulated_network]") {
    LinkSettings settings;
    settings.duplicate = 0.2;
    settings.latency_ms = 30;
    settings.jitter_ms = 20;
    Link link(settings);
    link.run(50000);
    link.drain();
    CHECK(is_near(share(link.received.size(), 50000), 1.2, 0.01));
    CHECK(link.stats().packets_duplicated == link.received.size() - 50000);
    CHECK(link.stats().packets_reordered == 0);
    CHECK(is_in_order(link.received));
}

TEST_CASE("SimulatedNetwork: jitter spreads the delay and keeps the order",
          "[netdriver][simulated_network]") {
    LinkSettings settings;
    settings.latency_ms = 50;
    settings.jitter_ms = 20;
    for (const std::int64_t interval_us : {100, 100000}) {
        CAPTURE(interval_us);
        Link link(settings);
        // Read the clock finely, as delays are measured by it.
        std::int64_t least_us = 1000000;
        std::int64_t most_us = 0;
        std::int64_t sum_us = 0;
        constexpr std::int64_t count = 500;
        for (std::int64_t index = 0; index < count; ++index) {
            link.run(1, 0);
            for (std::int64_t passed_us = 0; passed_us < interval_us; passed_us += 100) {
                link.advance_by(100);
            }
        }
        link.drain();
        REQUIRE(link.received.size() == count);
        CHECK(is_in_order(link.received));
        for (const Received& datagram : link.received) {
            const std::int64_t delay_us =
                datagram.at_us - static_cast<std::int64_t>(datagram.value) * interval_us;
            least_us = std::min(least_us, delay_us);
            most_us = std::max(most_us, delay_us);
            sum_us += delay_us;
        }
        CHECK(least_us >= 30000);
        CHECK(most_us <= 71000);
        if (interval_us == 100000) {
            CHECK(least_us < 32000);
            CHECK(most_us > 68000);
            CHECK(is_near(static_cast<double>(sum_us) / count, 50050, 1500));
        }
    }
}

TEST_CASE("SimulatedNetwork: only reorder changes the order, at the rate that was set",
          "[netdriver][simulated_network]") {
    LinkSettings settings;
    settings.latency_ms = 20;
    settings.reorder = 0.05;
    settings.reorder_ms = 50;
    Link link(settings);
    link.run(20000, 1000);
    link.drain();
    REQUIRE(link.received.size() == 20000);
    CHECK_FALSE(is_in_order(link.received));
    std::uint64_t overtaken_count = 0;
    std::uint32_t highest = 0;
    for (const Received& datagram : link.received) {
        overtaken_count += datagram.value < highest ? 1U : 0U;
        highest = std::max(highest, datagram.value);
    }
    CHECK(overtaken_count == link.stats().packets_reordered);
    // One in fifty is held back for less than the millisecond until the next.
    CHECK(is_near(share(overtaken_count, 20000), 0.05 * 0.98, 0.005));
}

TEST_CASE("SimulatedNetwork: the bandwidth is used and not exceeded",
          "[netdriver][simulated_network]") {
    // The second takes 10 000.3 us for a datagram: what is lost to rounding must not add up.
    for (const std::uint64_t bytes_per_second : {100000U, 99997U}) {
        LinkSettings settings;
        settings.bandwidth_bytes_per_second = bytes_per_second;
        settings.queue_bytes = 20000;
        settings.latency_ms = 10;
        Link link(settings);
        // 1000 bytes every 5 ms are twice of what fits.
        link.run(2000, 5000, 1000);
        link.advance_by(1);
        std::uint64_t millionths_of_bytes = 0;
        for (const Received& datagram : link.received) {
            millionths_of_bytes += datagram.size * 1000000;
            const auto sending_us = static_cast<std::uint64_t>(datagram.at_us - 10000);
            REQUIRE(millionths_of_bytes <= sending_us * bytes_per_second);
        }
        const auto end_us = static_cast<std::uint64_t>(link.network().now().microseconds);
        CHECK(millionths_of_bytes >= end_us * bytes_per_second / 100 * 99);
        CHECK(is_in_order(link.received));
        CHECK(is_near(share(link.stats().packets_dropped_bandwidth, 2000), 0.5, 0.02));
        CHECK(is_balanced(link.stats()));
        // A full queue of 20 000 bytes takes 200 ms to pass.
        const Received& last = link.received.back();
        CHECK(last.at_us - static_cast<std::int64_t>(last.value) * 5000 <= 215000);
        CHECK(last.at_us - static_cast<std::int64_t>(last.value) * 5000 >= 190000);
    }
}

TEST_CASE("SimulatedNetwork: the bottleneck takes the time of its bytes, rounded up",
          "[netdriver][simulated_network]") {
    LinkSettings settings;
    settings.bandwidth_bytes_per_second = 3;
    Link link(settings);
    link.run(1, 0, 10);
    link.advance_by(3333333);
    CHECK(link.received.empty());
    link.advance_by(1);
    CHECK(link.received.size() == 1);
}

TEST_CASE("SimulatedNetwork: below the bandwidth a datagram waits for its own bytes only",
          "[netdriver][simulated_network]") {
    LinkSettings settings;
    settings.bandwidth_bytes_per_second = 100000;
    settings.queue_bytes = 100;  // An idle link takes a larger one too.
    Link link(settings);
    for (int count = 0; count < 50; ++count) {
        link.run(1, 0, 1000);
        link.advance_by(9999);
        REQUIRE(link.received.size() == static_cast<std::size_t>(count));
        link.advance_by(1);
        REQUIRE(link.received.size() == static_cast<std::size_t>(count) + 1);
    }
    CHECK(link.stats().packets_dropped_bandwidth == 0);
}

TEST_CASE("SimulatedNetwork: a full receive queue drops, and counts",
          "[netdriver][simulated_network]") {
    SimulatedNetworkSettings settings;
    settings.receive_queue_datagrams_max = 5;
    SimulatedNetwork network(settings, default_seed, std::pmr::new_delete_resource());
    Transport& client = network.endpoint(client_id);
    Transport& server = network.endpoint(server_id);
    for (std::uint32_t value = 0; value < 8; ++value) {
        send(client, server_id, value);
    }
    network.advance({0});
    CHECK(network.stats().packets_delivered == 5);
    CHECK(network.stats().packets_dropped_receiver == 3);
    std::array<std::byte, 2> buffer{};
    PeerId from;
    CHECK(server.receive(from, buffer) == 2);
}

// --- Changes while it runs.

TEST_CASE("SimulatedNetwork: once healed everything arrives, behind what was on the way",
          "[netdriver][simulated_network]") {
    LinkSettings settings = make_bad_settings();
    settings.duplicate = 0;
    settings.reorder = 0;
    Link link(settings);
    link.run(500, 20000, 600);
    const std::uint64_t in_flight = link.stats().packets_in_flight;
    REQUIRE(in_flight > 0);
    link.network().heal();
    const std::size_t received_before = link.received.size();
    link.run(100, 0);
    link.drain();
    CHECK(link.received.size() == received_before + in_flight + 100);
    CHECK(is_in_order(link.received));
    const std::size_t received_then = link.received.size();
    link.run(100, 1);
    CHECK(link.received.size() == received_then + 100);
}

TEST_CASE("SimulatedNetwork: settings of one direction leave the other alone",
          "[netdriver][simulated_network]") {
    SimulatedNetwork network({}, default_seed, std::pmr::new_delete_resource());
    Transport& client = network.endpoint(client_id);
    Transport& server = network.endpoint(server_id);
    LinkSettings settings;
    settings.loss = 1;
    network.set_settings(client_id, server_id, settings);
    for (std::uint32_t value = 0; value < 10; ++value) {
        send(client, server_id, value);
        send(server, client_id, value);
    }
    network.advance({1});
    CHECK(network.stats().packets_lost == 10);
    CHECK(network.stats().packets_delivered == 10);
    network.heal();
    send(client, server_id, 1);
    network.advance({2});
    CHECK(network.stats().packets_delivered == 11);
}

TEST_CASE("SimulatedNetwork: a disconnected endpoint is silent and unreachable until it is back",
          "[netdriver][simulated_network]") {
    SimulatedNetworkSettings settings;
    settings.link.latency_ms = 10;
    SimulatedNetwork network(settings, default_seed, std::pmr::new_delete_resource());
    Transport& client = network.endpoint(client_id);
    Transport& server = network.endpoint(server_id);
    std::array<std::byte, 8> buffer{};
    PeerId from;

    send(server, client_id, 1);
    network.advance(NetTime::from_milliseconds(10));  // waits at the client
    send(server, client_id, 2);                       // on the way
    send(client, server_id, 3);                       // on the way
    network.disconnect(client_id);
    send(client, server_id, 4);
    network.advance(NetTime::from_milliseconds(20));
    CHECK(client.receive(from, buffer) == Transport::nothing_received);
    CHECK(server.receive(from, buffer) == 4);
    CHECK(server.receive(from, buffer) == Transport::nothing_received);
    CHECK(network.stats().packets_dropped_unreachable == 1);
    CHECK(network.stats().packets_dropped_sender == 1);

    send(server, client_id, 5);
    REQUIRE(&network.endpoint(client_id) == &client);
    network.advance(NetTime::from_milliseconds(30));
    CHECK(client.receive(from, buffer) == 4);
    CHECK(buffer[0] == std::byte{5});
    CHECK(is_balanced(network.stats()));
}

TEST_CASE("SimulatedNetwork: a datagram to nobody is dropped, and counted",
          "[netdriver][simulated_network]") {
    SimulatedNetwork network({}, default_seed, std::pmr::new_delete_resource());
    send(network.endpoint(client_id), server_id, 1);
    network.disconnect(server_id);
    network.advance({1});
    CHECK(network.stats().packets_dropped_unreachable == 1);
}

// --- Determinism.

class Digest {
  public:
    void add(std::uint64_t value) {
        for (int shift = 0; shift < 64; shift += 8) {
            hash_ = (hash_ ^ (value >> shift & 0xff)) * 0x100000001b3;  // FNV-1a
        }
    }

    std::uint64_t value() const { return hash_; }

  private:
    std::uint64_t hash_ = 0xcbf29ce484222325;
};

// A server and some clients that talk for a while. The digest covers every datagram that `observed`
// receives: when, from whom, and its bytes.
std::uint64_t digest_of_run(std::uint64_t seed, std::uint64_t client_count, PeerId observed) {
    SimulatedNetworkSettings settings;
    settings.link = make_bad_settings();
    SimulatedNetwork network(settings, seed, std::pmr::new_delete_resource());
    Digest digest;
    std::array<std::byte, datagram_bytes_max> buffer{};
    for (std::uint32_t tick = 0; tick < 600; ++tick) {
        network.advance(NetTime::from_milliseconds(std::int64_t{tick} * 16));
        for (std::uint64_t peer = 1; peer <= 1 + client_count; ++peer) {
            Transport& transport = network.endpoint(PeerId{peer});
            PeerId from;
            std::size_t size = transport.receive(from, buffer);
            for (; size != Transport::nothing_received; size = transport.receive(from, buffer)) {
                if (PeerId{peer} != observed) {
                    continue;
                }
                digest.add(tick);
                digest.add(from.value);
                for (const std::byte byte : std::span(buffer).first(size)) {
                    digest.add(std::to_integer<std::uint64_t>(byte));
                }
            }
            if (peer != server_id.value) {
                send(transport, server_id, tick, 50);
                send(network.endpoint(server_id), PeerId{peer}, tick, 100 + tick % 7 * 100);
            }
        }
        if (tick == 500) {
            network.heal();
        }
    }
    REQUIRE(is_balanced(network.stats()));
    return digest.value();
}

TEST_CASE("SimulatedNetwork: a seed gives the same deliveries on every compiler",
          "[netdriver][simulated_network]") {
    CHECK(digest_of_run(1, 3, server_id) == 0xe03b98ca2a435c40);
    CHECK(digest_of_run(1, 3, client_id) == 0xe39884dda38437c9);
    CHECK(digest_of_run(2, 3, client_id) == 0x966f50315bf092cd);
}

TEST_CASE("SimulatedNetwork: a further client changes nothing for the others",
          "[netdriver][simulated_network]") {
    const std::uint64_t alone = digest_of_run(5, 1, client_id);
    CHECK(digest_of_run(5, 2, client_id) == alone);
    CHECK(digest_of_run(5, 9, client_id) == alone);
    CHECK(digest_of_run(6, 1, client_id) != alone);
}

TEST_CASE("SimulatedNetwork: the losses of a link do not depend on its other settings",
          "[netdriver][simulated_network]") {
    for (const double burst_packets : {0.0, 4.0}) {
        LinkSettings settings;
        settings.loss = 0.2;
        settings.burst_packets = burst_packets;
        Link plain(settings);
        plain.run(5000);
        settings.latency_ms = 80;
        settings.jitter_ms = 40;
        settings.duplicate = 0.3;
        settings.reorder = 0.3;
        Link busy(settings);
        busy.run(5000, 317);
        busy.drain();
        CHECK(plain.arrived() == busy.arrived());
    }
}

TEST_CASE("SimulatedNetwork: directions and seeds have losses of their own",
          "[netdriver][simulated_network]") {
    LinkSettings settings;
    settings.loss = 0.5;
    Link first(settings, 1);
    Link second(settings, 2);
    first.run(1000);
    second.run(1000);
    CHECK(first.arrived() != second.arrived());
}

TEST_CASE("SimulatedNetwork: every datagram is accounted for, at any time",
          "[netdriver][simulated_network]") {
    Link link(make_bad_settings());
    for (std::int64_t count = 0; count < 2000; ++count) {
        link.run(1, count % 3 * 5000, 500);
        REQUIRE(is_balanced(link.stats()));
    }
    link.drain();
    CHECK(link.stats().packets_in_flight == 0);
    CHECK(link.stats().packets_delivered == link.received.size());
    CHECK(link.stats().packets_lost > 0);
    CHECK(link.stats().packets_dropped_bandwidth > 0);
    CHECK(link.stats().packets_duplicated > 0);
    CHECK(link.stats().packets_reordered > 0);
    CHECK(is_balanced(link.stats()));
}

TEST_CASE("SimulatedNetwork: what is dropped on arrival leaves its memory to others",
          "[netdriver][simulated_network]") {
    CountingResource memory;
    SimulatedNetworkSettings settings;
    settings.receive_queue_datagrams_max = 4;
    SimulatedNetwork network(settings, default_seed, &memory);
    Transport& client = network.endpoint(client_id);
    Transport& server = network.endpoint(server_id);
    std::size_t warm_count = 0;
    for (std::int64_t tick = 0; tick < 100; ++tick) {
        for (std::uint32_t count = 0; count < 10; ++count) {
            send(client, server_id, count);
            send(server, PeerId{99}, count);
        }
        network.advance({tick});
        if (tick == 10) {
            warm_count = memory.allocation_count;
        }
    }
    CHECK(memory.allocation_count == warm_count);
    CHECK(network.stats().packets_dropped_receiver == 996);
    CHECK(network.stats().packets_dropped_unreachable == 1000);
}

TEST_CASE("SimulatedNetwork: a steady exchange allocates nothing, and the end gives all back",
          "[netdriver][simulated_network]") {
    CountingResource memory;
    {
        SimulatedNetworkSettings settings;
        settings.link = make_bad_settings();
        settings.link.bandwidth_bytes_per_second = 0;
        SimulatedNetwork network(settings, default_seed, &memory);
        Transport& client = network.endpoint(client_id);
        Transport& server = network.endpoint(server_id);
        std::array<std::byte, datagram_bytes_max> buffer{};
        PeerId from;
        std::size_t warm_count = 0;
        for (std::int64_t tick = 0; tick < 3000; ++tick) {
            network.advance(NetTime::from_milliseconds(tick * 16));
            while (client.receive(from, buffer) != Transport::nothing_received ||
                   server.receive(from, buffer) != Transport::nothing_received) {
            }
            for (std::uint32_t count = 0; count < 10; ++count) {
                send(client, server_id, count);
                send(server, client_id, count);
            }
            if (tick == 1000) {
                warm_count = memory.allocation_count;
            }
        }
        CHECK(memory.allocation_count == warm_count);
    }
    CHECK(memory.live_count == 0);
}

}  // namespace
}  // namespace replayout
