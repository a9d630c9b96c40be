// SPDX-License-Identifier: MIT
//
// A client of ours with layouts and a world of the test's own, and at the other end a server of the
// test's making, which it has joined. Where the world of test_world.h will do, ForgedServer
// (forged_peer.h) brings it along.
//
//     JoinedClient client(world, {&*layout}, config);
//     client.deliver({open_bunch(1, NetGUID{1}, 0)});
//     CHECK(client.is_joined());
#pragma once

#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>

#include <memory_resource>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"
#include "support/hostile/packet_forge.h"

namespace replayout::test {

class JoinedClient {
  public:
    /// All of them outlive it.
    JoinedClient(NetWorld& world, const std::vector<const RepLayout*>& layouts,
                 const NetConfig& config = {})
        : network_(LoopbackSettings{2'048, 1u << 17}, std::pmr::get_default_resource()),
          line_(network_.endpoint(server_peer)),
          driver(settings(config), network_.endpoint(client_peer), world) {
        for (const RepLayout* layout : layouts) {
            REQUIRE(driver.add_layout(*layout));
        }
        REQUIRE(driver.connect(server_peer, now_));
        driver.tick_flush(now_);
        const auto hello = parse_packet(take_datagram());
        REQUIRE(hello);
        forge_ = PacketForge(hello->header.session);
        forge_.header().ack = 1;  // the hello arrived; what comes later carries nothing
        deliver({control_bunch(1, welcome_bytes())});
        REQUIRE(is_joined());
    }

    /// One packet with these bunches and blocks: the driver takes it, and sends what nobody reads.
    void deliver(const std::vector<Bunch>& bunches, const Bytes& blocks = {}) {
        line_.send(client_peer, forge_.make(bunches, blocks));
        tick();
    }
    /// Without a packet.
    void tick() {
        now_ = now_.plus_milliseconds(1);
        driver.tick_dispatch(now_);
        driver.tick_flush(now_);
        while (!take_datagram().empty()) {
        }
    }
    [[nodiscard]] bool is_joined() const { return driver.state() == ConnectionState::Joined; }

  private:
    static constexpr PeerId server_peer{1};
    static constexpr PeerId client_peer{2};

    [[nodiscard]] static NetDriverSettings settings(const NetConfig& config) {
        NetDriverSettings settings;
        settings.may_leave_out_texts = true;
        settings.config = config;
        return settings;
    }
    /// Empty: there is none.
    [[nodiscard]] Bytes take_datagram() {
        Bytes memory(2'048);
        PeerId peer;
        const std::size_t size = line_.receive(peer, memory);
        memory.resize(size == Transport::nothing_received ? 0 : size);
        return memory;
    }

    LoopbackNetwork network_;
    Transport& line_;  // the server's end
    NetTime now_ = NetTime::from_milliseconds(1'000);
    PacketForge forge_{0};

  public:
    NetDriver driver;
};

}  // namespace replayout::test
