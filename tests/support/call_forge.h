// SPDX-License-Identifier: MIT
//
// One real driver with Turrets (call_game.h), and at the other end a test that sends it whatever
// calls it likes.
//
//     ForgedCaller caller;  // a server of ours, whose client has joined and owns caller.turret
//     caller.deliver({call_bunch(1, 1, order_bytes(fire_index, 7))});
//     CHECK(caller.world.heard.size() == 1);
#pragma once

#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "support/byte_dump.h"
#include "support/call_game.h"
#include "support/catch.h"
#include "support/counting_resource.h"
#include "support/packet_forge.h"

namespace replayout::test {

// Places among the functions of a Turret, those of its base first.
inline constexpr std::uint64_t fire_index = 1;
inline constexpr std::uint64_t reset_index = 3;
inline constexpr std::uint64_t tell_index = 4;
inline constexpr std::uint64_t function_count = 14;

/// A line between a driver and the test, which is the other end of it.
class CallForge {
  public:
    CallForge(PeerId self, PeerId other, const NetConfig& config)
        : network_({2'048, 1u << 12}, std::pmr::get_default_resource()),
          world(500),
          driver(settings(config, &memory), network_.endpoint(self), world),
          line_(network_.endpoint(other)),
          self_(self) {
        REQUIRE(driver.add_layout(turret_layout()));
    }

    void tick() {
        now_ = now_.plus_milliseconds(1);
        driver.tick_dispatch(now_);
        driver.tick_flush(now_);
    }
    void deliver(const std::vector<Bunch>& bunches, const Bytes& blocks = {}) {
        line_.send(self_, forge.make(bunches, blocks));
        tick();
    }
    /// The same with a payload that need not be one.
    void deliver_raw(bool has_bunches, std::span<const std::byte> payload) {
        line_.send(self_, forge.make_raw(has_bunches, payload));
        tick();
    }
    [[nodiscard]] std::vector<Bytes> take_sent() {
        std::vector<Bytes> datagrams;
        std::array<std::byte, 2'048> buffer;
        PeerId peer;
        for (std::size_t size = line_.receive(peer, buffer); size != Transport::nothing_received;
             size = line_.receive(peer, buffer)) {
            datagrams.push_back(to_bytes(std::span(buffer).first(size)));
        }
        return datagrams;
    }
    /// All that the driver sent so far has arrived.
    void acknowledge() {
        for (const Bytes& datagram : take_sent()) {
            const auto packet = parse_packet(datagram);
            REQUIRE(packet);
            std::uint32_t& word = forge.header().ack_words[0];
            if (forge.header().ack != 0) {  // bit 0 is of the packet before
                REQUIRE(packet->header.sequence == forge.header().ack + 1);
                word = word << 1 | 1;
            }
            forge.header().ack = packet->header.sequence;
        }
    }
    [[nodiscard]] std::uint64_t closed_count(CloseReason reason) const {
        return driver.stats().closed[static_cast<std::size_t>(reason)];
    }

  private:
    [[nodiscard]] static NetDriverSettings settings(const NetConfig& config,
                                                    MemoryResource* memory) {
        NetDriverSettings settings;
        settings.config = config;
        settings.resource = memory;
        return settings;
    }

    LoopbackNetwork network_;

    /// Destroyed behind the driver, which has given back all by then.
    struct GivenBack {
        ~GivenBack() { CHECK(resource.blocks_in_use() == 0); }
        CountingResource resource;
    };
    GivenBack memory_;

  public:
    CountingResource& memory = memory_.resource;
    CallWorld world;
    NetDriver driver;
    PacketForge forge{0};

  private:
    Transport& line_;
    PeerId self_;
    NetTime now_ = NetTime::from_milliseconds(1'000);
};

inline constexpr PeerId server_peer{1};
inline constexpr PeerId client_peer{2};

/// A server of ours with one object, before a client of the test's making that owns it.
class ForgedCaller : public CallForge {
  public:
    explicit ForgedCaller(const NetConfig& config = {})
        : CallForge(server_peer, client_peer, config) {
        REQUIRE(driver.listen());
        turret = world.add();
        id = driver.add_object(turret_layout(), turret);
        driver.set_owner(id, client_peer);
        forge = PacketForge(9);
        deliver({control_bunch(1, hello())});
        acknowledge();
        deliver({});
        REQUIRE(driver.connection_count() == 1);
    }

    [[nodiscard]] bool is_joined() const { return driver.connection_count() == 1; }

    ObjectHandle turret;
    NetObjectId id;

  private:
    [[nodiscard]] static Bytes hello() {
        CallForge model(client_peer, server_peer, {});
        REQUIRE(model.driver.connect(server_peer, NetTime()));
        model.tick();
        const auto packet = parse_packet(model.take_sent().at(0));
        REQUIRE((packet && packet->bunches.size() == 1));
        return packet->bunches[0].payload;
    }
};

/// A client of ours that was shown one object, before a server of the test's making.
class ForgedCalled : public CallForge {
  public:
    ForgedCalled() : CallForge(client_peer, server_peer, {}) {
        REQUIRE(driver.connect(server_peer, NetTime()));
        tick();
        const auto packet = parse_packet(take_sent().at(0));
        REQUIRE(packet);
        forge = PacketForge(packet->header.session);
        forge.header().ack = 1;
        deliver({control_bunch(1, welcome_bytes()), open_bunch(1, NetGUID{1}, 0)});
        REQUIRE(world.object_count() == 1);
    }
    [[nodiscard]] bool is_joined() const { return driver.state() == ConnectionState::Joined; }
};

[[nodiscard]] inline Bytes call_bytes(std::uint64_t function,
                                      const std::function<void(BitWriter&)>& write = {}) {
    std::array<std::byte, 256> bytes{};
    BitWriter writer(bytes);
    writer.write_packed_uint(function);
    if (write) {
        write(writer);
    }
    writer.finish_byte();
    return to_bytes(writer.bytes());
}

/// The parameters {number}, and nothing else.
[[nodiscard]] inline Bytes order_bytes(std::uint64_t function, std::uint32_t number) {
    return call_bytes(function, [&](BitWriter& writer) {
        writer.write_bool(true);
        ChangeMask mask;
        mask.reset(3);
        mask.set(0);
        write_change_mask(writer, mask, EmptySet::Impossible);
        writer.write_bits(number, 32);
    });
}

[[nodiscard]] inline Bunch call_bunch(std::uint32_t channel, std::optional<std::uint16_t> sequence,
                                      Bytes payload) {
    BunchHeader header;
    header.channel = ChannelIndex{channel};
    header.is_call = true;
    header.is_unreliable = !sequence.has_value();
    header.sequence = sequence.value_or(0);
    return make_bunch(header, std::move(payload));
}

/// A part of a call, of as many bytes as parts have, or fewer.
inline constexpr std::size_t part_bytes = 1'200 - 64;
[[nodiscard]] inline Bunch part_bunch(std::uint32_t channel, std::uint16_t sequence, bool is_first,
                                      bool is_last, std::size_t bytes = part_bytes) {
    Bytes payload(bytes, std::byte{0});
    if (is_first) {
        payload.front() = std::byte{fire_index << 1};
    }
    Bunch bunch = call_bunch(channel, sequence, std::move(payload));
    bunch.header.is_partial = true;
    bunch.header.is_partial_initial = is_first;
    bunch.header.is_partial_final = is_last;
    return bunch;
}

}  // namespace replayout::test
