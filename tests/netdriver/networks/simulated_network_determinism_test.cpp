// SPDX-License-Identifier: MIT
//
// The simulated network does the same from the same seed, accounts for every datagram, and takes no
// memory once it is warm.
#include <replayout/netdriver/simulated_network.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"
#include "support/replication/simulated_link.h"

namespace replayout::test {
namespace {

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
            warm_count = memory.allocation_count();
        }
    }
    CHECK(memory.allocation_count() == warm_count);
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
                warm_count = memory.allocation_count();
            }
        }
        CHECK(memory.allocation_count() == warm_count);
    }
    CHECK(memory.blocks_in_use() == 0);
}

}  // namespace
}  // namespace replayout::test
