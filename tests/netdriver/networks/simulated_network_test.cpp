// SPDX-License-Identifier: MIT
#include <replayout/netdriver/simulated_network.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "support/checks/catch.h"
#include "support/replication/simulated_link.h"

namespace replayout::test {
namespace {

// A perfect network.

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

// Faults, one at a time, against their settings.

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

// Changes while it runs.

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

}  // namespace
}  // namespace replayout::test
