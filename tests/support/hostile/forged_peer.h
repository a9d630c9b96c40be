// SPDX-License-Identifier: MIT
//
// One real driver, and at the other end a test that sends it whatever it likes, in the name of the
// peer that it talks to.
//
//     ForgedServer server;                       // a client of ours is connecting
//     server.welcome();                          // ... and has joined
//     server.deliver(server.forge().make({open_bunch(1, NetGUID{7}, TestSchema::pawn_number)}));
//     CHECK(server.world().object_count() == 1);
#pragma once

#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <vector>

#include "support/checks/counting_resource.h"
#include "support/hostile/packet_forge.h"
#include "support/worlds/test_world.h"

namespace replayout::test {

/// What both have in common: a driver, its world, and the other end of its line.
class ForgedPeer {
  public:
    static constexpr PeerId server_peer{1};
    static constexpr PeerId client_peer{2};

    ForgedPeer(const NetConfig& config, PeerId self, PeerId other,
               LayoutPolicy policy = LayoutPolicy::Refuse);

    [[nodiscard]] NetDriver& driver() noexcept { return driver_; }
    [[nodiscard]] TestWorld& world() noexcept { return world_; }
    [[nodiscard]] CountingResource& memory() noexcept { return memory_; }
    [[nodiscard]] PacketForge& forge() noexcept { return forge_; }
    [[nodiscard]] NetTime now() const noexcept { return now_; }

    /// The datagram is there when the driver looks next.
    void send(std::span<const std::byte> datagram) { line_.send(self_, datagram); }
    /// The same in the name of another peer.
    void send_as(PeerId peer, std::span<const std::byte> datagram) {
        network_.endpoint(peer).send(self_, datagram);
    }
    /// A millisecond passes; the driver takes what was sent, and sends.
    void tick(std::int64_t milliseconds = 1);
    void deliver(std::span<const std::byte> datagram) {
        send(datagram);
        tick();
    }

    /// What the driver has sent since the last call.
    [[nodiscard]] std::vector<Bytes> take_sent();

  protected:
    CountingResource memory_;
    LoopbackNetwork network_;
    TestWorld world_;
    NetDriver driver_;
    Transport& line_;  // the other end
    PeerId self_;
    PacketForge forge_{0};
    NetTime now_;
};

/// A client of ours before a server of the test's making.
class ForgedServer : public ForgedPeer {
  public:
    explicit ForgedServer(const NetConfig& config = {}, LayoutPolicy policy = LayoutPolicy::Refuse);

    /// The client has joined.
    void welcome();
    /// The client has joined, and a pawn on channel 1.
    void welcome_with_pawn() {
        welcome();
        open(1, TestSchema::pawn_number);
    }
    /// One packet with these bunches and blocks.
    void deliver_packet(const std::vector<Bunch>& bunches, const Bytes& blocks = {}) {
        deliver(forge().make(bunches, blocks));
    }
    /// The client has the object on this channel; its id is the channel.
    void open(std::uint32_t channel, std::uint32_t layout_number);

    /// The client's object on the channel that open() opened, or null.
    [[nodiscard]] ObjectHandle object_on(std::uint32_t channel) const {
        return driver_.guids().find_object(NetGUID{channel});
    }
    [[nodiscard]] bool is_joined() const { return driver_.state() == ConnectionState::Joined; }
};

/// A server of ours before a client of the test's making.
class ForgedClient : public ForgedPeer {
  public:
    explicit ForgedClient(const NetConfig& config = {});

    /// The hello of a client with the same layouts.
    [[nodiscard]] const Bytes& hello() const noexcept { return hello_; }
    /// The first packet of a session.
    [[nodiscard]] Bytes hello_packet(std::uint16_t session) const;
    /// The forge's session begins: the server has a connection.
    void join(std::uint16_t session);

    [[nodiscard]] bool is_joined() const {
        return driver_.connection_state(client_peer) == ConnectionState::Joined;
    }
    [[nodiscard]] std::uint64_t closed_count(CloseReason reason) const {
        return driver_.stats().closed[static_cast<std::size_t>(reason)];
    }

  private:
    Bytes hello_;
};

}  // namespace replayout::test
