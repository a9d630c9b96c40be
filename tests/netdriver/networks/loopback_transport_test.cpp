// SPDX-License-Identifier: MIT
#include <replayout/netdriver/loopback_transport.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"

namespace replayout {
namespace {

constexpr PeerId server_id{1};
constexpr PeerId client_id{2};

void send(Transport& transport, PeerId to, unsigned value) {
    const std::array<std::byte, 2> bytes{static_cast<std::byte>(value & 0xff),
                                         static_cast<std::byte>(value >> 8 & 0xff)};
    transport.send(to, bytes);
}

// The value of the next datagram, or -1.
int receive(Transport& transport, PeerId& from) {
    std::array<std::byte, 8> buffer{};
    const std::size_t size = transport.receive(from, buffer);
    if (size == Transport::nothing_received) {
        return -1;
    }
    REQUIRE(size == 2);
    return std::to_integer<int>(buffer[0]) | std::to_integer<int>(buffer[1]) << 8;
}

TEST_CASE("LoopbackNetwork: what is sent arrives at once, in order, with its sender",
          "[netdriver][loopback_transport]") {
    CountingResource memory;
    LoopbackNetwork network({}, &memory);
    Transport& server = network.endpoint(server_id);
    Transport& client = network.endpoint(client_id);
    Transport& other = network.endpoint(PeerId{3});
    PeerId from;
    CHECK(receive(server, from) == -1);
    send(client, server_id, 10);
    send(other, server_id, 20);
    send(client, server_id, 30);
    send(server, client_id, 40);
    CHECK(receive(server, from) == 10);
    CHECK(from == client_id);
    CHECK(receive(server, from) == 20);
    CHECK(from == PeerId{3});
    CHECK(receive(server, from) == 30);
    CHECK(receive(server, from) == -1);
    CHECK(receive(client, from) == 40);
    CHECK(from == server_id);
    CHECK(receive(other, from) == -1);
    CHECK(network.stats().datagrams_sent == 4);
    CHECK(network.stats().datagrams_received == 4);
}

TEST_CASE("LoopbackNetwork: an endpoint is one and the same for its peer",
          "[netdriver][loopback_transport]") {
    CountingResource memory;
    LoopbackNetwork network({}, &memory);
    Transport* const server = &network.endpoint(server_id);
    for (std::uint64_t peer = 2; peer < 100; ++peer) {
        REQUIRE(&network.endpoint(PeerId{peer}) != server);
    }
    CHECK(&network.endpoint(server_id) == server);
    CHECK(server->datagram_bytes_max() == 1200);
}

TEST_CASE("LoopbackNetwork: a full queue drops what comes, and counts it",
          "[netdriver][loopback_transport]") {
    CountingResource memory;
    LoopbackSettings settings;
    settings.queue_datagrams_max = 3;
    LoopbackNetwork network(settings, &memory);
    Transport& server = network.endpoint(server_id);
    Transport& client = network.endpoint(client_id);
    for (unsigned value = 0; value < 5; ++value) {
        send(client, server_id, value);
    }
    CHECK(network.stats().datagrams_dropped_full == 2);
    PeerId from;
    CHECK(receive(server, from) == 0);
    send(client, server_id, 7);
    CHECK(receive(server, from) == 1);
    CHECK(receive(server, from) == 2);
    CHECK(receive(server, from) == 7);
    CHECK(receive(server, from) == -1);
}

TEST_CASE("LoopbackNetwork: a datagram to nobody is dropped, and counted",
          "[netdriver][loopback_transport]") {
    CountingResource memory;
    LoopbackNetwork network({}, &memory);
    send(network.endpoint(client_id), server_id, 1);
    CHECK(network.stats().datagrams_dropped_unreachable == 1);
    PeerId from;
    CHECK(receive(network.endpoint(server_id), from) == -1);
}

TEST_CASE("LoopbackNetwork: a steady exchange allocates nothing, and the end gives all back",
          "[netdriver][loopback_transport]") {
    CountingResource memory;
    {
        LoopbackNetwork network({}, &memory);
        Transport& server = network.endpoint(server_id);
        Transport& client = network.endpoint(client_id);
        std::size_t warm_count = 0;
        for (unsigned tick = 0; tick < 100; ++tick) {
            for (unsigned count = 0; count < 20; ++count) {
                send(client, server_id, count);
                send(server, client_id, count);
            }
            PeerId from;
            while (receive(server, from) >= 0 || receive(client, from) >= 0) {
            }
            if (tick == 0) {
                warm_count = memory.allocation_count();
            }
        }
        CHECK(memory.allocation_count() == warm_count);
        send(client, server_id, 1);
    }
    CHECK(memory.blocks_in_use() == 0);
}

}  // namespace
}  // namespace replayout
