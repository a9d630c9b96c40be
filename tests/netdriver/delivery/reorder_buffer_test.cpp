// SPDX-License-Identifier: MIT
//
// A network that hands over what arrives in one dispatch the wrong way round.
#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <utility>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/networks/passing_transport.h"
#include "support/worlds/spawn_game.h"

namespace replayout::test {
namespace {

/// Reads all that has arrived before it hands over the first of it.
class ShufflingTransport final : public PassingTransport {
  public:
    ShufflingTransport(Transport& transport, std::uint64_t seed)
        : PassingTransport(transport), random_(seed) {}

    [[nodiscard]] std::size_t receive(PeerId& peer, std::span<std::byte> buffer) override {
        for (std::size_t size = PassingTransport::receive(peer, buffer); size != nothing_received;
             size = PassingTransport::receive(peer, buffer)) {
            arrived_.push_back({peer, to_bytes(buffer.first(size))});
        }
        if (arrived_.empty()) {
            return nothing_received;
        }
        const std::uint32_t which = random_.below(static_cast<std::uint32_t>(arrived_.size()));
        std::swap(arrived_[which], arrived_.back());
        const Datagram datagram = std::move(arrived_.back());
        arrived_.pop_back();
        peer = datagram.peer;
        std::copy(datagram.bytes.begin(), datagram.bytes.end(), buffer.begin());
        return datagram.bytes.size();
    }

  private:
    SeededRandom random_;
    std::vector<Datagram> arrived_;
};

/// Plays a world of many packets a tick; tells what was lost on its way to the client.
[[nodiscard]] std::uint64_t packets_lost(std::uint32_t reorder_packets_max, std::uint64_t seed) {
    const PropLayouts layouts;
    LoopbackNetwork network({}, std::pmr::get_default_resource());
    ShufflingTransport server_end(network.endpoint(PeerId{1}), seed);
    ShufflingTransport client_end(network.endpoint(PeerId{2}), seed + 1);
    NetDriverSettings settings;
    settings.config.reorder_packets_max = reorder_packets_max;
    PropHost server(settings, server_end, layouts, 1'000);
    PropHost client(settings, client_end, layouts, 1'000'000);
    REQUIRE(server.driver.listen());
    REQUIRE(client.driver.connect(PeerId{1}, NetTime()));
    std::vector<ObjectHandle> props;
    for (int i = 0; i < 1'500; ++i) {
        props.push_back(server.world.add(layouts.prop()));
        (void)server.driver.add_object(layouts.prop(), props.back());
    }
    NetTime now;
    const auto tick = [&] {
        now = now.plus_milliseconds(20);
        for (PropHost* host : {&server, &client}) {
            host->driver.tick_dispatch(now);
            host->driver.tick_flush(now);
        }
    };
    for (int round = 0; round < 20; ++round) {
        for (const ObjectHandle prop : props) {
            server.world.at(prop).hp = round;
        }
        tick();
    }
    for (int i = 0; i < 200 && !server.driver.is_settled(); ++i) {
        tick();
    }
    REQUIRE(server.driver.is_settled());
    std::size_t equal = 0;
    for (const auto& [handle, prop] : client.world.objects()) {
        equal += prop->hp == 19 ? 1u : 0u;
    }
    CHECK(equal == props.size());
    return server.driver.stats().packets_lost;
}

}  // namespace

TEST_CASE("Reorder buffer: what arrives the wrong way round in one dispatch is not lost",
          "[netdriver][reorder_buffer]") {
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    CHECK(packets_lost(0, seed) > 50);
    CHECK(packets_lost(64, seed) == 0);
}

TEST_CASE("Reorder buffer: one that is too small loses some, and nothing else goes wrong",
          "[netdriver][reorder_buffer]") {
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    const std::uint64_t lost = packets_lost(2, seed);
    CHECK(lost > 0);
    CHECK(lost < packets_lost(0, seed));
}

}  // namespace replayout::test
